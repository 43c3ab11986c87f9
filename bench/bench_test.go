package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/npulang/npu"
	"google.golang.org/protobuf/encoding/protowire"
)

// small are the networks that tests write and run.
const small = "mlp,mlp1,chain101,gemv,matmul-128"

// TestScripts checks that npu takes every network, with all its weights, and that
// the result has the shape that the graph says.
func TestScripts(t *testing.T) {
	for _, build := range networks {
		n := build()
		weights := npu.Arrays{}
		for _, w := range n.weights {
			weights[w.name] = npu.NewTensor(npu.F32, w.shape...)
		}
		if n.bytes() > 100<<20 {
			continue
		}
		p, err := npu.Compile(npu.Script(n.name+".npu", "import \"nn\"\n"+n.script), npu.Options{Weights: weights, Strict: true})
		if err != nil {
			t.Errorf("%s: %v", n.name, err)
			continue
		}
		if in := p.Inputs(); len(in) != 1 || in[0].Name != "x" || in[0].Type.String() != shapeText(n.input) {
			t.Errorf("%s takes %v", n.name, in)
		}
		p.Close()
	}
}

// TestModels checks that every model is read as messages, that each node's inputs
// are there, and that what lies beside it does not overlap.
func TestModels(t *testing.T) {
	for _, build := range networks {
		n := build()
		if n.bytes() > 100<<20 {
			continue
		}
		for _, quantized := range []bool{false, true} {
			n.checkModel(t, quantized)
		}
	}
}

func (n *network) checkModel(t *testing.T, quantized bool) {
	data := &externalData{path: filepath.Join(t.TempDir(), "data")}
	model, err := writeOnnx(n, data, quantized)
	if err != nil {
		t.Fatal(err)
	}
	graphs := fieldsOf(t, model, 7)
	if len(graphs) != 1 {
		t.Fatalf("%s has %d graphs", n.name, len(graphs))
	}
	known := map[string]bool{"x": true}
	for _, tensor := range fieldsOf(t, graphs[0], 5) {
		known[string(fieldsOf(t, tensor, 8)[0])] = true
	}
	for _, node := range fieldsOf(t, graphs[0], 1) {
		for _, in := range fieldsOf(t, node, 1) {
			if !known[string(in)] && len(in) > 0 { // an input may be absent
				t.Errorf("%s: %s has no maker", n.name, in)
			}
		}
		for _, out := range fieldsOf(t, node, 2) {
			known[string(out)] = true
		}
	}
	if !known["y"] {
		t.Errorf("%s makes no y", n.name)
	}
	for i := range n.weights {
		w := n.weights[i].name
		if !known[w] && !known[w+".T"] && !known[w+"_quantized"] && !known[w+".T_quantized"] {
			t.Errorf("%s: the model has no %s", n.name, w)
		}
	}
}

// TestBytesOf: each column has its own scale, and loses half a step at most.
func TestBytesOf(t *testing.T) {
	values := []float32{1, -200, 0, 0.25, 100, 0, -0.5, 3, 0}
	bytes, scales := bytesOf(values, 3, 3)
	if scales[0] != float32(1)/127 || scales[1] != float32(200)/127 || scales[2] != 1 {
		t.Errorf("scales %v", scales)
	}
	for i, v := range values {
		scale := scales[i%3]
		if d := float32(int8(bytes[i]))*scale - v; d > scale*0.501 || -d > scale*0.501 {
			t.Errorf("%g is %d times %g", v, int8(bytes[i]), scale)
		}
	}
}

// TestSides: flags that say nothing sensible are refused by name.
func TestSides(t *testing.T) {
	for _, c := range []struct {
		sides
		want string
	}{
		{sides{"f32", theRuntime}, ""}, {sides{"bf16", thisTree}, ""},
		{sides{"f64", theRuntime}, "-precision f64: write one of f32, bf16, f16, int8"},
		{sides{"int8", "torch"}, "-against torch: write onnxruntime or npu"},
	} {
		err := c.check()
		if got := fmt.Sprint(err); err == nil && c.want != "" || err != nil && got != c.want {
			t.Errorf("%+v: %v", c.sides, err)
		}
	}
}

// fieldsOf are the values of a field of a message that holds bytes.
func fieldsOf(t *testing.T, m []byte, field protowire.Number) (values [][]byte) {
	for len(m) > 0 {
		number, kind, n := protowire.ConsumeTag(m)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		m = m[n:]
		size := protowire.ConsumeFieldValue(number, kind, m)
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		if number == field && kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(m)
			values = append(values, value)
		}
		m = m[size:]
	}
	return values
}

// TestExternal checks the file beside a model.
func TestExternal(t *testing.T) {
	n := perceptron("mlp", 1)
	data := &externalData{path: filepath.Join(t.TempDir(), "data"), wanted: true}
	if _, err := writeOnnx(n, data, false); err != nil {
		t.Fatal(err)
	}
	if err := data.close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(data.path)
	if err != nil {
		t.Fatal(err)
	}
	// fc1.weight is the first, and fc2.weight the next that is large.
	first, second := floatBytes(n.weights[0].values()), floatBytes(n.weights[2].values())
	at := (len(first) + page - 1) / page * page
	if !bytes.HasPrefix(got, first) || !bytes.HasPrefix(got[at:], second) {
		t.Error("the constants do not lie where they should")
	}
}

// TestServe lets npu's process do what it is told, on files that prepare wrote.
func TestServe(t *testing.T) {
	chosen, err := choose(small)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range chosen {
		cache := t.TempDir()
		folder, err := n.prepare(cache, false)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := n.prepare(cache, true); err != nil || again != folder {
			t.Fatalf("prepare gives %s, %v", again, err)
		}
		saved := filepath.Join(folder, "y.bin")
		line, err := json.Marshal([]any{"save", saved})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := serve(folder, "f32", strings.NewReader("[\"run\",2]\n"+string(line)+"\n[\"jump\",1]\n"), &out); err != nil {
			t.Fatal(err)
		}
		replies := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(replies) != 4 || !strings.Contains(replies[0], `"load"`) || !strings.Contains(replies[1], `"seconds"`) || !strings.Contains(replies[3], "no command") {
			t.Errorf("%s answers %q", n.name, replies)
		}
		if y, err := readFloats(saved); err != nil || len(y) == 0 {
			t.Errorf("%s saves %d numbers, %v", n.name, len(y), err)
		}
	}
}

// TestBoth measures both sides where Node.js is there and the package can be had.
func TestBoth(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("needs npm and node")
	}
	cache := os.Getenv("NPU_BENCH_CACHE")
	if cache == "" {
		t.Skip("set NPU_BENCH_CACHE to a folder where onnxruntime-node is, or may be installed")
	}
	bin := filepath.Join(t.TempDir(), "bench")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(bin, "-cache", cache, "-networks", small, "-threads", "1", "-rounds", "1", "-batch", "1ms", "-json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var results []result
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatal(err)
	}
	if len(results) != strings.Count(small, ",")+1 {
		t.Errorf("%d results", len(results))
	}
	for _, r := range results {
		if r.MaxRel > 1e-5 || r.Cosine < 1-1e-9 || r.Ratio <= 0 {
			t.Errorf("%+v", r)
		}
	}
}

func TestDifference(t *testing.T) {
	abs, rel, cosine := difference([]float32{1, 2, 4}, []float32{1, 2, 3})
	if abs != 1 || rel != 1.0/3 || cosine < 0.98 || cosine > 0.999 {
		t.Error(abs, rel, cosine)
	}
	if _, _, cosine := difference([]float32{1}, []float32{1, 2}); cosine != 0 {
		t.Error("results of two lengths look alike")
	}
	if abs, _, cosine := difference([]float32{0, 0}, []float32{0, 0}); abs != 0 || cosine != 1 {
		t.Error("equal results look different")
	}
}

// TestKeep: noisy rounds are left out if enough are quiet.
func TestKeep(t *testing.T) {
	p := pair{others: []float64{0, 0, 1, 0, 0, 0}, seconds: [2][]float64{{1, 2, 9, 3, 4, 5}, {1, 2, 9, 3, 4, 5}}}
	if noisy := p.keep(0.1); noisy != 1 || median(p.seconds[0]) != 3 || len(p.seconds[1]) != 5 {
		t.Error(noisy, p.seconds)
	}
	if noisy := p.keep(-1); noisy != 0 || len(p.seconds[0]) != 5 {
		t.Error(noisy, p.seconds)
	}
}

func TestFlags(t *testing.T) {
	if _, err := choose("mlp,nothing"); err == nil || !strings.Contains(err.Error(), `no "nothing"; there are matmul, `) {
		t.Error(err)
	}
	if all, err := choose("all"); err != nil || len(all) != len(networks) {
		t.Error(len(all), err)
	}
	if _, err := numbers("1,0"); err == nil {
		t.Error("0 threads")
	}
}

// TestTable: the table has a row for each result.
func TestTable(t *testing.T) {
	var b strings.Builder
	if err := table(&b, []*result{{Network: "mlp", Threads: 2, Ratio: 0.5}}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "0.500") {
		t.Error(got)
	}
}
