package device

import "slices"

// A Fact is one number of a row with what there is to say of it.
type Fact struct {
	Group  string // of what it is a number
	Field  string // as in JSON
	Value  int64
	Unit   string
	Doc    string
	Source string // where the number comes from
}

// docs has a row for each field, in the order of the struct.
var docs = []struct{ group, field, unit, doc string }{
	{"cores", "cube_cores", "", "cores with a matrix unit"},
	{"cores", "vector_cores", "", "cores with a vector unit"},
	{"cores", "clock_mhz", "MHz", "clock of both"},
	{"cube", "cube_m", "", "rows of a block that the matrix unit multiplies in a cycle"},
	{"cube", "cube_n", "", "columns of a block"},
	{"cube", "cube_k", "", "depth of a block in f16"},
	{"cube", "cube_k_int8", "", "depth of a block in i8"},
	{"cube", "cube_macs_f16", "/cycle/core", "multiply-adds in f16"},
	{"cube", "cube_macs_hf32", "/cycle/core", "multiply-adds in shortened f32; 0: has none"},
	{"cube", "cube_macs_f32", "/cycle/core", "multiply-adds in f32; 0: has none"},
	{"vector", "lanes_f16", "/cycle/core", "elements in f16"},
	{"vector", "lanes_f32", "/cycle/core", "elements in f32"},
	{"vector", "lanes_slow", "/cycle/core", "elements of exp, ln, sqrt and division"},
	{"memory", "l0a_bytes", "B", "left operand beside the cube, of a core"},
	{"memory", "l0b_bytes", "B", "right operand beside the cube, of a core"},
	{"memory", "l0c_bytes", "B", "accumulators, of a core"},
	{"memory", "l1_bytes", "B", "staging memory of a cube core"},
	{"memory", "ub_bytes", "B", "unified buffer of a vector core"},
	{"memory", "ub_block_bytes", "B", "unit of the unified buffer's access"},
	{"memory", "ub_banks", "", "banks of the unified buffer"},
	{"memory", "ub_bank_bytes", "B", "size of a bank"},
	{"memory", "l2_bytes", "B", "cache that the cores share"},
	{"memory", "memory_bytes", "B", "device memory; 0: what the host has"},
	{"bandwidth", "mem_read", "B/cycle/core", "from device memory"},
	{"bandwidth", "mem_write", "B/cycle/core", "to device memory"},
	{"bandwidth", "l2_read", "B/cycle/core", "from the shared cache; here and below 0 means that there is no such path"},
	{"bandwidth", "l2_write", "B/cycle/core", "to the shared cache"},
	{"bandwidth", "l1_to_l0a", "B/cycle/core", "from L1 to the left operand"},
	{"bandwidth", "l1_to_l0b", "B/cycle/core", "from L1 to the right operand"},
	{"bandwidth", "l0c_to_ub", "B/cycle/core", "from the accumulators to the unified buffer"},
	{"bandwidth", "ub_to_mem", "B/cycle/core", "from the unified buffer to memory"},
	{"bandwidth", "ub_to_l1", "B/cycle/core", "from the unified buffer to L1"},
	{"streams", "streams", "", "streams at a time"},
	{"streams", "events", "", "events at a time"},
	{"streams", "default_streams", "", "streams that a plan has at most, if nobody asks for others"},
	{"streams", "workers", "", "tasks at a time, whatever their units; 0: units are what tasks wait for"},
	{"streams", "sync_ns", "ns", "from a task's end to one on another stream that waits for it"},
	{"streams", "launch_ns", "ns", "head of one launch on all cores"},
	{"transfers", "align_ub", "B", "alignment in unified buffer and L1"},
	{"transfers", "align_l0ab", "B", "alignment of operands beside the cube"},
	{"transfers", "align_l0c", "B", "alignment of accumulators"},
	{"transfers", "align_mem", "B", "best alignment in device memory"},
	{"transfers", "unaligned_percent", "%", "bandwidth that is left at an alignment of 32 bytes"},
	{"transfers", "min_transfer_bytes", "B", "transfers from here on reach full bandwidth"},
	{"transfers", "link_gbps", "Gbit/s", "links to other devices together; 0: the host bus only"},
}

// Facts lists the numbers of a row in the order of the struct.
func (d *Device) Facts() []Fact {
	facts := make([]Fact, len(docs))
	for i, doc := range docs {
		facts[i] = Fact{doc.group, doc.field, fields[i].value(d), doc.unit, doc.doc, d.Source(doc.field)}
	}
	return facts
}

// Fields lists the names of the numbers of a row, as JSON has them.
func Fields() []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

// Clamp brings a number into the bounds of a field; an unknown field has none.
func Clamp(name string, value int64) int64 {
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return value
	}
	return min(max(value, fields[i].min), fields[i].max)
}
