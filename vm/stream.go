package vm

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A stream is one way through the code. One executor at a time has it.
type stream struct {
	f    *frame
	name string
	code []step
	bit  uint64 // in the sets of the crew

	next   int   // in code
	at     *step // the step under way
	top    int   // the task of the program under way, whatever bodies do
	round  int64 // of the innermost loop
	owed   int64 // work done since others were last told of what there is
	hand   *hand // of the executor
	job    job
	missed missed

	awaits atomic.Int32 // the event, while the stream is set aside
}

func (s *stream) init(f *frame, index int, name string) {
	s.f, s.name, s.code, s.bit = f, name, f.m.code[0][index], 1<<index
	s.job.init(f.m.workers.Count() + 1)
}

func (s *stream) begin() {
	s.next, s.at, s.top, s.round, s.owed = 0, nil, 0, 0, 0
}

// advance goes on with the stream, to its end or to an event that is not posted
// yet. In the second case another executor may have it already.
func (s *stream) advance(h *hand) {
	if f := s.f; s.run(h) {
		f.ended()
	}
}

// run reports whether the stream has ended. Whatever goes wrong, a kernel's
// panic too, becomes the run's error.
func (s *stream) run(h *hand) (ended bool) {
	s.hand = h
	defer func() {
		if p := recover(); p != nil {
			s.fail(ir.Errorf("internal", "panic: %v", p))
			ended = true
		}
	}()
	for s.next < len(s.code) {
		st := &s.code[s.next]
		if st.Op == bytecode.Wait {
			if s.f.isPosted(st.Index) {
				s.next++
				continue
			}
			if s.f.stopped.Load() {
				return true
			}
			if !s.f.park(s, st.Index) {
				return false
			}
			// Others may have had the stream in the meantime and set it aside further
			// on: what it waits for now is looked at anew.
			s.hand = h
			continue
		}
		s.top = st.Task
		if err := s.one(st); err != nil {
			if !errors.Is(err, errStopped) {
				s.fail(err)
			}
			return true
		}
		if st.touches != nil {
			s.f.touched(st)
		}
		s.next++
	}
	return true
}

// fail stops the run with what the step under way has met.
func (s *stream) fail(err error) {
	e := &Error{Stream: s.name, Err: err}
	if s.at != nil {
		e.Task, e.Pos, e.Op = s.top, s.at.Pos, s.at.Op.String()
		switch {
		case s.at.call != nil:
			e.Op = s.at.call.Op.Name
		case s.at.task != nil:
			e.Op = s.at.task.Name
		}
		if len(s.at.out) > 0 {
			e.Value = s.f.m.program.Buffers[s.at.out[0]].Name
		}
	}
	s.f.stop(s.top, e)
}

// steps runs a piece of code.
func (s *stream) steps(steps []step) error {
	for i := range steps {
		if err := s.one(&steps[i]); err != nil {
			return err
		}
	}
	return nil
}

// one runs one instruction, unless the run is stopped.
func (s *stream) one(st *step) error {
	if s.f.halted() {
		return errStopped
	}
	s.at = st
	if s.owed += st.work; s.owed >= s.f.m.handover {
		s.owed = 0
		if s.f.ready.Load() != 0 {
			s.f.offerStream()
		}
	}
	if s.f.watch != nil {
		return s.watched(st)
	}
	return s.step(st)
}

// step runs one instruction. It is a switch, the only one over opcodes, since a
// call through a table would cost as much again as a wait or copy.
func (s *stream) step(st *step) error {
	out, in := s.operands(st)
	switch st.Op {
	case bytecode.Exec:
		return s.exec(st, out, in)
	case bytecode.Copy:
		if st.task != nil {
			return s.exec(st, out, in)
		}
		if !st.renames {
			copy(out[0].Data, in[0].Data)
		}
	case bytecode.Row:
		size := int64(len(in[0].Data))
		copy(out[0].Data[s.round*size:][:size], in[0].Data)
	case bytecode.Post:
		s.f.post(st.Index)
	case bytecode.Branch:
		if isTrue(in[0]) {
			return s.body(st.Bodies[0])
		}
		return s.body(st.Bodies[1])
	case bytecode.Loop:
		return s.loop(st, out[0], in)
	case bytecode.Call:
		if st.task != nil {
			return s.exec(st, out, in)
		}
		return s.body(st.Bodies[0])
	case bytecode.End:
	default:
		return fmt.Errorf("opcode %d", st.Op)
	}
	return nil
}

// exec runs a kernel: by parts if it is large and somebody has time. Of a task
// that fails by parts the whole is run again, for its error.
func (s *stream) exec(st *step, out, in []*tensor.T) error {
	if s.f.m.check != nil {
		return s.checked(st, out, in)
	}
	return s.compute(st, out, in)
}

func (s *stream) compute(st *step, out, in []*tensor.T) error {
	if st.parts > 0 && s.hasHelp(st.work) && s.share(st, out, in) {
		return nil
	}
	if s.f.stopped.Load() {
		return errStopped
	}
	x := &s.hand.exec
	x.Budget, x.Backwards = &s.f.budget, s.backwards()
	return st.task.Do(x, 0, 1, out, in)
}

// backwards is what executors are told of a task: every other run, and every other round
// of a loop.
func (s *stream) backwards() bool { return (s.f.run+uint64(s.round))%2 == 1 }

// operands are the tensors of a step's results and arguments.
func (s *stream) operands(st *step) (out, in []*tensor.T) {
	mid := st.args + len(st.out)
	end := mid + len(st.in)
	return s.f.args[st.args:mid:mid], s.f.args[mid:end:end]
}

func isTrue(t *tensor.T) bool { return t.Data[0] != 0 }

// body runs the code of a body. Bodies nest as deep as the verifier allows.
func (s *stream) body(f int) error { return s.steps(s.f.m.code[f][0]) }

// loop runs a loop. An empty body still asks, each round, whether to stop.
func (s *stream) loop(st *step, counter *tensor.T, cond []*tensor.T) error {
	outer := s.round
	err := s.rounds(st, tensor.Of[int64](counter), cond)
	s.round = outer
	return err
}

func (s *stream) rounds(st *step, at []int64, cond []*tensor.T) error {
	hasCond := st.Bodies[1] != bytecode.NoBody
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
