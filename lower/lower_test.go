package lower_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower"
)

// TestLivesDoNotOverlap checks the memory of random plans in program order,
// buffer against buffer.
func TestLivesDoNotOverlap(t *testing.T) {
	for seed := range uint64(60) {
		f, in := irtest.Func(rand.New(rand.NewPCG(seed, 5)), 30)
		types := make([]ir.Type, len(in))
		for i := range in {
			types[i] = ir.TypeOf(in[i])
		}
		env, err := ir.BindSymbols(f, types)
		if err != nil {
			t.Fatal(err)
		}
		var p *lower.Plan
		sum := int64(-1)
		for i, mode := range []lower.MemoryMode{lower.MemoryOff, lower.MemoryConservative, lower.MemoryAggressive, lower.MemoryNormal} {
			align := []int64{32, 64, 512, 4096}[seed%4]
			if p, err = lower.Lower(f, env, lower.Options{Memory: mode, Align: align, Streams: 1}); err != nil {
				t.Fatal(err)
			}
			if sum = max(sum, p.Sum); i == 0 && p.Arena+p.Frames != sum || p.Sum != sum {
				t.Errorf("seed %d: the sum is %d, and without reuse %d", seed, p.Sum, sum)
			}
			checkLives(t, p)
		}
		if p.MaxLive > p.Arena || p.Arena+p.Frames > p.Sum {
			t.Errorf("seed %d: max-live %d, arena %d, sum %d are out of order", seed, p.MaxLive, p.Arena, p.Sum)
		}
		checkLives(t, p)
	}
}

func checkLives(t *testing.T, p *lower.Plan) {
	t.Helper()
	var own []*lower.Buffer
	for i := range p.Buffers {
		if b := &p.Buffers[i]; b.Space == lower.Arena && b.Base < 0 && b.Size > 0 {
			own = append(own, b)
		}
	}
	for i, a := range own {
		if a.Offset%p.Align != 0 || a.Offset+a.Size > p.Arena+p.Frames || !a.Local && a.Offset+a.Size > p.Arena {
			t.Errorf("%s lies at %d to %d in %d bytes", a.Name, a.Offset, a.Offset+a.Size, p.Arena+p.Frames)
		}
		for _, b := range own[:i] {
			if takes := b.Takes >= 0 && &p.Buffers[b.Takes] == a || a.Takes >= 0 && &p.Buffers[a.Takes] == b; takes {
				if a.First != b.Last && b.First != a.Last || a.Offset != b.Offset || a.Size != b.Size {
					t.Errorf("%s and %s do not lie in one place, one behind the other", a.Name, b.Name)
				}
				continue
			}
			if a.First <= b.Last && b.First <= a.Last && a.Offset < b.Offset+b.Size && b.Offset < a.Offset+a.Size {
				t.Errorf("%s (t%d to t%d at %d) and %s (t%d to t%d at %d) overlap",
					a.Name, a.First, a.Last, a.Offset, b.Name, b.First, b.Last, b.Offset)
			}
		}
	}
}

// TestChain shows that memory is reused: a chain needs two buffers, and where
// results are made in the place of arguments all of it is made in the output.
func TestChain(t *testing.T) {
	f := &ir.Func{Name: "chain"}
	v := f.NewInput("x", ir.T(tensor.F32, ir.N(100)))
	for range 1000 {
		r, err := f.Add(ir.Lookup("neg"), []*ir.Value{v}, nil)
		if err != nil {
			t.Fatal(err)
		}
		v = r[0]
	}
	f.Results = []*ir.Value{v}
	const one = int64(448)
	for _, c := range []struct {
		mode                lower.MemoryMode
		arena, maxLive, sum int64
	}{
		{lower.MemoryOff, 999 * one, 2 * one, 999 * one},
		{lower.MemoryConservative, 2 * one, 2 * one, 999 * one},
		{lower.MemoryNormal, 0, 0, 999 * one},
		{lower.MemoryAggressive, 0, 0, 999 * one},
	} {
		p, err := lower.Lower(f, nil, lower.Options{Memory: c.mode})
		if err != nil {
			t.Fatal(err)
		}
		if p.Arena != c.arena || p.MaxLive != c.maxLive || p.Sum != c.sum {
			t.Errorf("%s: arena %d, max-live %d, sum %d", c.mode, p.Arena, p.MaxLive, p.Sum)
		}
		if len(p.Events) != 0 || len(p.Streams) != 1 {
			t.Errorf("%d events on %d streams", len(p.Events), len(p.Streams))
		}
	}
}

// TestViewsAreFree: views cost no task, and keep what they show alive.
func TestViewsAreFree(t *testing.T) {
	p, err := lower.Lower(irtest.Parse(t, `func @f(%x: f32[4,4]) -> f32[16] {
  %a = neg %x : f32[4,4]
  %v = reshape %a {dims=[16]} : f32[16]
  %b = abs %x : f32[4,4]
  %c = reshape %b {dims=[16]} : f32[16]
  %d = add %v, %c : f32[16]
  %e = neg %d : f32[16]
  return %e
}`), nil, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Tasks) != 4 {
		t.Errorf("%d tasks, want 4", len(p.Tasks))
	}
	checkLives(t, p)
	for _, b := range p.Buffers {
		if b.Name == "%a" && (b.First != 0 || b.Last != 2) {
			t.Errorf("%%a lives from t%d to t%d, want t0 to t2", b.First, b.Last)
		}
	}
}

// TestUnreadWeightsAreLeftOut: what nobody reads is not asked for.
func TestUnreadWeightsAreLeftOut(t *testing.T) {
	p, err := lower.Lower(irtest.Parse(t, `func @f(%x: f32[4]) -> f32[4] {
  %unread = param : f32[1000]
  %w = param {key="fc.w"} : f32[4]
  %y = add %x, %w : f32[4]
  %z = mul %y, %w : f32[4]
  return %z
}`), nil, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Weights) != 1 || p.Weights[0].Name != "fc.w" {
		t.Errorf("weights are %+v", p.Weights)
	}
}

func TestKeepNamesAValue(t *testing.T) {
	f := irtest.Parse(t, `func @f(%x: f32[4]) -> f32[4] {
  %hidden = neg %x : f32[4]
  %y = fused %hidden : f32[4] {
    %inner = exp %hidden : f32[4]
    %z = sqrt %inner : f32[4]
    yield %z
  }
  return %y
}`)
	for _, name := range []string{"hidden", "%inner", "z"} {
		if _, err := lower.Lower(f, nil, lower.Options{Keep: []string{name}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := lower.Lower(f, nil, lower.Options{Keep: []string{"hidde"}})
	var d *diag.Diagnostic
	if !errors.As(err, &d) || d.Code != "unknown-name" || len(d.Helps) != 1 || !strings.Contains(d.Helps[0], "%hidden") {
		t.Errorf("got %#v", err)
	}
}

func TestMemoryOptionsAreChecked(t *testing.T) {
	f := irtest.Parse(t, `func @f(%x: f32[4]) -> f32[4] {
  return %x
}`)
	for _, c := range []struct {
		opts lower.Options
		want string
	}{
		{lower.Options{Memory: "lean"}, `no memory mode "lean", only off`},
		{lower.Options{Align: 48}, "the alignment 48 is no power of two up to 4096"},
		{lower.Options{Align: -64}, "the alignment -64"},
		{lower.Options{Align: 8192}, "the alignment 8192"},
	} {
		if _, err := lower.Lower(f, nil, c.opts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.opts, err, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name, text string
		env        ir.Env
		code, want string
	}{
		{"assertion", `func @f(%x: f32[B]) -> f32[B] {
  assert B % 4 "reshape" @3:5
  return %x
}`, ir.Env{"B": 6}, "dimension-mismatch", "B"},
		{"negative", `func @f(%x: f32[B], %y: f32[B-2]) -> f32[B-2] {
  %z = neg %y : f32[B-2]
  return %z
}`, ir.Env{"B": 1}, "dimension-mismatch", "B-2"},
		{"unbound", `func @f(%x: f32[B]) -> f32[B] {
  return %x
}`, nil, "dimension-mismatch", "dimension B is not bound"},
		{"too large", `func @f(%x: f32[B,B]) -> f32[B,B] {
  return %x
}`, ir.Env{"B": 1 << 30}, "limit", "more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := lower.Lower(irtest.Parse(t, c.text), c.env, lower.Options{})
			var d *diag.Diagnostic
			if !errors.As(err, &d) || d.Code != c.code || !strings.Contains(d.Message, c.want) {
				t.Errorf("got %v, want %s with %q", err, c.code, c.want)
			}
		})
	}
}

// TestSlowDevice: on a device that takes centuries for the largest products times
// stay in range, whatever is added to them, also where a region has several.
func TestSlowDevice(t *testing.T) {
	rows, err := device.Parse([]byte(`{"name": "slow", "base": "cpu", "clock_mhz": 1, "cube_cores": 1, "cube_macs_f32": 1,
		"vector_cores": 1, "lanes_f32": 1, "mem_read": 1, "launch_ns": 1073741824, "sync_ns": 1073741824}`))
	if err != nil {
		t.Fatal(err)
	}
	body := func(b string) string {
		return `func @main(%x: f32[262144,262144]) -> f32[262144,262144] {
  %p = matmul %x, %x : f32[262144,262144]
  %q = sort %x : f32[262144,262144]
` + b + `}
`
	}
	for _, text := range []string{
		body("  %s = matmul %p, %q : f32[262144,262144]\n  return %s\n"),
		body(`  %s = fused %p, %q {rule=two, unit=cube} : f32[262144,262144] {
    %c = matmul %p, %q : f32[262144,262144]
    %d = matmul %c, %q : f32[262144,262144]
    %e = exp %d : f32[262144,262144]
    yield %e
  }
  return %s
`),
	} {
		p, err := lower.Lower(irtest.Parse(t, text), nil, lower.Options{Device: rows[0]})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Streams) == 0 || len(p.Tasks) != 3 {
			t.Errorf("%d tasks on %d streams", len(p.Tasks), len(p.Streams))
		}
	}
}
