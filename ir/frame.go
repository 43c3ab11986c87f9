package ir

// A Frame builds a function, or the body of a region inside another frame.
// Bodies see nothing outside; a Frame lets its user write as if they did: an
// outer value that is used inside becomes a capture, an argument of the region
// and a parameter of the body.
//
//	f := NewFrame("main")
//	x := f.Input("x", t)
//	then := f.Body()
//	y, err := then.Add(Relu, []*Value{x}, nil)   // captures x
//	then.Return(y...)
type Frame struct {
	Func  *Func
	outer *Frame
	fixed int               // parameters that are no captures, first in Func.Params
	owner map[*Value]*Frame // shared by all frames of one function
	inner map[*Value]*Value // captured value of the outer frame: the parameter that stands for it
	order []*Value          // keys of inner in order of first use

	weights []*Value // of the function, until Finish
}

// NewFrame begins a function.
func NewFrame(name string) *Frame {
	return &Frame{Func: &Func{Name: name}, owner: map[*Value]*Frame{}}
}

// Body begins the body of a region inside f.
func (f *Frame) Body() *Frame {
	return &Frame{Func: &Func{}, outer: f, owner: f.owner, inner: map[*Value]*Value{}}
}

// Input adds a parameter: of the function, or one that the region's operator
// defines for its body (a counter, a carried value). In a body it must come
// before any capture.
func (f *Frame) Input(name string, t Type) *Value {
	v := f.Func.NewInput(name, t)
	f.owner[v] = f
	f.fixed++
	return v
}

// Add appends a call; arguments may come from outer frames. The error is an
// *Error.
func (f *Frame) Add(op *Op, args []*Value, attrs []Lit, bodies ...*Func) ([]*Value, error) {
	local := make([]*Value, len(args))
	for i, a := range args {
		local[i] = f.Local(a)
	}
	results, err := f.Func.Add(op, local, attrs, bodies...)
	for _, r := range results {
		f.owner[r] = f
	}
	return results, err
}

// Local returns the value that stands for v inside f: v itself, or a capture.
func (f *Frame) Local(v *Value) *Value {
	if v == nil || f.outer == nil || f.owner[v] == f {
		return v
	}
	v = f.outer.Local(v)
	if p, ok := f.inner[v]; ok {
		return p
	}
	p := f.Func.NewInput(v.Name, v.Type)
	f.owner[p] = f
	f.inner[v] = p
	f.order = append(f.order, v)
	return p
}

// Return sets the results of the function or body.
func (f *Frame) Return(vs ...*Value) {
	for _, v := range vs {
		f.Func.Results = append(f.Func.Results, f.Local(v))
	}
}

// AddRegion closes the bodies and appends the region operator to f: all bodies
// get the same captures, in the order of first use, behind the given arguments.
func (f *Frame) AddRegion(op *Op, args []*Value, attrs []Lit, bodies ...*Frame) ([]*Value, error) {
	captures := unite(bodies)
	funcs := make([]*Func, len(bodies))
	for i, b := range bodies {
		params := b.Func.Params[:b.fixed:b.fixed]
		for _, c := range captures {
			params = append(params, b.Local(c))
		}
		b.Func.Params = params
		funcs[i] = b.Func
	}
	return f.Add(op, append(append([]*Value{}, args...), captures...), attrs, funcs...)
}

// unite lists what the bodies capture, each value once.
func unite(bodies []*Frame) []*Value {
	var all []*Value
	seen := map[*Value]bool{}
	for _, b := range bodies {
		for _, v := range b.order {
			if !seen[v] {
				seen[v] = true
				all = append(all, v)
			}
		}
	}
	return all
}

// AddParam adds a weight to the function that f belongs to; weights stand
// before all other values, in the order in which they were added.
func (f *Frame) AddParam(name string, attrs []Lit) *Value {
	root := f
	for root.outer != nil {
		root = root.outer
	}
	v := &Value{Op: Param, Attrs: attrs, Type: attrs[0].Type(), Name: name}
	root.weights = append(root.weights, v)
	root.owner[v] = root
	return v
}

// Finish returns the function, its weights in front.
func (f *Frame) Finish() *Func {
	f.Func.Body = append(f.weights, f.Func.Body...)
	f.weights = nil
	return f.Func
}
