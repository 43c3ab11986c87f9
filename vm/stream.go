package vm

import (
	"fmt"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A stream is one goroutine's way through the code.
type stream struct {
	*run
	name  string
	at    *step // the step under way
	top   int   // the task of the program under way, whatever bodies do
	round int64 // of the innermost loop
}

// stream runs stream i of the program. Whatever goes wrong, a kernel's panic
// too, becomes the run's error.
func (r *run) stream(i int) {
	s := &stream{run: r, name: r.m.program.Functions[0].Streams[i].Name}
	defer func() {
		if p := recover(); p != nil {
			s.fail(ir.Errorf("internal", "panic: %v", p))
		}
	}()
	steps := r.m.code[0][i]
	for k := range steps {
		s.top = steps[k].Task
		if err := s.steps(steps[k : k+1]); err != nil {
			if err != errStopped {
				s.fail(err)
			}
			return
		}
	}
}

// fail stops the run with what the step under way has met.
func (s *stream) fail(err error) {
	e := &Error{Stream: s.name, Err: err}
	if s.at != nil {
		e.Task, e.Pos, e.Op = s.top, s.at.Pos, s.at.Op.String()
		if s.at.call != nil {
			e.Op = s.at.call.Op.Name
		}
		if len(s.at.Out) > 0 {
			e.Value = s.m.program.Buffers[s.at.Out[0]].Name
		}
	}
	s.stop(s.top, e)
}

// steps runs a piece of code.
func (s *stream) steps(steps []step) error {
	stopped := &s.f.events.stopped
	for i := range steps {
		if stopped.Load() {
			return errStopped
		}
		st := &steps[i]
		s.at = st
		if err := s.step(st); err != nil {
			return err
		}
	}
	return nil
}

// step runs one instruction. It is a switch, the only one over opcodes, since a
// call through a table would cost as much again as a wait or copy.
func (s *stream) step(st *step) error {
	out, in := s.operands(st)
	switch st.Op {
	case bytecode.Exec:
		return st.kernel.Run(st.call, out, in)
	case bytecode.Copy:
		copy(out[0].Data, in[0].Data)
	case bytecode.Row:
		size := int64(len(in[0].Data))
		copy(out[0].Data[s.round*size:][:size], in[0].Data)
	case bytecode.Wait:
		s.f.events.wait(st.Index)
	case bytecode.Post:
		s.f.events.post(st.Index)
	case bytecode.Branch:
		if isTrue(in[0]) {
			return s.body(st.Bodies[0])
		}
		return s.body(st.Bodies[1])
	case bytecode.Loop:
		return s.loop(st, out[0], in)
	case bytecode.Call:
		return s.body(st.Bodies[0])
	case bytecode.End:
	default:
		return fmt.Errorf("opcode %d", st.Op)
	}
	return nil
}

// operands are the tensors of a step's results and arguments.
func (s *stream) operands(st *step) (out, in []*tensor.T) {
	mid := st.args + len(st.Out)
	end := mid + len(st.In)
	return s.f.args[st.args:mid:mid], s.f.args[mid:end:end]
}

func isTrue(t *tensor.T) bool { return t.Data[0] != 0 }

// body runs the code of a body. Bodies nest as deep as the verifier allows.
func (s *stream) body(f int) error { return s.steps(s.m.code[f][0]) }

// loop runs a loop. An empty body still asks, each round, whether to stop.
func (s *stream) loop(st *step, counter *tensor.T, cond []*tensor.T) error {
	outer := s.round
	defer func() { s.round = outer }()
	hasCond := st.Bodies[1] != bytecode.NoBody
	at := tensor.Of[int64](counter)
	for t := st.From; t < st.To; t++ {
		if hasCond {
			if err := s.body(st.Bodies[1]); err != nil || !isTrue(cond[0]) {
				return err
			}
		}
		at[0], s.round = t, t-st.From
		if err := s.body(st.Bodies[0]); err != nil {
			return err
		}
	}
	return nil
}
