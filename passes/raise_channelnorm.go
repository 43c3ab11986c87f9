package passes

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// Norms of the channels of images.
//
//	%0 = reshape %x : f32[N,8,C*H*W/8]         (%x : f32[N,C,H,W])
//	%1 = layernorm %0
//	%2 = reshape %1 : f32[N,C,H,W]        =>   %4 = groupnorm %x, %w, %b {groups=8}
//	%3 = mul %2, %w                            (%w, %b : f32[C,1,1])
//	%4 = add %3, %b
//
// PyTorch writes a group norm as an instance norm of the groups, with weights of 1
// and biases of 0. What is normalised along all spatial axes is an instance norm
// once it has a weight or a bias for each channel.
func channelNormForms() []*rewrite.Rule {
	return []*rewrite.Rule{
		raisedBy(groupNorm, "raise-groupnorm", "groups of channels that are normalised each by itself",
			"reshape(layernorm(reshape(x, dims=p), axis=a, eps=e), dims=q)", "reshape(instancenorm(reshape(x, dims=p), w?, b?, eps=e), dims=q)"),
		guarded(raisedBy(instanceNorm, "raise-instancenorm", "channels that are normalised each by itself, with a weight or a bias for each",
			"layernorm(x, axis=a, eps=e) * w", "layernorm(x, axis=a, eps=e) + b"), isOfChannels),
		guarded(raisedBy(weighted, "raise-channel-weight", "a weight of each channel that is multiplied to a norm",
			"instancenorm(x, eps=e) * w", "groupnorm(x, groups=g, eps=e) * w"), fitsNorm("w")),
		guarded(raisedBy(biased, "raise-channel-bias", "a bias of each channel that is added to a norm",
			"instancenorm(x, w?, eps=e) + b", "groupnorm(x, w?, groups=g, eps=e) + b"), fitsNorm("b")),
	}
}

// groupNorm asks of the inner shape that it has the samples, the groups, and
// behind them all that is normalised: then a group holds channels side by side.
func groupNorm(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	x, norm := m.Value("x"), m.Inside[1]
	inner := norm.Type.Shape
	if x.Type.Rank() < 2 || len(inner) < 3 || !inner[0].Equal(x.Type.Shape[0]) || !isPlain(m, norm) {
		return nil
	}
	groups, ok := inner[1].Const()
	if !ok {
		return nil
	}
	e, _ := m.Attr("e")
	return b.Call(ir.GroupNorm, []*ir.Value{x}, set("groups", ir.IntLit(groups)), set("eps", e))
}

// isPlain asks for a norm of all axes but the first two, without a weight and bias
// that do something.
func isPlain(m *rewrite.Match, norm *ir.Value) bool {
	if norm.Op == ir.LayerNorm {
		return behindChannels(axesAttr(norm, "axis", norm.Type.Rank()), norm.Type.Rank())
	}
	w, b := m.Value("w"), m.Value("b")
	return (w == nil || isAnyOf(w, 1)) && (b == nil || isZero(b, false))
}

// behindChannels reports whether the axes are those from 2 on, in order.
func behindChannels(axes []int, rank int) bool {
	if len(axes) != rank-2 {
		return false
	}
	for i, a := range axes {
		if a != i+2 {
			return false
		}
	}
	return true
}

func isOfChannels(m *rewrite.Match) bool {
	x, norm := m.Value("x"), m.Inside[1]
	if !behindChannels(normAxes(norm), x.Type.Rank()) {
		return false
	}
	return fitsAxes(x, m.Value("w"), []int{1}) && fitsAxes(x, m.Value("b"), []int{1})
}

func instanceNorm(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	x := m.Value("x")
	e, _ := m.Attr("e")
	args := []*ir.Value{x, alongAxes(b, x, m.Value("w"), []int{1}), alongAxes(b, x, m.Value("b"), []int{1})}
	return b.Call(ir.InstanceNorm, args, set("eps", e))
}
