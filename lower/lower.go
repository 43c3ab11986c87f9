package lower

import (
	"errors"
	"fmt"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
)

// Lower plans f for one binding of its symbols: it makes a task of every value
// that needs work, gives it to a stream, places every result in memory, and
// adds the events without which two streams would disagree. f is verified IR
// and is not changed. An error, a *diag.Diagnostic, means that the sizes do not
// go together: an assertion of f fails, or a size becomes negative or too
// large.
func Lower(f *ir.Func, env ir.Env, opts Options) (*Plan, error) {
	p, opts, err := build(f, env, opts)
	if err != nil {
		return nil, err
	}
	p.decide(&opts)
	return p, nil
}

// build makes the tasks and buffers of a plan, in program order. The options that
// it returns have their defaults filled in.
func build(f *ir.Func, env ir.Env, opts Options) (*Plan, Options, error) {
	opts = opts.complete()
	if err := Check(f, opts); err != nil {
		return nil, opts, err
	}
	keep, err := newKeeper(f, opts.Keep)
	if err != nil {
		return nil, opts, err
	}
	table := &weightTable{slots: map[*ir.Value]int{}}
	b := newBuilder(f, env, opts, table, keep)
	if err := b.lower(); err != nil {
		return nil, opts, err
	}
	p := b.plan
	p.Name, p.Env, p.Weights = f.Name, bindings(f, env), table.list
	return p, opts, nil
}

// decide puts the tasks in order, on streams, and the buffers into memory.
func (p *Plan) decide(opts *Options) {
	p.needs()
	if opts.mode().reorder {
		p.reorder()
	}
	p.measureTasks()
	p.arrange(opts)
}

// A weightTable gathers the weights of a function and all its bodies.
type weightTable struct {
	slots map[*ir.Value]int
	list  []Weight
}

// A builder turns one function, or the body of a region, into a plan.
type builder struct {
	f       *ir.Func
	env     ir.Env
	opts    Options
	kept    keeper
	mapper  *mapper
	plan    *Plan
	known   *knownFunc
	names   map[*ir.Value]string // of known
	buffers map[*ir.Value]int
	results map[resultOf]*ir.Value // the values of further results
	joins   map[*ir.Value]*join    // concat and stack
	parts   map[*ir.Value]part     // the values that are made in the memory of a join
	// loop is set for the bodies of loops, whose results stay in the frame, or lie where
	// the next round finds them (see carryInPlace).
	loop  bool
	count bool // parameter 0 is the counter of a loop
	fused bool // for the body of a fused region, which runs where the region does
}

// A resultOf names a further result of a value.
type resultOf struct {
	of    *ir.Value
	index int
}

func newBuilder(f *ir.Func, env ir.Env, opts Options, table *weightTable, keep keeper) *builder {
	known := opts.Known.of(f)
	return &builder{
		f: f, env: env, opts: opts, mapper: opts.Mapping.mapper(), kept: keep, known: known, names: known.names,
		plan: &Plan{
			device: opts.Device, Align: opts.Align, weights: table,
			Tasks: make([]Task, 0, len(f.Body)), Buffers: make([]Buffer, 0, len(f.Body)+len(f.Params)),
		},
		buffers: make(map[*ir.Value]int, len(f.Body)+len(f.Params)),
		results: map[resultOf]*ir.Value{},
		joins:   map[*ir.Value]*join{},
		parts:   map[*ir.Value]part{},
	}
}

// lower makes tasks and buffers.
func (b *builder) lower() error {
	if err := checkAsserts(b.f, b.env); err != nil {
		return err
	}
	for i, v := range b.f.Params {
		if err := b.input(i, v); err != nil {
			return err
		}
	}
	for _, v := range b.f.Body {
		if v.Op.Flags&ir.Projection != 0 {
			b.results[resultOf{v.Args[0], v.Index()}] = v
		}
	}
	if err := b.planJoins(); err != nil {
		return err
	}
	for _, v := range b.f.Body {
		if err := b.value(v); err != nil {
			return err
		}
	}
	return b.finish()
}

// input makes the buffer of a parameter. The counter of a loop lies in the
// frame of the body, all its life.
func (b *builder) input(i int, v *ir.Value) error {
	t, err := b.bind(v, v.Type)
	if err != nil {
		return err
	}
	buf := Buffer{Space: Input, Slot: i, Type: t, Name: b.names[v]}
	if b.count && i == 0 {
		buf.Space, buf.Slot, buf.First = Arena, 0, -1
	}
	id := b.buffer(buf)
	if buf.Space == Arena {
		b.plan.extend(id, forever)
	}
	b.buffers[v] = id
	b.plan.Inputs = append(b.plan.Inputs, Port{v.Name, id})
	return nil
}

// buffer adds a buffer that nothing reads yet.
func (b *builder) buffer(buf Buffer) int {
	n, _ := buf.Type.Bytes().Const()
	buf.Size, buf.Base, buf.Reuses, buf.Takes = n, -1, -1, -1
	buf.Kept = buf.Kept || b.kept[buf.Name]
	buf.Last = buf.First
	b.plan.Buffers = append(b.plan.Buffers, buf)
	return len(b.plan.Buffers) - 1
}

// bind puts numbers into a type, or says which value can't have them.
func (b *builder) bind(v *ir.Value, t ir.Type) (ir.Type, error) {
	bound, err := t.Bind(b.env)
	if err == nil {
		err = bound.Check()
	}
	if err != nil {
		return bound, failure(v, err)
	}
	return bound, nil
}

// failure says at which value binding went wrong.
func failure(v *ir.Value, err error) error { return failureAt(v.Pos, v.Op.Name, err) }

func failureAt(at diag.Loc, subject string, err error) error {
	var done *diag.Diagnostic
	if errors.As(err, &done) {
		return done
	}
	d := &diag.Diagnostic{Code: "dimension-mismatch", Loc: at, Subject: subject, Message: err.Error()}
	var e *ir.Error
	if errors.As(err, &e) {
		d.Code, d.Message, d.Notes, d.Helps = e.Code, e.Msg, e.Notes, e.Helps
	}
	return d
}

// value lowers one value of the body.
func (b *builder) value(v *ir.Value) error {
	switch {
	case v.Op.Flags&ir.Projection != 0:
		return nil // made by its producer
	case v.Op == ir.Param, v.Op == ir.Const:
		return b.source(v)
	case v.Op.Class == ir.Region:
		return b.region(v)
	}
	return b.task(v)
}

// source counts a weight, which is made where it is first read.
func (b *builder) source(v *ir.Value) error {
	if !b.fused {
		return nil
	}
	c, err := b.call(v)
	if err == nil {
		b.plan.work = b.plan.work.Plus(c.Cost())
	}
	return err
}

// read returns the buffer that holds v, and notes that the next task reads it.
func (b *builder) read(v *ir.Value) (int, error) {
	if v == nil {
		return -1, nil
	}
	id, err := b.lookup(v)
	if err == nil {
		b.plan.extend(id, len(b.plan.Tasks))
	}
	return id, err
}

// lookup returns the buffer of a value; a weight gets one when it is first
// asked for, so that weights nobody reads are never loaded.
func (b *builder) lookup(v *ir.Value) (int, error) {
	if id, ok := b.buffers[v]; ok {
		return id, nil
	}
	if v.Op != ir.Param && v.Op != ir.Const {
		return 0, failure(v, fmt.Errorf("%s is read before it is made", b.names[v]))
	}
	t, err := b.bind(v, v.Type)
	if err != nil {
		return 0, err
	}
	id := b.buffer(Buffer{Space: Weights, Slot: b.plan.weights.slot(v, t, b.names[v]), Type: t, Name: b.names[v]})
	b.buffers[v] = id
	return id, nil
}

func (w *weightTable) slot(v *ir.Value, t ir.Type, name string) int {
	if slot, ok := w.slots[v]; ok {
		return slot
	}
	weight := Weight{Name: name, Type: t, Init: v}
	if v.Op == ir.Const {
		weight.Data = v.Call().Attr("value").Tensor
	} else {
		weight.Name = v.Key()
	}
	w.slots[v] = len(w.list)
	w.list = append(w.list, weight)
	return w.slots[v]
}

// extend keeps a buffer's memory alive up to a task.
func (p *Plan) extend(buffer, task int) {
	r := p.Root(buffer)
	p.Buffers[r].Last = max(p.Buffers[r].Last, task)
}

// call returns v as a call without symbols, results included.
func (b *builder) call(v *ir.Value) (*ir.Call, error) {
	c, err := b.known.call(v)
	if err != nil {
		return nil, failure(v, err)
	}
	bound, err := c.Bind(b.env)
	if err != nil {
		return nil, failure(v, err)
	}
	return bound, nil
}

// task makes the task of a value and the buffers of its results, or views
// where the results lie in memory already.
func (b *builder) task(v *ir.Value) error {
	if j := b.joins[v]; j != nil {
		b.note([]string{b.names[v]}, v.Op.Name+": "+b.told(j))
		if j.inPlace > 0 {
			return b.join(j)
		}
	}
	c, err := b.call(v)
	if err != nil {
		return err
	}
	if done, err := b.view(v, c); done || err != nil {
		b.plan.work = b.plan.work.Plus(c.Cost())
		return err
	}
	return b.addTask(v, Task{Name: v.Op.Name, Unit: v.Op.Unit, Call: c})
}

// addTask fills in what all tasks have: arguments, results, cost.
func (b *builder) addTask(v *ir.Value, t Task) error {
	for _, a := range v.Args {
		id, err := b.read(a)
		if err != nil {
			return err
		}
		t.In = append(t.In, id)
	}
	for i, typ := range t.Call.Out {
		t.Out = append(t.Out, b.made(b.result(v, i), typ))
	}
	t.Cost, t.Pos, t.Post, t.Pin = costOf(&t), v.Pos, -1, annotation(v, "stream")
	b.plan.work = b.plan.work.Plus(t.Cost)
	b.unit(v, &t)
	b.plan.Tasks = append(b.plan.Tasks, t)
	return nil
}

// costOf is the cost of the task's call. Of a fused region that is known from its body's
// plan; the call would bind the body anew.
func costOf(t *Task) ir.Cost {
	if t.Region == nil || t.Region.Kind != Fused {
		return t.Call.Cost()
	}
	cost := ir.DefaultCost(t.Call, 0)
	cost.Flops = t.Region.Bodies[0].work.Flops
	return cost
}

// made makes the buffer that the next task writes for a result: one of its own,
// or the part of a join.
func (b *builder) made(r *ir.Value, t ir.Type) int {
	at := len(b.plan.Tasks)
	if r == nil {
		return b.buffer(Buffer{Space: Arena, Type: t, First: at})
	}
	var id int
	if part, ok := b.parts[r]; ok {
		id = b.partOf(part, t, b.names[r])
	} else {
		id = b.buffer(Buffer{Space: Arena, Type: t, First: at, Name: b.names[r]})
	}
	b.buffers[r] = id
	return id
}

// result returns the value that is result i of v; nil: nobody reads it.
func (b *builder) result(v *ir.Value, i int) *ir.Value {
	if i == 0 {
		return v
	}
	return b.results[resultOf{v, i}]
}

// checkAsserts checks the relations that could not be proved for all sizes.
func checkAsserts(f *ir.Func, env ir.Env) error {
	for _, a := range f.Asserts {
		if err := a.Check(env); err != nil {
			return failureAt(a.Pos, a.What, err)
		}
	}
	return nil
}
