package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// What npu can be measured beside.
const (
	theRuntime = "onnxruntime"
	thisTree   = "npu" // in f32
)

// sides says what is measured beside what.
type sides struct {
	precision string // of npu's products
	against   string
}

var precisions = []string{"f32", "bf16", "f16", "int8"}

func (s *sides) check() error {
	switch {
	case !slices.Contains(precisions, s.precision):
		return fmt.Errorf("-precision %s: write one of %s", s.precision, strings.Join(precisions, ", "))
	case s.against != theRuntime && s.against != thisTree:
		return fmt.Errorf("-against %s: write %s or %s", s.against, theRuntime, thisTree)
	}
	return nil
}

// quantized reports whether the other side's products are those of bytes.
func (s *sides) quantized() bool { return s.against == theRuntime && s.precision == "int8" }

// title tells what the table is about.
func (s *sides) title() string {
	other := "onnxruntime-node " + peerVersion
	switch {
	case s.against == thisTree:
		other = "npu in f32"
	case s.quantized():
		other += ", dynamic int8"
	}
	return fmt.Sprintf("npu in %s beside %s; medians, ratios are npu over the other", s.precision, other)
}

// commands are the processes of both sides.
func (s *sides) commands(n *network, folder string, of peer, threads int) ([]*exec.Cmd, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	input, err := json.Marshal(n.input)
	if err != nil {
		return nil, err
	}
	npu := func(precision string) *exec.Cmd {
		cmd := exec.Command(own, "-serve", folder, "-precision", precision)
		cmd.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", threads))
		return cmd
	}
	if s.against == thisTree {
		return []*exec.Cmd{npu(s.precision), npu("f32")}, nil
	}
	model := modelFile
	if s.quantized() {
		model = bytesFile
	}
	theirs := exec.Command("node", of.driver, of.module, filepath.Join(folder, model), fmt.Sprint(threads))
	theirs.Env = append(os.Environ(), "BENCH_INPUT="+string(input))
	return []*exec.Cmd{npu(s.precision), theirs}, nil
}
