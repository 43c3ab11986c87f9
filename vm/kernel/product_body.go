package kernel

import (
	"slices"

	"github.com/npulang/npu/ir"
)

// products are the operators that are products of matrices.
var products = map[string]bool{"matmul": true, "linear": true}

// hearts lists the products among a body's operators.
func hearts(b *Body) []int {
	var list []int
	for i := range b.Ops {
		if c := b.Ops[i].Call; c != nil && products[c.Op.Name] {
			list = append(list, i)
		}
	}
	return list
}

// plain writes the biases of linear as operators of their own, which is what they
// mean: the product is rounded before the bias is added.
func plain(b *Body) *Body {
	to := &Body{In: b.In, Const: b.Const, InPlace: b.InPlace}
	now := upTo(values(b))
	next := len(b.In)
	for i := range b.Ops {
		o := b.Ops[i]
		o.Args = slices.Clone(o.Args)
		for j, a := range o.Args {
			if a != Absent {
				o.Args[j] = now[a]
			}
		}
		first := o.First
		o.First = next
		next += o.Results()
		bias := Absent
		if o.Is("linear") && len(o.Args) == 3 {
			bias = o.Args[2]
			c := *o.Call
			c.In, o.Args = c.In[:2], o.Args[:2]
			o.Call = &c
		}
		to.Ops = append(to.Ops, o)
		made := o.First
		if bias != Absent {
			to.Ops = append(to.Ops, biasAdd(b.Ops[i].Call, made, bias, next))
			made, next = next, next+1
		}
		for j := range o.Results() {
			now[first+j] = made + j
		}
	}
	for _, v := range b.Out {
		to.Out = append(to.Out, now[v])
	}
	return to
}

// biasAdd adds a linear's bias to its product.
func biasAdd(linear *ir.Call, product, bias, first int) Op {
	c := &ir.Call{Op: ir.BiasAdd, In: []ir.Type{linear.Out[0], linear.In[2]}, Attrs: ir.BiasAdd.Defaults(), Out: linear.Out}
	return Op{Call: c, Args: []int{product, bias}, First: first}
}

// behind lists for each value of a body which of the hearts it depends on.
func behind(b *Body, hearts []int) [][]int {
	of := make([][]int, values(b))
	for i := range b.Ops {
		o := &b.Ops[i]
		var all []int
		if slices.Contains(hearts, i) {
			all = []int{i}
		} else {
			for _, a := range o.Args {
				if a != Absent {
					all = append(all, of[a]...)
				}
			}
			slices.Sort(all)
			all = slices.Compact(all)
		}
		for j := range o.Results() {
			of[o.First+j] = all
		}
	}
	return of
}

// following is the body of a heart and what is made of it: the results from on, n of
// them. What only the heart reads is left out.
func following(b *Body, heart, from, n int) (sub *Body, at int) {
	sub = &Body{In: b.In, Const: b.Const, InPlace: b.InPlace}
	needed := make([]bool, values(b))
	for _, v := range b.Out[from : from+n] {
		needed[v] = true
	}
	var keep []int
	for i := len(b.Ops) - 1; i >= 0; i-- {
		o := &b.Ops[i]
		if !slices.Contains(needed[o.First:o.First+o.Results()], true) {
			continue
		}
		keep = append(keep, i)
		for _, a := range o.Args {
			if a != Absent && i != heart {
				needed[a] = true
			}
		}
	}
	slices.Reverse(keep)
	now, next := upTo(values(b)), len(b.In)
	for _, i := range keep {
		o := b.Ops[i]
		if i == heart {
			at, o.Args = len(sub.Ops), nil
		}
		o.Args = slices.Clone(o.Args)
		for j, a := range o.Args {
			if a != Absent {
				o.Args[j] = now[a]
			}
		}
		for j := range o.Results() {
			now[o.First+j] = next + j
		}
		o.First = next
		next += o.Results()
		sub.Ops = append(sub.Ops, o)
	}
	for _, v := range b.Out[from : from+n] {
		sub.Out = append(sub.Out, now[v])
	}
	return sub, at
}
