package kernel

import (
	"unsafe"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/norm"
	"github.com/npulang/npu/vm/kernel/strip"
)

// Norms and reductions along the last axes, the heart, with what is element-wise before
// and behind: some rows at a time, which stay in the cache.
//
//	add x, r; layernorm       =>   rows of the sum in scratch memory, from there their
//	                               norm into the result
//	mul x, s; softmax; mul    =>   rows of the product, their softmax in place, from
//	                               there the rest into the result
//	layernorm x; cast         =>   rows of the norm into its result, from there their
//	                               cast into the other

// A rowsTask is the Runner of such a body.
type rowsTask struct {
	level  isa.Level
	rows   int    // of all
	n      int    // elements of each
	at     int    // rows that are computed at a time
	source int    // the input that the heart reads, if nothing stands before it
	before *sheet // what makes the heart's argument, or nil
	norms  [2]normCall
	args   []int       // of the norm
	fold   *reduceTask // the heart, if it is no norm
	after  *tail       // what follows, or nil
	itself bool        // the first result is the heart's own, which after reads there
	own    int         // of rowsSizes
	work   int64
}

// makeRows makes a body of several operators ready whose heart is one of those that
// known says.
func makeRows(b *Body, o *Options, known func(name string) bool) (*Prepared, string) {
	heart, why := heartOf(b, known)
	if why != "" {
		return nil, why
	}
	if b.InPlace != Absent {
		return nil, "it replaces an argument"
	}
	t := &rowsTask{level: o.Level}
	t.own, t.at = rowsSizes.wanted(o)
	within, why := t.heart(b, heart)
	if why == "" {
		why = t.prologue(b, heart)
	}
	if why == "" {
		why = t.epilogue(b, heart)
	}
	if why != "" {
		return nil, why
	}
	t.work = rowsWork(o.Level, t.rows*t.n)
	for _, s := range []*sheet{t.before, t.after.of()} {
		if s != nil {
			t.work += s.work(o.Level)
			within += 4 * s.within
		}
	}
	t.work = min(t.work, MaxWork)
	return &Prepared{Work: t.work, Within: within, Runner: t}, ""
}

func (t *tail) of() *sheet {
	if t == nil {
		return nil
	}
	return t.sheet
}

// heartOf finds the one operator of a body that is known; the others are
// element-wise.
func heartOf(b *Body, known func(name string) bool) (heart int, why string) {
	heart = -1
	for i := range b.Ops {
		c := b.Ops[i].Call
		if c == nil || loweringOf(c) != nil {
			continue
		}
		if heart >= 0 || !known(c.Op.Name) {
			return 0, c.Op.Name + " is not element-wise on " + dtypes(c)
		}
		heart = i
	}
	if heart < 0 {
		return 0, "it is element-wise"
	}
	if d := b.Ops[heart].Call.In[0].DType; d != tensor.F32 {
		return 0, "its elements are " + d.String()
	}
	return heart, ""
}

// heart makes the heart ready for so many rows that they stay in the second cache.
func (t *rowsTask) heart(b *Body, heart int) (within float64, why string) {
	op := &b.Ops[heart]
	c := op.Call
	shape := c.In[0].Ints()
	if r, ok := reductions[c.Op.Name]; ok {
		y, why := layoutOf(shape, reducedAxes(c.Attr("axis"), len(shape)))
		if why != "" || y.Times != 1 || y.Inner != 1 || y.Size() == 0 {
			return 0, "it does not reduce the last axes"
		}
		t.size(y.Space)
		t.fold = &reduceTask{f: r.f, level: t.level, correction: correctionOf(c)}
		return r.within, ""
	}
	row := rowNorms[c.Op.Name]
	s, ok := row.space(c)
	if !ok || s.Inner != 1 || s.Size() == 0 {
		return 0, "it is not along the last axes"
	}
	for _, a := range op.Args[1:] {
		if a >= len(b.In) {
			return 0, "its weights are computed"
		}
	}
	t.size(s)
	t.args = append([]int{Absent}, op.Args[1:]...)
	for i, rows := range []int{t.at, t.rows % t.at} {
		of := norm.Space{Outer: rows, N: s.N, Inner: 1}
		t.norms[i] = normCall{of.Units(), row.bind(of, c)}
	}
	return normWithin, ""
}

// size fixes how many rows are computed at a time.
func (t *rowsTask) size(s norm.Space) {
	t.rows, t.n = s.Outer, s.N
	t.at = rowsAt(t.n, t.at)
}

// rowsAt is how many rows of n elements are computed at a time, of so many floats, 0: of
// 64 KB; short rows by whole units.
func rowsAt(n, floats int) int {
	const usual, group = 16 << 10, 64
	if floats == 0 {
		floats = usual
	}
	at := max(1, floats/max(n, 1))
	if at > group {
		at = at / group * group
	}
	return at
}

// prologue makes the program for the heart's argument.
func (t *rowsTask) prologue(b *Body, heart int) (why string) {
	x := b.Ops[heart].Args[0]
	if x < len(b.In) {
		t.source = x
		return ""
	}
	shape := b.Type(x).Ints()
	before := &Body{In: b.In, Const: b.Const, Ops: b.Ops[:heart], Out: []int{x}, InPlace: Absent}
	s, why := sheetOf(before, t.level, noHeart, shape)
	if why != "" {
		return why
	}
	for v := range s.views {
		if s.views[v].kind == ofResult {
			s.views[v].kind = ofHeart // its rows are in scratch memory
		}
	}
	if !s.group(shape, t.columns(shape)) {
		return "its elements are made in another order"
	}
	t.before, t.source = s, Absent
	return ""
}

// columns is how many of the last axes a row has.
func (t *rowsTask) columns(shape []int) (axes int) {
	for n := 1; n < t.n; axes++ {
		n *= shape[len(shape)-1-axes]
	}
	return max(axes, 1)
}

// epilogue makes the program for what follows; a heart whose result is the body's
// has none.
func (t *rowsTask) epilogue(b *Body, heart int) (why string) {
	op := &b.Ops[heart]
	if len(b.Out) == 1 && b.Out[0] == op.First {
		return ""
	}
	if t.fold != nil {
		return "something follows a reduction"
	}
	rest := *b
	if t.itself = b.Out[0] == op.First; t.itself {
		rest.Out = b.Out[1:]
	}
	t.after, why = tailOf(&rest, heart, t.columns(op.Call.Out[0].Ints()), t.level)
	return why
}

func (t *rowsTask) twin(*Body, *Options) Runner { return t }

func (t *rowsTask) Parts(want int) int { return max(1, min(want, (t.rows+t.at-1)/t.at)) }

func (t *rowsTask) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	var src, args = []float32(nil), x.slices(t.args, in)
	if t.before != nil || t.after != nil && !t.itself {
		src = x.Floats(t.at * t.n)
	}
	row, n := share(t.rows, part, parts, t.at)
	for end := row + n; row < end; row += t.at {
		if err := x.Stop(); err != nil {
			return err
		}
		t.block(x, row, min(t.at, end-row), src, args, out, in)
		if err := x.halted(); err != nil {
			return err
		}
	}
	return nil
}

// block computes some rows.
func (t *rowsTask) block(x *Exec, row, rows int, room []float32, args [][]float32, out, in []*tensor.T) {
	src := room
	if t.before == nil {
		src = tensor.Of[float32](in[t.source])[row*t.n : (row+rows)*t.n]
	} else {
		t.boxes(t.before, x, room, row, rows, out, in)
	}
	if t.fold != nil {
		x.layout = norm.Layout{Space: norm.Space{Outer: rows, N: t.n, Inner: 1}, Times: 1}
		x.rows().Fold(t.level, t.fold.f, &x.layout, 0, x.layout.Units(), resultsOf(out[0]).From(row), src, t.fold.correction)
		return
	}
	dst := room
	if t.after == nil || t.itself {
		dst = tensor.Of[float32](out[0])[row*t.n : (row+rows)*t.n]
	}
	f := &t.norms[0]
	if rows != t.at {
		f = &t.norms[1]
	}
	args[0] = src
	f.run(x.rows(), t.level, 0, f.units, dst, args)
	switch {
	case t.itself:
		t.boxes(t.after.sheet, x, dst, row, rows, out[1:], in)
	case t.after != nil:
		t.boxes(t.after.sheet, x, dst, row, rows, out, in)
	}
}

// boxes runs a program for rows that stand in some memory, matrix by matrix.
func (t *rowsTask) boxes(s *sheet, x *Exec, room []float32, row, rows int, out, in []*tensor.T) {
	each := s.size(rowAxes)
	for done := 0; done < rows; {
		n := min(rows-done, each-(row+done)%each)
		view := strip.View{Ptr: unsafe.Pointer(&room[done*t.n]), Row: 4 * t.n, Col: 4}
		s.box(x, []strip.View{view}, (row+done)/each, (row+done)%each, n, 0, t.n, out, in)
		done += n
	}
}
