package place

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func drawn(t *testing.T, d *Drawing) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.Draw(&b); err != nil {
		t.Fatal(err)
	}
	for dec := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		if _, err := dec.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("no XML: %v\n%s", err, b.String())
		}
	}
	return b.String()
}

// TestDraw looks at what the picture says of each buffer and of the plan.
func TestDraw(t *testing.T) {
	p := &Problem{Buffers: []Buffer{{Size: 256, Lower: 0, Upper: 2}, {Size: 512, Lower: 1, Upper: 5}, {Size: 64, Lower: 3, Upper: 4}, {Size: 0, Lower: 1, Upper: 2}}}
	plan := &Plan{Offsets: []int64{0, 256, 0, 0}, Height: 768, Bound: 768}
	text := drawn(t, &Drawing{Title: `memory <of> "main"`, Problem: p, Plan: plan, Names: []string{"%a<b>&\x00", "%wide", "%c", "%nothing"}, Tick: "t"})
	for _, want := range []string{
		"%a&lt;b&gt;&amp;\uFFFD, 256 bytes at 0, from t0 to t1", ">%wide 512<", "512 bytes at 256, from t1 to t4", "lower bound 768", ">t4<", ">640 B<", "memory &lt;of&gt;",
		`x="290.0" y="40.0" width="800.0" height="373.3"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, none := range []string{"%nothing", ">t5<"} {
		if strings.Contains(text, none) {
			t.Errorf("%s is drawn, which is not there", none)
		}
	}
}

// TestDrawIsBounded: of very many buffers the largest are drawn.
func TestDrawIsBounded(t *testing.T) {
	p, plan := &Problem{}, &Plan{Height: math.MaxInt32, Bound: 10}
	for i := range int64(50_000) {
		p.Buffers = append(p.Buffers, Buffer{Size: 1 + i, Lower: i, Upper: i + 3})
		plan.Offsets = append(plan.Offsets, 0)
	}
	text := drawn(t, &Drawing{Problem: p, Plan: plan})
	if n := strings.Count(text, `class="b"`); n != maxDrawn || !strings.Contains(text, "the largest 4000 of 50000 buffers") {
		t.Errorf("%d buffers are drawn", n)
	}
	if !strings.Contains(text, "<title>49999, 50000 bytes") || strings.Contains(text, "<title>7, ") {
		t.Error("not the largest are drawn")
	}
	drawn(t, &Drawing{Problem: &Problem{}, Plan: &Plan{}})
}

// TestByteAxis: steps are powers of two, and all labels have the unit of the step.
func TestByteAxis(t *testing.T) {
	for _, c := range []struct {
		top  int64
		want string
	}{
		{1, "0, 1 B"}, {768, "0, 128 B, 256 B, 384 B, 512 B, 640 B, 768 B"},
		{7 << 20, "0, 1 MiB, 2 MiB, 3 MiB, 4 MiB, 5 MiB, 6 MiB, 7 MiB"},
		{5 << 19, "0, 256 KiB, 512 KiB, 768 KiB, 1024 KiB, 1280 KiB, 1536 KiB, 1792 KiB, 2048 KiB, 2304 KiB, 2560 KiB"},
		{1000, "0, 128 B, 256 B, 384 B, 512 B, 640 B, 768 B, 896 B"},
	} {
		var got []string
		step := byteStep(c.top)
		for k := range c.top/step + 1 {
			got = append(got, bytesText(k*step, step))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("up to %d: %s, want %s", c.top, text, c.want)
		}
	}
	if step := byteStep(math.MaxInt64); bytesText(step, step) != "1048576 TiB" {
		t.Error(bytesText(step, step))
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi int64
		want   string
	}{
		{0, 0, "[0]"}, {-1, 4, "[-1 0 1 2 3 4]"}, {0, 768, "[0 100 200 300 400 500 600 700]"},
		{3, 24, "[4 6 8 10 12 14 16 18 20 22 24]"}, {0, 1 << 20, "[0 100000 200000 300000 400000 500000 600000 700000 800000 900000 1000000]"},
	} {
		if got := fmt.Sprint(ticks(c.lo, c.hi)); got != c.want {
			t.Errorf("from %d to %d: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
	if n := len(ticks(0, 1<<60)); n < 2 || n > 11 {
		t.Errorf("%d ticks", n)
	}
	if s := strconv.Itoa(len(ticks(-5, 1<<40))); !slices.Contains([]string{"6", "7", "8", "9", "10", "11"}, s) {
		t.Error(s)
	}
}
