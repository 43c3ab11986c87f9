package isa

import "fmt"

// A Level is a set of instructions.
type Level uint8

// The levels. Those of one architecture ascend.
const (
	Portable Level = iota
	AVX2
	AVX512
	NEON
)

// A level's row: its name as `--isa` and the names of kernels have it, and the
// floats of four bytes in a register.
var rows = [...]struct {
	name  string
	lanes int
}{
	Portable: {"portable", 1},
	AVX2:     {"avx2", 8},
	AVX512:   {"avx512", 16},
	NEON:     {"neon", 4},
}

func (l Level) String() string { return rows[l].name }

// Lanes is how many floats of four bytes a register holds.
func (l Level) Lanes() int { return rows[l].lanes }

// Has reports whether this processor runs the level.
func Has(l Level) bool { return has[l] }

// Best is the highest level of this processor.
func Best() Level { return best }

// Levels lists those of this processor, Portable first.
func Levels() []Level {
	var list []Level
	for l := range rows {
		if has[l] {
			list = append(list, Level(l))
		}
	}
	return list
}

// Parse finds a level by its name; "auto" and "" are the best one. It refuses what
// this processor does not have.
func Parse(name string) (Level, error) {
	if name == "" || name == "auto" {
		return Best(), nil
	}
	for l, row := range rows {
		if row.name != name {
			continue
		}
		if !has[l] {
			return 0, fmt.Errorf("this processor does not have %s; it has %v", name, Levels())
		}
		return Level(l), nil
	}
	return 0, fmt.Errorf("there is no instruction set %q; this processor has %v", name, Levels())
}

// Named finds a level by its name, also one that this processor does not have.
func Named(name string) (l Level, ok bool) {
	for l, row := range rows {
		if row.name == name {
			return Level(l), true
		}
	}
	return 0, false
}

var best = func() Level {
	list := Levels()
	return list[len(list)-1]
}()
