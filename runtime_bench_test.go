package npu_test

import (
	"context"
	"testing"

	"github.com/npulang/npu"
)

// BenchmarkRuntime measures what the runtime costs beside the operator, which has
// one element.
func BenchmarkRuntime(b *testing.B) {
	for _, c := range []struct {
		name string
		opts npu.RuntimeOptions
	}{{"plain", npu.RuntimeOptions{}}, {"check-order", npu.RuntimeOptions{CheckOrder: true}}} {
		rt := newRuntime(b, c.opts)
		in, out := tensors{vector(rt, 1)}, tensors{vector(rt, 0)}
		attrs := []npu.Attr{npu.IntAttr("dims", 1)}
		b.Run("execute/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(rt.Execute("reshape", in, out, attrs...))
			}
		})
		s := must(rt.NewStream())
		b.Run("submit/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(s.Execute("reshape", in, out, attrs...))
			}
			must(0, s.Synchronize(context.Background()))
		})
		other, e := must(rt.NewStream()), must(rt.NewEvent())
		b.Run("event/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			from, to := s, other
			for b.Loop() {
				must(0, e.Record(from))
				must(0, to.Wait(e))
				from, to = to, from
			}
			must(0, from.Synchronize(context.Background()))
		})
	}
}
