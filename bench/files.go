package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// The files of a network, in a folder of its own.
const (
	scriptFile  = "net.npu"
	weightsFile = "net.safetensors"
	modelFile   = "net.onnx"
	bytesFile   = "net.int8.onnx" // written when it is asked for
	inputFile   = "x.bin"         // f32, little-endian
	stampFile   = "made"          // written last
)

// layout changes when what is written does, so that older files are made anew.
const layout = "2"

// prepare makes the files of a network, unless they are there; also the model whose
// products are those of bytes, if it is wanted.
func (n *network) prepare(cache string, quantized bool) (folder string, err error) {
	if folder, err = n.files(cache); err != nil || !quantized {
		return folder, err
	}
	path := filepath.Join(folder, bytesFile)
	if _, err := os.Stat(path); err == nil {
		return folder, nil
	}
	if err := n.writeModel(path, true); err != nil {
		return "", fmt.Errorf("network %s: %w", n.name, err)
	}
	return folder, nil
}

// files makes those that every measurement needs.
func (n *network) files(cache string) (folder string, err error) {
	folder = filepath.Join(cache, "networks", n.name)
	stamp := layout + "\n" + n.script
	if made, err := os.ReadFile(filepath.Join(folder, stampFile)); err == nil && string(made) == stamp {
		return folder, nil
	}
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", err
	}
	script := "weights \"" + weightsFile + "\"\n\n" + n.script
	if strings.Contains(n.script, "nn.") {
		script = "import \"nn\"\n\n" + script
	}
	files := []struct {
		name  string
		write func(path string) error
	}{
		{scriptFile, func(path string) error { return os.WriteFile(path, []byte(script), 0o666) }},
		{weightsFile, n.writeWeights},
		{modelFile, func(path string) error { return n.writeModel(path, false) }},
		{inputFile, func(path string) error { return os.WriteFile(path, floatBytes(n.inputValues()), 0o666) }},
		{stampFile, func(path string) error { return os.WriteFile(path, []byte(stamp), 0o666) }},
	}
	for _, f := range files {
		if err := f.write(filepath.Join(folder, f.name)); err != nil {
			return "", fmt.Errorf("network %s: %w", n.name, err)
		}
	}
	return folder, nil
}

func floatBytes(values []float32) []byte {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return raw
}

// readFloats reads a file of f32.
func readFloats(path string) ([]float32, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	values := make([]float32, len(raw)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return values, nil
}

// writeWeights writes a .safetensors file, weight by weight.
func (n *network) writeWeights(path string) error {
	type entry struct {
		DType   string   `json:"dtype"`
		Shape   []int    `json:"shape"`
		Offsets [2]int64 `json:"data_offsets"`
	}
	header, at := map[string]entry{}, int64(0)
	for _, w := range n.weights {
		bytes := 4 * int64(size(w.shape))
		header[w.name] = entry{"F32", w.shape, [2]int64{at, at + bytes}}
		at += bytes
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	for len(text)%64 != 56 { // so that the data begins at a multiple of 64
		text = append(text, ' ')
	}
	return writeTo(path, func(out *bufio.Writer) error {
		out.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text))))
		out.Write(text)
		for i := range n.weights {
			if _, err := out.Write(floatBytes(n.weights[i].values())); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeTo writes a file through a buffer.
func writeTo(path string, write func(*bufio.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	err = write(out)
	if err == nil {
		err = out.Flush()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// modelLimit is how large the weights of a model may be that holds them itself;
// protocol buffers end at 2 GiB, and a file beside is read faster.
const modelLimit = 64 << 20

func (n *network) writeModel(path string, quantized bool) error {
	data := &externalData{path: path + ".data", wanted: n.bytes() > modelLimit}
	model, err := writeOnnx(n, data, quantized)
	if e := data.close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.WriteFile(path, model, 0o666)
}

// externalData is the file beside a model that has its large constants.
type externalData struct {
	path   string
	wanted bool
	file   *os.File // nil before the first write
	at     int64
}

const (
	// page is what constants are aligned to, so that they can be mapped.
	page = 4096
	// smallConstant is the most bytes that stay in the model.
	smallConstant = 4096
)

// takes reports whether a constant belongs into the file.
func (d *externalData) takes(raw []byte) bool { return d.wanted && len(raw) > smallConstant }

// write appends a constant and returns where it lies.
func (d *externalData) write(raw []byte) (offset int64, err error) {
	if d.file == nil {
		if d.file, err = os.Create(d.path); err != nil {
			return 0, err
		}
	}
	offset = (d.at + page - 1) / page * page
	_, err = d.file.WriteAt(raw, offset)
	d.at = offset + int64(len(raw))
	return offset, err
}

func (d *externalData) close() error {
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}
