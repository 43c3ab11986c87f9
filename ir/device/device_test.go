package device

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/npulang/npu/golden/expect"
)

func TestTable(t *testing.T) {
	var text strings.Builder
	seen := map[string]bool{}
	for _, d := range Devices() {
		if err := d.Check(); err != nil {
			t.Error(err)
		}
		if seen[d.Name] || Lookup(d.Name) != d {
			t.Errorf("%s: name is not unique", d.Name)
		}
		seen[d.Name] = true
		text.Write(d.JSON())
	}
	expect.File(t, "testdata/table.json", text.String())
}

// The published or derived totals, which the table's numbers must multiply to.
func TestTotals(t *testing.T) {
	for _, c := range []struct {
		name   string
		tflops float64 // peak in f16
		gbytes float64 // memory bandwidth, GB/s
	}{
		{"ascend910a", 262, 1024},
		{"ascend910b1", 364, 1421},
		{"ascend910b3", 295, 1152},
		{"ascend910b4", 246, 960},
		{"ascend310p3", 69, 144},
	} {
		d := Lookup(c.name)
		if got := d.PeakF16() / 1e12; math.Abs(got-c.tflops) > 0.6 {
			t.Errorf("%s: peak %.1f TFLOPS, want %.0f", c.name, got, c.tflops)
		}
		if got := d.MemBandwidth() / 1e9; math.Abs(got-c.gbytes) > 0.5 {
			t.Errorf("%s: %.1f GB/s, want %.0f", c.name, got, c.gbytes)
		}
	}
	if Lookup("ascend910") != nil {
		t.Error("Lookup found a device that is not there")
	}
}

// Each field of the struct but name and doc is checked under its JSON name.
func TestEveryFieldIsChecked(t *testing.T) {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	typ := reflect.TypeOf(Device{})
	var want []string
	for i := 2; i < typ.NumField()-1; i++ { // the last is Sources
		want = append(want, typ.Field(i).Tag.Get("json"))
	}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("checked: %v\nfields:  %v", names, want)
	}
	for i, f := range fields {
		d := *ascend910a
		v := reflect.ValueOf(&d).Elem().Field(i + 2)
		v.SetInt(f.max + 1)
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), f.name+" is") {
			t.Errorf("%s too large: %v", f.name, err)
		}
	}
}

func TestTimes(t *testing.T) {
	b3 := Lookup("ascend910b3")
	slow := *b3
	slow.ClockMHz, slow.CubeCores, slow.CubeMACsF32, slow.VectorCores = 1, 1, 1, 1
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		// 2 * 1024^3 flops at 20 * 4096 * 2 a cycle are 13108 cycles.
		{"cube bound by arithmetic", b3.CubeNs(2<<30, 1<<20, 2), 7283},
		{"f32 takes four times as long", b3.CubeNs(2<<30, 1<<20, 4), 29128},
		// 64 MiB at 40 * 32 bytes a cycle are 52429 cycles.
		{"vector bound by memory", b3.VectorNs(1<<20, 64<<20, 4), 29128},
		{"nothing", b3.VectorNs(0, 0, 4), 0},
		{"no overflow", b3.VectorNs(0, math.MaxInt64, 4), math.MaxInt64/1280/1800*1000 + 771},
		{"more than can be added", slow.CubeNs(1<<61, 0, 4), longest},
		{"all there is", slow.VectorNs(math.MaxInt64, math.MaxInt64, 4), longest},
	} {
		if d := c.got - c.want; d < -1000 || d > 1000 || (c.want < 1e6 && d != 0) {
			t.Errorf("%s: %d ns, want %d", c.what, c.got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, d := range Devices() {
		c := *d
		c.Name = "mine"
		rows, err := Parse(c.JSON())
		if err == nil && len(rows) == 1 {
			rows[0].Sources = nil
		}
		if err != nil || len(rows) != 1 || !reflect.DeepEqual(*rows[0], c) {
			t.Errorf("%s does not survive its JSON form: %v", d.Name, err)
		}
	}
	rows, err := Parse([]byte(`[
		{"name": "small", "base": "ascend910b4", "cube_cores": 8},
		{"name": "smaller", "base": "small", "vector_cores": 4}]`))
	if err != nil {
		t.Fatal(err)
	}
	if d := rows[1]; d.CubeCores != 8 || d.VectorCores != 4 || d.ClockMHz != 1500 || d.Name != "smaller" {
		t.Errorf("bases are not followed: %+v", *d)
	}
	if rows[0].Doc != "ascend910b4 with cube_cores 8" || rows[1].Doc != "small with vector_cores 4" {
		t.Errorf("rows say %q and %q of themselves", rows[0].Doc, rows[1].Doc)
	}
	if ascend910b4.CubeCores != 20 {
		t.Error("Parse changed a row of the table")
	}
}

func TestParseRefuses(t *testing.T) {
	var text strings.Builder
	for _, in := range []string{
		``, `[`, `[]x`, `7`, `{"name": "x"}`, `{"name": "Bad Name", "base": "cpu"}`, `{"base": "cpu"}`,
		`{"name": "x", "base": "ascend910"}`,
		`{"name": "x", "base": "cpu", "cores": 3}`,
		`{"name": "x", "base": "cpu", "clock_mhz": -5}`,
		`{"name": "x", "base": "cpu", "clock_mhz": 1.5}`,
		`{"name": "x", "base": "cpu", "align_mem": 48}`,
		`{"name": "x", "base": "cpu", "l1_bytes": 1e300}`,
		`{"name": "cpu", "base": "cpu"}`,
		`{"name": "x", "base": "cpu"} {}`,
		`{"name": "x", "base": "cpu", "sources": {"cores": "a guess"}}`,
		`{"name": "x", "base": "cpu", "sources": {"l1_bytes": 3}}`,
		`[{"name": "x", "base": "cpu"}, {"name": "x", "base": "cpu"}]`,
		`[{"name": "x", "base": "y"}, {"name": "y", "base": "cpu"}]`,
	} {
		rows, err := Parse([]byte(in))
		if err == nil {
			t.Errorf("%s: accepted as %+v", in, rows)
			continue
		}
		text.WriteString(in + "\n    " + err.Error() + "\n")
	}
	expect.File(t, "testdata/refused.txt", text.String())
	if _, err := Parse(make([]byte, MaxJSON+1)); err == nil {
		t.Error("a huge file is accepted")
	}
}
