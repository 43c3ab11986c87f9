package lang

import (
	"fmt"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// Helps: edits that would most likely make a refused call legal.

// mends suggests a cast for dtypes that disagree, and another shape for a weight
// whose shape does not fit.
func mends(s site, refusal *ir.Error, call *ir.Call) []string {
	if call == nil || len(refusal.Labels) == 0 {
		return nil
	}
	switch refusal.Code {
	case "dtype-mismatch":
		if s.binary == "^" && len(s.args) == 2 && ownDType(s.args[0].val).IsFloat() {
			return []string{"a power is written **"}
		}
		return castHelp(s, refusal)
	case "shape-mismatch", "rank-mismatch":
		return declaredHelp(s, call)
	}
	return nil
}

// longText is how much source a help repeats at most.
const longText = 60

// castHelp writes the call with the narrower operand cast to the wider one's
// dtype.
func castHelp(s site, refusal *ir.Error) []string {
	if len(refusal.Labels) != 2 {
		return nil
	}
	a, b := refusal.Labels[0].Arg, refusal.Labels[1].Arg
	if a >= len(s.args) || b >= len(s.args) {
		return nil
	}
	da, db := ownDType(s.args[a].val), ownDType(s.args[b].val)
	if da == db || da == tensor.Invalid || db == tensor.Invalid {
		return nil
	}
	narrow, to := b, da
	if breadth(da) < breadth(db) {
		narrow, to = a, db
	}
	src := text(s.args[narrow].at)
	if src == "" || len(src) > longText || strings.Contains(src, "\n") {
		return nil
	}
	mended := fmt.Sprintf("cast(%s, %s)", src, to)
	if s.binary != "" && len(s.args) == 2 {
		left, right := bracketed(s.args[0].at), bracketed(s.args[1].at)
		if len(left)+len(right) > longText || strings.Contains(left+right, "\n") {
			return []string{"write " + mended}
		}
		if narrow == 0 {
			left = mended
		} else {
			right = mended
		}
		mended = left + " " + s.binary + " " + right
	}
	return []string{"write " + mended}
}

// bracketed is the source under the span of an operand, with the parentheses that
// stand around it.
func bracketed(s diag.Span) string {
	if s.Src == nil {
		return ""
	}
	before := strings.TrimRight(s.Src.Text[:s.Start], " ")
	after := strings.TrimLeft(s.Src.Text[s.End:], " ")
	if strings.HasSuffix(before, "(") && strings.HasPrefix(after, ")") {
		return "(" + text(s) + ")"
	}
	return text(s)
}

// breadth orders dtypes by how much they hold: a cast goes upwards.
func breadth(d tensor.DType) int {
	kinds := map[tensor.Kind]int{tensor.Logical: 0, tensor.Unsigned: 100, tensor.Signed: 101, tensor.Float: 1000}
	return kinds[d.Kind()] + 2*d.Size()
}

// declaredHelp names the weight among the arguments whose declaration is likely
// wrong: the one for which another size makes the call legal.
func declaredHelp(s site, call *ir.Call) []string {
	for i := len(s.args) - 1; i >= 0; i-- {
		t, ok := s.args[i].val.(tensorVal)
		if !ok || i >= len(call.In) {
			continue
		}
		decl, isWeight := t.home.declared[t.v]
		if !isWeight {
			continue
		}
		if better, found := betterShape(call, i); found {
			return []string{fmt.Sprintf("%s is declared at %s; did you mean %s?", t.v.Name, at(decl), better)}
		}
	}
	return nil
}

// longRank is the largest rank for which other shapes are tried.
const longRank = 6

// betterShape replaces one dimension of argument i by a size that another
// argument has. It finds a type only when just one makes the call legal.
func betterShape(call *ir.Call, i int) (ir.Type, bool) {
	if call.In[i].Rank() > longRank {
		return ir.Type{}, false
	}
	var found []ir.Type
	for axis := range call.In[i].Shape {
		tried := map[string]bool{}
		for k, other := range call.In {
			for _, d := range other.Shape {
				if k == i || !d.IsConst() || tried[d.String()] {
					continue
				}
				tried[d.String()] = true
				if t, ok := legalWith(call, i, axis, d); ok {
					found = append(found, t)
				}
			}
		}
	}
	if len(found) != 1 {
		return ir.Type{}, false
	}
	return found[0], true
}

// legalWith reports whether the call is legal with one other size.
func legalWith(call *ir.Call, i, axis int, d ir.Dim) (ir.Type, bool) {
	t := ir.Type{DType: call.In[i].DType, Shape: append([]ir.Dim{}, call.In[i].Shape...)}
	if t.Shape[axis].Equal(d) {
		return t, false
	}
	t.Shape[axis] = d
	c := *call
	c.In = append([]ir.Type{}, call.In...)
	c.In[i] = t
	return t, ir.InferCall(&c) == nil
}
