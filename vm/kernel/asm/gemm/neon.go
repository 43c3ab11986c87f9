package main

import (
	"bytes"
	"fmt"
	"strings"
)

// A panel of NEON is four registers of four floats: V24 to V27. The sums of a tile
// are V0 to V23, at most six rows of one panel; broadcasts of A go through V28 to
// V31. Tiles compute whole panels; what goes beyond the edge of C is up to the
// caller.
//
//	R0-R5    rows of A             R16  bytes of a step along them
//	R6-R9    panels                R17  bytes of a line of theirs
//	R10      C                     R11  bytes of a row of C
//	R12      products to go        R20  the argument
type neonTile struct {
	*bytes.Buffer
	rows, panels int
}

// neonTiles writes a function for each height of a tile.
func neonTiles(s, decl *bytes.Buffer) {
	for rows := 1; rows <= 6; rows++ {
		for _, panels := range []int{1, floats.panelsOf(rows)} {
			if panels > 0 {
				neonTile{s, rows, panels}.write(decl)
			}
		}
	}
}

func (t neonTile) op(format string, args ...any) {
	fmt.Fprintf(t, "\t"+format+"\n", args...)
}

func (t neonTile) label(name string) { fmt.Fprintf(t, "\n%s:\n", name) }

// write emits the function and its declaration.
func (t neonTile) write(decl *bytes.Buffer) {
	name := fmt.Sprintf("tile%dx%dNEON", t.rows, t.panels)
	fmt.Fprintf(decl, "\n// %s computes %d by %d elements of C.\n//\n//go:noescape\nfunc %[1]s(t *tile)\n", name, t.rows, 16*t.panels)
	fmt.Fprintf(t, "\n// func %s(t *tile)\nTEXT ·%[1]s(SB), NOSPLIT, $0-8\n", name)
	t.op("MOVD t+0(FP), R20")
	t.places()
	t.op("MOVD %d(R20), R13", fieldAdd)
	t.op("CBNZ R13, load")
	for i := range 4 * t.rows * t.panels {
		t.op("VEOR V%d.B16, V%[1]d.B16, V%[1]d.B16", i)
	}
	t.op("B multiply")
	t.label("load")
	t.c("VLD1")
	t.label("multiply")
	t.op("CBZ R12, store")
	t.label("step")
	t.product()
	t.op("SUB $1, R12, R12")
	t.op("CBNZ R12, step")
	t.label("store")
	t.bias()
	t.c("VST1")
	t.op("RET")
}

// places loads the fields and finds the rows and panels.
func (t neonTile) places() {
	for _, f := range []struct{ offset, register int }{
		{fieldA, 0}, {fieldRow, 14}, {fieldStep, 16}, {fieldB, 6}, {fieldPanel, 15}, {fieldLine, 17},
		{fieldLdc, 11}, {fieldK, 12},
	} {
		t.op("MOVD %d(R20), R%d", f.offset, f.register)
	}
	for i := 1; i < t.rows; i++ {
		t.op("ADD R14, R%d, R%d", i-1, i)
	}
	for i := 1; i < t.panels; i++ {
		t.op("ADD R15, R%d, R%d", 5+i, 6+i)
	}
}

// registers lists four that follow each other.
func registers(first int) string {
	list := make([]string, 4)
	for i := range list {
		list[i] = fmt.Sprintf("V%d.S4", first+i)
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// sum is the first register of the sums of a row and panel.
func (t neonTile) sum(row, panel int) int { return 4 * (row*t.panels + panel) }

// c loads or stores the tile.
func (t neonTile) c(op string) {
	t.op("MOVD %d(R20), R10", fieldC)
	for i := range t.rows {
		t.op("MOVD R10, R13")
		for p := range t.panels {
			if op == "VLD1" {
				t.op("VLD1.P 64(R13), %s", registers(t.sum(i, p)))
			} else {
				t.op("VST1.P %s, 64(R13)", registers(t.sum(i, p)))
			}
		}
		t.op("ADD R11, R10, R10")
	}
}

// bias adds the bias to the sums, if there is one, as its product with one: the
// assembler has no sum of floats by itself.
func (t neonTile) bias() {
	t.op("MOVD %d(R20), R13", fieldBias)
	t.op("CBZ R13, plain")
	t.op("MOVD $0x3f800000, R14")
	t.op("VDUP R14, V28.S4")
	for p := range t.panels {
		t.op("VLD1.P 64(R13), %s", registers(24))
		for i := range t.rows {
			t.multiply(28, t.sum(i, p))
		}
	}
	t.label("plain")
}

// product is one step along k.
func (t neonTile) product() {
	if t.panels == 1 {
		t.op("VLD1.P (R6)(R17), %s", registers(24))
		for i := range t.rows {
			a := 28 + i%4
			t.op("VLD1R.P (R%d)(R16), [V%d.S4]", i, a)
			t.multiply(a, t.sum(i, 0))
		}
		return
	}
	for i := range t.rows {
		t.op("VLD1R.P (R%d)(R16), [V%d.S4]", i, 28+i)
	}
	for p := range t.panels {
		t.op("VLD1.P (R%d)(R17), %s", 6+p, registers(24))
		for i := range t.rows {
			t.multiply(28+i, t.sum(i, p))
		}
	}
}

// multiply adds a broadcast times the line of a panel.
func (t neonTile) multiply(a, sum int) {
	for v := range 4 {
		t.op("VFMLA V%d.S4, V%d.S4, V%d.S4", a, 24+v, sum+v)
	}
}
