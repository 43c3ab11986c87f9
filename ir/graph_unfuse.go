package ir

// Unfuse puts what fused regions hold back into f itself, in place:
//
//	%y = fused %x {rule=Elementwise} : f32[4] {        %0 = exp %x : f32[4]
//	  %0 = exp %x : f32[4]                        =>   %y = relu %0 : f32[4]
//	  %y = relu %0 : f32[4]
//	  yield %y
//	}
//
// The values keep their names and places. Other regions stay, with what is fused
// inside them.
func (f *Func) Unfuse() {
	body := make([]*Value, 0, len(f.Body))
	with := map[*Value]*Value{}
	results := map[*Value][]*Value{} // of regions that are gone
	for _, v := range f.Body {
		if owner, i := projected(v); owner != nil && results[owner] != nil {
			with[v] = results[owner][i]
			continue
		}
		replaceIn(v.Args, with)
		if v.Op != Fused {
			body = append(body, v)
			continue
		}
		inner := v.unfused()
		body = append(body, inner.Body...)
		results[v], with[v] = inner.Results, inner.Results[0]
	}
	f.Body = body
	f.Replace(with)
}

// unfused is a copy of a fused region's body that reads the region's arguments.
func (v *Value) unfused() *Func {
	inner, _ := v.Bodies[0].Clone()
	with := make(map[*Value]*Value, len(inner.Params))
	for i, p := range inner.Params {
		with[p] = v.Args[i]
	}
	inner.Replace(with)
	inner.Unfuse()
	return inner
}
