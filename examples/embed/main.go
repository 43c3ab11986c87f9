// Embed puts a script and its weights into one static binary.
//
// Look at: go:embed takes the files in, npu.FS serves them to the compiler, and
// nothing is read from the disk when the program runs.
package main

import (
	"context"
	"embed"
	"fmt"
	"log"

	"github.com/npulang/npu"
)

//go:embed classify.npu classify.safetensors
var files embed.FS

func main() {
	p, err := npu.Compile(npu.FS(files, "classify.npu"), npu.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	points := npu.FromSlice([]int{3, 2}, []float32{1, 1, -1, 2, -1, -1})
	out, err := p.Run(context.Background(), map[string]*npu.Tensor{"x": points})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("quadrants:", npu.Of[int64](out["quadrant"]))
}
