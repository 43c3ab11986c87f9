package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/npulang/npu"
)

// ours is a process that holds a network in npu, and does what standard input says
// as peer.js does.
type ours struct {
	program *npu.Program
	inputs  map[string]*npu.Tensor
	result  *npu.Tensor
}

// serve is the whole life of the process. The number of threads is that of
// GOMAXPROCS, which its parent has set.
func serve(folder, precision string, in io.Reader, out io.Writer) error {
	say := json.NewEncoder(out)
	o, load, err := open(folder, precision)
	if err != nil {
		return say.Encode(reply{Error: err.Error()})
	}
	defer o.program.Close()
	if err := say.Encode(reply{Load: load.Seconds(), Version: "this tree"}); err != nil {
		return err
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		r, err := o.obey(lines.Bytes())
		if err != nil {
			r.Error = err.Error()
		}
		if err := say.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// open compiles the network, and runs it once, as the first run makes the plan.
func open(folder, precision string) (*ours, time.Duration, error) {
	begin := time.Now()
	p, err := npu.Compile(npu.File(filepath.Join(folder, scriptFile)), npu.Options{Precision: npu.Precision(precision)})
	if err != nil {
		return nil, 0, err
	}
	load := time.Since(begin)
	values, err := readFloats(filepath.Join(folder, inputFile))
	if err != nil {
		return nil, 0, err
	}
	x := npu.FromSlice(p.Inputs()[0].Type.Ints(), values)
	o := &ours{program: p, inputs: map[string]*npu.Tensor{"x": x}}
	return o, load, o.run(1)
}

func (o *ours) run(count int) error {
	for range count {
		results, err := o.program.Run(context.Background(), o.inputs)
		if err != nil {
			return err
		}
		o.result = results["y"]
	}
	return nil
}

// obey does one command: ["run", 3] or ["save", "FILE"].
func (o *ours) obey(line []byte) (r reply, err error) {
	var name string
	var argument json.RawMessage
	if err := json.Unmarshal(line, &[]any{&name, &argument}); err != nil {
		return r, err
	}
	switch name {
	case "run":
		var count int
		if err := json.Unmarshal(argument, &count); err != nil {
			return r, err
		}
		begin := time.Now()
		err = o.run(count)
		r.Seconds = time.Since(begin).Seconds()
		return r, err
	case "save":
		var path string
		if err := json.Unmarshal(argument, &path); err != nil {
			return r, err
		}
		return r, os.WriteFile(path, floatBytes(npu.Of[float32](o.result)), 0o666)
	}
	return r, fmt.Errorf("there is no command %q", name)
}
