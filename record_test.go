package npu

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/npulang/npu/fusion"
	"github.com/npulang/npu/ir/diag"
)

// TestRecord shows the three texts of a record.
func TestRecord(t *testing.T) {
	r := &Record{
		Graph: "main",
		Rewrites: []Rewrite{
			{Pass: "simplify", Rule: "mul-one", Value: "%y", Pos: diag.Loc{File: "a.npu", Line: 3, Col: 9}},
			{Pass: "raise", Rule: "gelu", Value: "%h", Within: 1e-5},
		},
		Passes: []PassStat{
			{Pass: "simplify", Rewrites: 12, Before: 100, After: 88, Time: 1500 * time.Microsecond},
			{Pass: "drop-dead", Before: 88, After: 88, Time: 2 * time.Millisecond},
		},
		Fusions: []FusionStatus{
			{Rule: "MatMul_BiasAdd", Enabled: true, Matches: 2, Effects: 1, Refused: []FusionRefusal{
				{Code: "on-chip-budget", Value: "%h", Detail: "needs 393216, has 262144", At: "a.npu:3:9"},
				{Code: "shared-value", Value: "%long", Count: 3}}},
			{Rule: "Rope"},
		},
	}
	fused := []PassStat{{Pass: "fuse"}}
	for _, c := range []struct{ name, got, want string }{
		{"trace", r.Trace(), `simplify  mul-one  %y  a.npu:3:9
raise     gelu     %h  within 1e-05
`},
		{"stats", r.Stats(), `pass       rewrites  before  after   time
simplify         12     100     88  1.5ms
drop-dead         0      88     88    2ms
all              12     100     88  3.5ms
`},
		{"fusions", r.FusionTable(false), `fusion @main
rule            enabled  required  matches  effects
MatMul_BiasAdd  yes      no              2        1

refused
  MatMul_BiasAdd  %h     on-chip-budget: needs 393216, has 262144  a.npu:3:9
  MatMul_BiasAdd  %long  shared-value (and 2 more)
`},
		{"all fusions", r.FusionTable(true), `fusion @main
rule            enabled  required  matches  effects
MatMul_BiasAdd  yes      no              2        1
Rope            no       no              0        0

refused
  MatMul_BiasAdd  %h     on-chip-budget: needs 393216, has 262144  a.npu:3:9
  MatMul_BiasAdd  %long  shared-value (and 2 more)
`},
		{"no pass", (&Record{Graph: "main"}).FusionTable(true), "fusion @main\nnothing is fused: the pass fuse does not run\n"},
		{"no rule", (&Record{Graph: "main", Passes: fused}).FusionTable(true), "fusion @main\nnothing is fused: every rule is off\n"},
		{"no match", (&Record{Graph: "main", Passes: fused, Fusions: []FusionStatus{{Rule: "A", Enabled: true}}}).FusionTable(false), "fusion @main\nno rule matches\n"},
	} {
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// TestOptionsFusionStatus checks that options tell which rules they enable.
func TestOptionsFusionStatus(t *testing.T) {
	o := Options{Fusion: FuseNone}
	o.SetFusionMode("MatMul_BiasAdd", true)
	status := o.FusionStatus()
	if len(status) != len(fusion.Names()) {
		t.Errorf("%d rules, want %d", len(status), len(fusion.Names()))
	}
	for _, s := range status {
		if s.Enabled != (s.Rule == "MatMul_BiasAdd") || s.Matches != 0 {
			t.Errorf("%+v", s)
		}
	}
}
