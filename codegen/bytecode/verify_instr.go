package bytecode

import (
	"fmt"
	"slices"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// A place is one instruction of a program.
type place struct {
	fn, stream, at int
}

func (v *verifier) instr(pl place) *Instr {
	return &v.p.Functions[pl.fn].Streams[pl.stream].Code[pl.at]
}

// where names an instruction for a message: exec t3 on s0, wait e1 on s0, copy t0
// in f2 (then).
func (v *verifier) where(pl place) string {
	in := v.instr(pl)
	f := &v.p.Functions[pl.fn]
	within := " on " + f.Streams[pl.stream].Name
	if pl.fn > 0 {
		within = fmt.Sprintf(" in f%d (%s)", pl.fn, f.Name)
	}
	switch {
	case in.Op.hasSite():
		return fmt.Sprintf("%s t%d%s", in.Op, in.Task, within)
	case opcodes[in.Op].table != "":
		return fmt.Sprintf("%s %s%d%s", in.Op, opcodes[in.Op].table, in.Index, within)
	}
	return in.Op.String() + within
}

func (v *verifier) fault(pl place, format string, args ...any) error {
	return fault(v.instr(pl).Pos, "", "%s %s", v.where(pl), fmt.Sprintf(format, args...))
}

// shape checks what can be seen of functions and instructions one by one, and
// that bodies form a tree.
func (v *verifier) shape() error {
	p := v.p
	if len(p.Functions) == 0 {
		return fault(diag.Loc{}, "", "the program has no function")
	}
	total := 0
	for i := range p.Functions {
		if err := v.function(i); err != nil {
			return err
		}
		for _, s := range p.Functions[i].Streams {
			total += len(s.Code)
		}
	}
	if p.Events < 0 || p.Events > total {
		return fault(diag.Loc{}, "", "%d events in %d instructions", p.Events, total)
	}
	v.depth = make([]int, len(p.Functions))
	for i := range p.Functions {
		if err := v.instrs(i); err != nil {
			return err
		}
	}
	for i := 1; i < len(p.Functions); i++ {
		if v.depth[i] == 0 {
			return fault(diag.Loc{}, "", "nothing runs the body f%d", i)
		}
	}
	return nil
}

// function checks the head of a function.
func (v *verifier) function(i int) error {
	f := &v.p.Functions[i]
	if n := len(f.Streams); n > MaxStreams || i > 0 && n != 1 {
		return fault(diag.Loc{}, "", "function f%d has %d streams", i, n)
	}
	if i == 0 && (f.Frame >= 0 || len(f.Reads)+len(f.Writes) > 0) {
		return fault(diag.Loc{}, "", "the program's first function has a frame or declares what it touches")
	}
	for _, b := range slices.Concat(f.Reads, f.Writes) {
		if !v.isBuffer(b) {
			return fault(diag.Loc{}, "", "function f%d declares b%d, which is not there", i, b)
		}
	}
	if f.Frame >= 0 && (!v.isBuffer(f.Frame) || v.p.Buffers[f.Frame].Space != ArenaSpace || v.p.Buffers[f.Frame].Base >= 0) {
		return fault(diag.Loc{}, "", "the frame of function f%d does not lie in the arena", i)
	}
	return nil
}

func (v *verifier) isBuffer(b int) bool { return b >= 0 && b < len(v.p.Buffers) }

func (v *verifier) instrs(fn int) error {
	for s := range v.p.Functions[fn].Streams {
		code := v.p.Functions[fn].Streams[s].Code
		if n := len(code); n == 0 || code[n-1].Op != End {
			return fault(diag.Loc{}, "", "the code of %s in f%d has no end", v.p.Functions[fn].Streams[s].Name, fn)
		}
		for at := range code {
			pl := place{fn, s, at}
			if err := v.operands(pl); err != nil {
				return err
			}
			if code[at].Op == End && at != len(code)-1 {
				return v.fault(pl, "stands before the last instruction")
			}
			if check := instrChecks[code[at].Op]; check != nil {
				if err := check(v, pl, &code[at]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// operands checks that each operand of the opcode's row is there and lies in
// its table.
func (v *verifier) operands(pl place) error {
	in := v.instr(pl)
	if int(in.Op) >= len(opcodes) {
		return fault(in.Pos, "", "there is no opcode %d", in.Op)
	}
	bodies := 0
	for _, f := range opcodes[in.Op].fields {
		var err error
		switch f {
		case fOut:
			err = v.one(pl, in.Out)
		case fOuts:
			err = v.buffers(pl, in.Out, false)
		case fIn:
			err = v.one(pl, in.In)
		case fIns:
			err = v.buffers(pl, in.In, true)
		case fIfCond:
			if in.hasCond() {
				err = v.one(pl, in.In)
			}
		case fBody, fOptBody:
			err = v.bodyAt(pl, bodies, f == fOptBody)
			bodies++
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// one checks an operand that is a single buffer.
func (v *verifier) one(pl place, list []int) error {
	if len(list) != 1 {
		return v.fault(pl, "has %d operands where there is room for one", len(list))
	}
	return v.buffers(pl, list, false)
}

// buffers checks that the buffers of a list are there; absent ones may be left
// out where the opcode says so.
func (v *verifier) buffers(pl place, list []int, absentToo bool) error {
	for i, b := range list {
		switch {
		case v.isBuffer(b):
		case b != Absent:
			return v.fault(pl, "has the operand b%d, which is not there", b)
		case !absentToo:
			return v.fault(pl, "leaves out operand %d", i)
		}
	}
	return nil
}

// bodyAt checks one of the bodies that an instruction names.
func (v *verifier) bodyAt(pl place, i int, optional bool) error {
	in := v.instr(pl)
	switch {
	case i >= len(in.Bodies):
		return v.fault(pl, "has %d bodies, too few", len(in.Bodies))
	case optional && in.Bodies[i] == NoBody:
		return nil
	}
	return v.body(pl, in.Bodies[i])
}

// body checks that a body comes after the function that runs it, so that no
// body can run itself, and that nothing else runs it.
func (v *verifier) body(pl place, body int) error {
	switch {
	case body <= pl.fn || body >= len(v.p.Functions):
		return v.fault(pl, "runs f%d, which is no body behind f%d", body, pl.fn)
	case v.depth[body] != 0:
		return v.fault(pl, "runs the body f%d, which has been run from elsewhere", body)
	case v.depth[pl.fn] >= MaxNesting:
		return v.fault(pl, "is nested more than %d deep", MaxNesting)
	}
	v.depth[body] = v.depth[pl.fn] + 1
	return nil
}

// instrChecks has for each opcode what must hold of its operands.
var instrChecks = [...]func(*verifier, place, *Instr) error{
	End:    nil,
	Exec:   (*verifier).checkExec,
	Copy:   (*verifier).checkCopy,
	Row:    (*verifier).checkRow,
	Wait:   (*verifier).checkEvent,
	Post:   (*verifier).checkEvent,
	Branch: (*verifier).checkBranch,
	Loop:   (*verifier).checkLoop,
	Call:   nil,
}

func (v *verifier) checkExec(pl place, in *Instr) error {
	if in.Index < 0 || in.Index >= len(v.p.Kernels) {
		return v.fault(pl, "runs kernel k%d, which is not there", in.Index)
	}
	k := &v.p.Kernels[in.Index]
	if len(k.In) != len(in.In) || len(k.Out) != len(in.Out) {
		return v.fault(pl, "has %d arguments and %d results, but kernel k%d (%s) has %d and %d",
			len(in.In), len(in.Out), in.Index, k.Op, len(k.In), len(k.Out))
	}
	for i, b := range in.In {
		if b == Absent {
			if k.In[i].DType != tensor.Invalid {
				return v.fault(pl, "leaves out argument %d of kernel k%d (%s)", i, in.Index, k.Op)
			}
		} else if err := v.sameType(pl, "reads", b, k, k.In[i]); err != nil {
			return err
		}
	}
	for i, b := range in.Out {
		if err := v.sameType(pl, "writes", b, k, k.Out[i]); err != nil {
			return err
		}
	}
	return v.samePlace(pl, in, k)
}

// samePlace checks that the result of a kernel that computes in place lies
// exactly where its argument does. That no other argument lies there is seen
// when the reads and writes of the instruction are followed.
func (v *verifier) samePlace(pl place, in *Instr, k *Kernel) error {
	if k.InPlace == Absent {
		return nil
	}
	to, from := &v.p.Buffers[in.Out[0]], &v.p.Buffers[in.In[k.InPlace]]
	if to.Space != from.Space || to.Slot != from.Slot || to.Offset != from.Offset {
		return v.fault(pl, "writes %s, which does not lie where %s does, and kernel k%d (%s) computes in place of that",
			v.label(in.Out[0]), v.label(in.In[k.InPlace]), in.Index, k.Op)
	}
	return nil
}

func (v *verifier) sameType(pl place, does string, b int, k *Kernel, want Type) error {
	if got := v.p.Buffers[b].Type; !got.Equal(want) {
		return v.fault(pl, "%s %s, which has type %s, where kernel %s has %s", does, v.label(b), got, k.Op, want)
	}
	return nil
}

func (v *verifier) checkCopy(pl place, in *Instr) error {
	to, from := &v.p.Buffers[in.Out[0]], &v.p.Buffers[in.In[0]]
	if to.Size != from.Size || to.Type.DType != from.Type.DType {
		return v.fault(pl, "copies %s of type %s to %s of type %s", v.label(in.In[0]), from.Type, v.label(in.Out[0]), to.Type)
	}
	return nil
}

// checkRow checks the types alone; that rows are those of the loop around them
// is checked when the body is.
func (v *verifier) checkRow(pl place, in *Instr) error {
	if to, from := &v.p.Buffers[in.Out[0]], &v.p.Buffers[in.In[0]]; to.Type.DType != from.Type.DType {
		return v.fault(pl, "stores %s of type %s in %s of type %s", v.label(in.In[0]), from.Type, v.label(in.Out[0]), to.Type)
	}
	return nil
}

func (v *verifier) checkEvent(pl place, in *Instr) error {
	if in.Index < 0 || in.Index >= v.p.Events {
		return v.fault(pl, "names an event that is not there")
	}
	if pl.fn > 0 {
		return v.fault(pl, "stands in a body, which is one stream")
	}
	return nil
}

func (v *verifier) isScalar(b int, d tensor.DType) bool {
	t := v.p.Buffers[b].Type
	return t.DType == d && len(t.Shape) == 0
}

func (v *verifier) checkBranch(pl place, in *Instr) error {
	if !v.isScalar(in.In[0], tensor.Bool) {
		return v.fault(pl, "decides by %s, which has type %s", v.label(in.In[0]), v.p.Buffers[in.In[0]].Type)
	}
	f, g := &v.p.Functions[in.Bodies[0]], &v.p.Functions[in.Bodies[1]]
	if !sortedEqual(f.Writes, g.Writes) {
		return v.fault(pl, "has sides that write different buffers")
	}
	return nil
}

func (v *verifier) checkLoop(pl place, in *Instr) error {
	const far = 1 << 61 // the rounds between two such bounds still fit an int64
	switch {
	case !v.isScalar(in.Out[0], tensor.I64):
		return v.fault(pl, "counts in %s, which has type %s", v.label(in.Out[0]), v.p.Buffers[in.Out[0]].Type)
	case in.hasCond() && !v.isScalar(in.In[0], tensor.Bool):
		return v.fault(pl, "asks %s, which has type %s", v.label(in.In[0]), v.p.Buffers[in.In[0]].Type)
	case in.To == Unbounded && !in.hasCond():
		return v.fault(pl, "has neither a limit nor a condition and would run for ever")
	case in.From < -far || in.From > far || in.To != Unbounded && (in.To < -far || in.To > far):
		return v.fault(pl, "counts from %d to %d", in.From, in.To)
	}
	if in.hasCond() && len(v.p.Functions[in.Bodies[1]].Writes) > 0 {
		return v.fault(pl, "has a condition that writes to the outside")
	}
	return nil
}
