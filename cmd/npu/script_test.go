package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "accept what the scripts in testdata print now")

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"npu": main}) }

// TestScripts runs the command lines in testdata.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"safetensors": writeWeights, "npz": writeNpz, "flip": flip, "cut": cut, "utf16": toUTF16, "width": width, "sparse": sparse, "json": hasKeys,
		},
		Condition: func(c string) (bool, error) { return c == "root" && os.Getuid() == 0, nil },
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXAMPLES", examples)
			return nil
		},
	})
}

// writeWeights is "safetensors FILE NAME=1,2,3 ...": f32 vectors; NAME[2,2]=...
// is of that shape.
func writeWeights(ts *testscript.TestScript, _ bool, args []string) {
	header := map[string]any{}
	var body bytes.Buffer
	for _, arg := range args[1:] {
		name, list, _ := strings.Cut(arg, "=")
		begin, shape := body.Len(), []int{}
		for number := range strings.SplitSeq(list, ",") {
			f, err := strconv.ParseFloat(number, 32)
			ts.Check(err)
			ts.Check(binary.Write(&body, binary.LittleEndian, math.Float32bits(float32(f))))
		}
		name, sizes, shaped := strings.Cut(strings.TrimSuffix(name, "]"), "[")
		if !shaped {
			sizes = strconv.Itoa((body.Len() - begin) / 4)
		}
		ts.Check(json.Unmarshal([]byte("["+sizes+"]"), &shape))
		header[name] = map[string]any{"dtype": "F32", "shape": shape, "data_offsets": []int{begin, body.Len()}}
	}
	text, err := json.Marshal(header)
	ts.Check(err)
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(append(file, text...), body.Bytes()...), 0o666))
}

// writeNpz is "npz FILE X.npy ...": an archive of arrays.
func writeNpz(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	z := zip.NewWriter(f)
	for _, name := range args[1:] {
		w, err := z.Create(filepath.Base(name))
		ts.Check(err)
		_, err = w.Write([]byte(ts.ReadFile(name)))
		ts.Check(err)
	}
	ts.Check(z.Close())
	ts.Check(f.Close())
}

// flip is "flip FILE OFFSET": changes the byte there; a negative offset counts
// from the end.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	b := []byte(ts.ReadFile(args[0]))
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	if at < 0 {
		at += len(b)
	}
	b[at] ^= 0xff
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o666))
}

// cut is "cut FILE SIZE NEW": the first bytes of a file.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(ts.ReadFile(args[0]))[:n], 0o666))
}

// toUTF16 is "utf16 FILE NEW": the text as Windows programs like to save it.
func toUTF16(ts *testscript.TestScript, _ bool, args []string) {
	b := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(ts.ReadFile(args[0]))) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o666))
}

// width is "width N": no line of the last output is longer.
func width(ts *testscript.TestScript, _ bool, args []string) {
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > most {
			ts.Fatalf("a line of %d columns: %s", n, line)
		}
		if strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") {
			ts.Fatalf("a line ends in blanks: %q", line)
		}
	}
}

// hasKeys is "json KEY ...": the last output is one JSON object that has the keys.
func hasKeys(ts *testscript.TestScript, _ bool, args []string) {
	var object map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &object))
	for _, key := range args {
		if _, ok := object[key]; !ok {
			ts.Fatalf("the object has no %s", key)
		}
	}
}

// sparse is "sparse FILE BYTES": a file of zeros that takes no room.
func sparse(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(f.Truncate(n))
	ts.Check(f.Close())
}

// endless is a script whose run does not end. Its comment does not fit a pipe:
// once it is written, npu is reading, and handles interrupts.
var endless = strings.Repeat("// "+strings.Repeat("x", 80)+"\n", 4000) + `
graph main(x: f32[]) -> f32[] {
    while x < 1.0 carry x { x = x * 0.5 }
    return x
}
`

// TestInterrupt ends a run in the middle.
func TestInterrupt(t *testing.T) {
	cmd := exec.Command("npu", "run", "-", "--input", "x=0.5") // TestMain has put it on the path
	var stderr, stdout bytes.Buffer
	cmd.Stderr, cmd.Stdout = &stderr, &stdout
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte(endless)); err != nil {
		t.Fatal(err)
	}
	in.Close()
	time.Sleep(300 * time.Millisecond) // so that mostly the run is interrupted, not the compiler
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Skip(err)
	}
	kill := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer kill.Stop()
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitWrong || !strings.Contains(stderr.String(), "interrupted") || stdout.Len() > 0 {
		t.Errorf("exit code %d, standard error %q, standard output %q; want 1, interrupted, nothing", code, &stderr, &stdout)
	}
}

// TestInterruptedPlan: the lowest plan up to an interrupt is written.
func TestInterruptedPlan(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	// The fast methods end at 11 bytes, the search at 10.
	list := "id,lower,upper,size\na,0,2,4\nb,4,7,3\nc,0,4,4\nd,5,6,1\ne,1,6,1\nf,2,6,1\ng,2,7,2\nh,6,8,5\n"
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"plan", "-"}, streams{in: strings.NewReader(list), out: &stdout, err: &stderr})
	if code != exitWrong || strings.Count(stdout.String(), "\n") != 9 || !strings.Contains(stderr.String(), "(cut short)\nerror: interrupted") {
		t.Errorf("exit code %d, standard error %q, standard output %q; want 1, cut short and interrupted, a plan", code, &stderr, &stdout)
	}
}

// TestInternal checks that a fault of npu is told as such, without a stack trace.
func TestInternal(t *testing.T) {
	var stdout, stderr bytes.Buffer
	std := streams{in: brokenReader{}, out: &stdout, err: &stderr}
	if code := run(t.Context(), []string{"check", "-"}, std); code != exitBug {
		t.Errorf("exit code %d, want %d", code, exitBug)
	}
	if got := stderr.String(); !strings.HasPrefix(got, "error: broken [internal]\n") || strings.Contains(got, "goroutine") {
		t.Errorf("standard error: %s", got)
	}
	stderr.Reset()
	if code := run(t.Context(), []string{"--errors=json", "check", "-"}, std); code != exitBug || !json.Valid(stderr.Bytes()) {
		t.Errorf("exit code %d, not JSON: %s", code, &stderr)
	}
}

// A brokenReader stands for a bug.
type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { panic("broken") }
