package npu

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm"
	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/kernel/isa"
)

// A Packing says for which processors a compiled file holds weights packed, beside
// the plain ones: in the layout that products and convolutions read, so that loading
// the file packs nothing, and processes that run it share the memory. A file packed
// for others runs everywhere: what does not fit is packed when it is loaded.
type Packing string

// The packings. The empty one is PackNone: packed weights make a file about twice as
// large.
const (
	PackNone     Packing = "none"
	PackHost     Packing = "host" // the best of this processor
	PackPortable Packing = "portable"
	PackAVX2     Packing = "avx2"
	PackAVX512   Packing = "avx512"
	PackNEON     Packing = "neon"
)

// AllPackings lists them.
var AllPackings = []Packing{PackNone, PackHost, PackPortable, PackAVX2, PackAVX512, PackNEON}

// CheckPacking refuses a packing that there is not. Compile asks it first.
func (o *Options) CheckPacking() error { return checkName("packing", o.Pack, AllPackings) }

// level is the instruction set of a packing; ok is false for none.
func (p Packing) level() (l isa.Level, ok bool) {
	if p == PackHost {
		return isa.Best(), true
	}
	return isa.Named(string(p))
}

// pack adds packed weights to a compiled file.
func (p *Program) pack(f *bytecode.File) error {
	level, ok := p.opts.Pack.level()
	if !ok {
		return nil
	}
	ask := level
	if !isa.Has(ask) {
		ask = isa.Best() // what is wanted at a level does not depend on which one asks
	}
	wanted, err := p.wanted(f.Program, ask)
	if err != nil {
		return err
	}
	of := map[*byte]int{}
	for i, w := range f.Valued() {
		if len(w.Data) > 0 {
			of[unsafe.SliceData(w.Data)] = i
		}
	}
	seen := map[string]bool{}
	for _, want := range wanted {
		i, ok := of[unsafe.SliceData(want.Of.Data)]
		layout := want.At(level)
		key := fmt.Sprint(i, " ", layout.Name)
		if !ok || layout.Floats == 0 || seen[key] {
			continue
		}
		seen[key] = true
		f.Packs = append(f.Packs, bytecode.Packed{Of: i, Layout: layout.Name, Size: 4 * int64(layout.Floats),
			Make: func(dst []byte) { layout.Pack(floatsOf(dst)) }})
	}
	return nil
}

// wanted lists the constants that kernels of a level pack, which this processor has. Of a program with symbols they are
// those of one plan: layouts hardly ever depend on sizes that are not fixed.
func (p *Program) wanted(code *bytecode.Program, level isa.Level) ([]kernel.Want, error) {
	if code == nil {
		var err error
		if code, err = p.anyPlan(); err != nil {
			return nil, err
		}
	}
	packs := &kernel.Packs{Dry: true}
	m, err := vm.Load(code, p.weight, vm.Options{Kernels: &kernel.Options{Kind: kernel.Fast, Level: level, Packs: packs}})
	if err != nil {
		return nil, err
	}
	m.Close()
	return packs.Wanted(), nil
}

// anyPlan plans for the sizes of listings, or for some others if the graph does not
// have these.
func (p *Program) anyPlan() (*bytecode.Program, error) {
	env, err := listingEnv(p.fn, &p.opts)
	if err != nil {
		return nil, err
	}
	code, err := p.code(env)
	for _, size := range []int64{1, 8} {
		if err == nil {
			break
		}
		for _, name := range symbolsOf(p.fn) {
			env[name] = size
		}
		code, err = p.code(env)
	}
	if err == nil {
		return code, nil
	}
	d := *AsDiagnostic(runError(err))
	d.Notes = append(d.Notes, "weights are packed for one plan, here for "+strings.TrimSpace(envKey(env)))
	d.Helps = append(d.Helps, "give bounds that are sizes which the graph can have (--max, Options.MaxDims), or leave --pack out")
	return nil, Diagnostics{&d}
}

// addPacks gives the kernels what a compiled file has packed.
func addPacks(packs *kernel.Packs, f *bytecode.File) {
	of := f.Valued()
	for i := range f.Packs {
		p := &f.Packs[i]
		w := of[p.Of]
		if len(p.Data) == 0 || len(p.Data)%4 != 0 || len(w.Data) == 0 {
			continue
		}
		packs.Add(&tensor.T{DType: w.Type.DType, Shape: w.Type.Shape, Data: w.Data}, p.Layout, floatsOf(p.Data))
	}
}

// floatsOf views bytes that begin at a multiple of 4 as floats.
func floatsOf(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}
