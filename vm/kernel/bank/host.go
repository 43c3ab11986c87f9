package bank

import (
	"fmt"
	"hash/fnv"
	"runtime"
	"strings"
	"sync"

	"github.com/npulang/npu/vm/kernel/isa"
)

// Host names this machine in one line, as far as the speed of kernels depends on it:
// the model of the processor, if the system tells it, and the best instruction set.
//
//	amd64, AMD EPYC 9654 96-Core Processor, avx512
var Host = sync.OnceValue(func() string {
	model := strings.Join(strings.Fields(model()), " ")
	if model == "" {
		model = "an unknown processor"
	}
	return runtime.GOARCH + ", " + model + ", " + isa.Best().String()
})

// HostFile is the name of a file for what is measured on this machine, without a
// folder: several machines may share one.
func HostFile() string {
	h := fnv.New32a()
	h.Write([]byte(Host()))
	return fmt.Sprintf("kernels-%08x.bank", h.Sum32())
}
