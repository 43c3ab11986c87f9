package bytecode_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu/codegen"
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower"
)

// straight has two streams, reuse of memory across them, and a view.
const straight = `func @straight in "s.npu" (%x: f32[4,4]) -> (y: f32[4,4], z: f32[16]) {
  %w = param : f32[4,4]
  %a = neg %x : f32[4,4] !stream(vector0) @3:1
  %b = matmul %a, %w : f32[4,4] !stream(cube0) @4:1
  %c = abs %b : f32[4,4] !stream(vector0) @5:1
  %v = reshape %c {dims=[16]} : f32[16] @6:1
  %d = relu %v : f32[16] !stream(vector0) @7:1
  %e = matmul %c, %w : f32[4,4] !stream(cube0) @8:1
  %y = add %e, %b : f32[4,4] !stream(vector0) @9:1
  %z = neg %d : f32[16] !stream(vector0) @10:1
  return %y, %z
}`

// regions has a branch, a loop with rows, and a loop with a condition.
const regions = `func @regions(%c: bool[], %x: f32[4]) -> (y: f32[4], rows: f32[3,4]) {
  %a = neg %x : f32[4]
  %b = if %c, %a, %x : f32[4] then {
    %p = abs %a : f32[4]
    %q = add %p, %x : f32[4]
    yield %q
  } else {
    yield %x
  }
  %d, %rows = loop %b, %a {to=3, carry=1, collect=1} : f32[4], f32[3,4] body(%t: i64[], %h: f32[4], %k: f32[4]) {
    %s = add %h, %k : f32[4]
    yield %s, %h
  }
  %y = loop %d {to=9, carry=1} : f32[4] body(%t: i64[], %h: f32[4]) {
    %n = neg %h : f32[4]
    yield %n
  } cond(%h: f32[4]) {
    %m = max %h : f32[]
    %zero = const 0.0 : f32[]
    %go = less %m, %zero : bool[]
    yield %go
  }
  return %y, %rows
}`

// chained has one stream, and values of one size.
const chained = `func @chained (%x: f32[16]) -> (y: f32[16]) {
  %a = neg %x : f32[16]
  %b = abs %a : f32[16]
  %c = add %b, %a : f32[16]
  %y = neg %c : f32[16]
  return %y
}`

// inPlace puts the result of the nth exec where an argument lies, and lets its
// kernel compute in place of argument i.
func inPlace(p *bytecode.Program, nth int, result, argument string, i int) {
	p.Kernels[find(p, 0, bytecode.Exec, nth).Index].InPlace = i
	buffer(p, result).Offset = buffer(p, argument).Offset
}

// TestInPlace lets a result have the memory of an argument that nothing reads
// afterwards, of either argument, in the program and in a body.
func TestInPlace(t *testing.T) {
	p := copyOf(t, build(t, chained))
	inPlace(p, 2, "%c", "%b", 0)
	if err := bytecode.Verify(p); err != nil {
		t.Errorf("%v\n%s", err, listing(p))
	}
	p = copyOf(t, build(t, chained))
	inPlace(p, 2, "%c", "%a", 1)
	if err := bytecode.Verify(p); err != nil {
		t.Errorf("%v\n%s", err, listing(p))
	}
	if q := copyOf(t, p); listing(p) != listing(q) || !strings.Contains(listing(q), "in place 1") {
		t.Errorf("the argument in whose place a result is made gets lost:\n%s", listing(q))
	}
	p = copyOf(t, build(t, strings.NewReplacer(
		"%a = neg", "%y = fused %x : f32[16] {\n %a = neg", "return", "yield", "}", "}\nreturn %y\n}").Replace(chained)))
	code := p.Functions[1].Streams[0].Code
	p.Kernels[code[2].Index].InPlace = 1
	p.Buffers[code[2].Out[0]].Offset = p.Buffers[code[2].In[1]].Offset
	if err := bytecode.Verify(p); err != nil {
		t.Errorf("%v\n%s", err, listing(p))
	}
}

func build(t testing.TB, text string) *bytecode.Program {
	t.Helper()
	plan, err := lower.Lower(irtest.Parse(t, text), nil, lower.Options{Memory: lower.MemoryConservative})
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := codegen.Emit(plan)
	if err != nil {
		t.Fatal(err)
	}
	// By name, so that the tests know which stream is looked at first.
	slices.SortFunc(p.Functions[0].Streams, func(a, b bytecode.Stream) int { return strings.Compare(a.Name, b.Name) })
	return p
}

// copyOf makes a deep copy.
func copyOf(t testing.TB, p *bytecode.Program) *bytecode.Program {
	t.Helper()
	q, err := bytecode.Decode(bytecode.Encode(p))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func listing(p *bytecode.Program) string {
	var b strings.Builder
	_ = bytecode.Disassemble(&b, p)
	return b.String()
}

// buffer finds the buffer of a value.
func buffer(p *bytecode.Program, name string) *bytecode.Buffer { return &p.Buffers[indexOf(p, name)] }

func indexOf(p *bytecode.Program, name string) int {
	for i := range p.Buffers {
		if p.Buffers[i].Name == name {
			return i
		}
	}
	panic("no buffer " + name)
}

// find returns the nth instruction of an opcode in a function's stream.
func find(p *bytecode.Program, fn int, op bytecode.Opcode, nth int) *bytecode.Instr {
	for s := range p.Functions[fn].Streams {
		code := p.Functions[fn].Streams[s].Code
		for i := range code {
			if code[i].Op == op {
				if nth == 0 {
					return &code[i]
				}
				nth--
			}
		}
	}
	panic("no such instruction")
}

// stream finds the code of a stream of the program.
func stream(p *bytecode.Program, name string) *bytecode.Stream {
	for s := range p.Functions[0].Streams {
		if p.Functions[0].Streams[s].Name == name {
			return &p.Functions[0].Streams[s]
		}
	}
	panic("no stream " + name)
}

// faults are ways in which a planner could be wrong. Each message has to name
// both parties.
var faults = []struct {
	name  string
	text  string
	plant func(*bytecode.Program)
	want  []string
}{
	{"overlap", straight, func(p *bytecode.Program) {
		buffer(p, "%c").Offset = buffer(p, "%b").Offset
		buffer(p, "%v").Offset = buffer(p, "%b").Offset
	}, []string{"exec t2 on vector0", "%c", "over its own argument", "%b"}},
	{"overwritten before its last read", straight, func(p *bytecode.Program) {
		buffer(p, "%d").Offset = buffer(p, "%b").Offset
	}, []string{"reads b", "(%b)", "where b", "(%d) was written over it by exec t3 on vector0"}},
	{"offset beyond the arena", straight, func(p *bytecode.Program) { buffer(p, "%b").Offset = p.Arena },
		[]string{"(%b)", "outside of the arena"}},
	{"offset not aligned", straight, func(p *bytecode.Program) { buffer(p, "%b").Offset += 4 },
		[]string{"(%b)", "not at a multiple of 64"}},
	{"wrong size", straight, func(p *bytecode.Program) { buffer(p, "%b").Size = 32 },
		[]string{"(%b)", "32 bytes", "f32[4,4] has 64"}},
	{"wrong type", straight, func(p *bytecode.Program) {
		buffer(p, "%b").Type = bytecode.Type{DType: tensor.F32, Shape: []int{16}}
	}, []string{"(%b)", "f32[16]", "matmul", "f32[4,4]"}},
	{"view outside of its base", straight, func(p *bytecode.Program) { buffer(p, "%v").Offset += 64 },
		[]string{"(%v)", "outside of", "(%c)"}},
	{"in place without leave", chained, func(p *bytecode.Program) { inPlace(p, 1, "%b", "%a", bytecode.Absent) },
		[]string{"exec t1", "writes b", "(%b)", "over its own argument", "(%a)"}},
	{"in place of an argument that is read again", chained, func(p *bytecode.Program) { inPlace(p, 1, "%b", "%a", 0) },
		[]string{"exec t2", "reads b", "(%a) where", "(%b) was written over it by exec t1"}},
	{"in place of two arguments", chained, func(p *bytecode.Program) {
		inPlace(p, 2, "%c", "%b", 0)
		find(p, 0, bytecode.Exec, 2).In[1] = indexOf(p, "%b")
	}, []string{"exec t2", "(%c)", "over its own argument", "(%b)"}},
	{"in place, but elsewhere", chained, func(p *bytecode.Program) { p.Kernels[find(p, 0, bytecode.Exec, 2).Index].InPlace = 0 },
		[]string{"exec t2", "(%c), which does not lie where", "(%b) does"}},
	{"in place of a type that is not the result's", straight, func(p *bytecode.Program) {
		k := &p.Kernels[find(p, 0, bytecode.Exec, 0).Index]
		k.InPlace, k.In[0] = 0, bytecode.Type{DType: tensor.F32, Shape: []int{2}}
	}, []string{"kernel k5", "f32[4,4] in place of argument 0, which has type f32[2]"}},
	{"in place of no argument", chained, func(p *bytecode.Program) { p.Kernels[0].InPlace = 3 },
		[]string{"kernel k0", "in place of argument 3"}},
	{"wait for nothing", straight, func(p *bytecode.Program) {
		s := stream(p, "vector0")
		for i := range s.Code {
			if s.Code[i].Op == bytecode.Post {
				s.Code = append(s.Code[:i], s.Code[i+1:]...)
				break
			}
		}
	}, []string{"wait e0 on cube0", "no stream posts e0"}},
	{"cycle of waits", straight, func(p *bytecode.Program) {
		// The vector unit waits for the product before it makes its argument.
		s := stream(p, "vector0")
		var moved bytecode.Instr
		for i := range s.Code {
			if s.Code[i].Op == bytecode.Wait {
				moved = s.Code[i]
				s.Code = append(s.Code[:i], s.Code[i+1:]...)
				break
			}
		}
		s.Code = append([]bytecode.Instr{moved}, s.Code...)
	}, []string{"on cube0 never ends", "on vector0, which waits in turn"}},
	{"posted twice", straight, func(p *bytecode.Program) {
		s := stream(p, "vector0")
		s.Code = append([]bytecode.Instr{{Op: bytecode.Post, Index: 0}}, s.Code...)
	}, []string{"post e0 on vector0 posts an event that post e0 on vector0 posts too"}},
	{"event out of range", straight, func(p *bytecode.Program) { find(p, 0, bytecode.Wait, 0).Index = 99 },
		[]string{"names an event that is not there"}},
	{"write to an input", straight, func(p *bytecode.Program) {
		find(p, 0, bytecode.Exec, 0).Out[0] = indexOf(p, "%x")
	}, []string{"%x", "only for reading"}},
	{"read before write", straight, func(p *bytecode.Program) {
		p.Buffers = append(p.Buffers, bytecode.Buffer{
			Space: bytecode.ArenaSpace, Offset: p.Arena, Size: 64, Base: -1, Name: "%new",
			Type: bytecode.Type{DType: tensor.F32, Shape: []int{4, 4}},
		})
		p.Arena += 64
		find(p, 0, bytecode.Exec, 0).In[0] = len(p.Buffers) - 1
	}, []string{"(%new) before anything is written there"}},
	{"output left unwritten", straight, func(p *bytecode.Program) {
		s := stream(p, "vector0")
		n := len(s.Code)
		s.Code = append(s.Code[:n-2:n-2], s.Code[n-1])
	}, []string{"(%z) is not written by the end of the program"}},
	{"missing argument", straight, func(p *bytecode.Program) { find(p, 0, bytecode.Exec, 0).In[0] = bytecode.Absent },
		[]string{"leaves out argument 0"}},
	{"too many arguments", straight, func(p *bytecode.Program) {
		in := find(p, 0, bytecode.Exec, 0)
		in.In = append(in.In, in.In[0])
	}, []string{"arguments", "kernel k"}},
	{"no end", straight, func(p *bytecode.Program) {
		s := stream(p, "cube0")
		s.Code = s.Code[:len(s.Code)-1]
	}, []string{"cube0", "has no end"}},
	{"frame over a capture", regions, func(p *bytecode.Program) {
		f := find(p, 0, bytecode.Branch, 0).Bodies[0]
		shift(p, p.Functions[f].Frame, buffer(p, "%a").Offset)
	}, []string{"branch t1", "over its own argument", "(%a)"}},
	{"body writes outside of its frame", regions, func(p *bytecode.Program) {
		buffer(p, "%p").Offset = buffer(p, "%a").Offset
	}, []string{"(%p)", "neither declares nor holds"}},
	{"body reads what it does not declare", regions, func(p *bytecode.Program) {
		f := find(p, 0, bytecode.Branch, 0).Bodies[0]
		p.Functions[f].Reads = nil
	}, []string{"(%a)", "neither declares nor holds"}},
	{"sides write different buffers", regions, func(p *bytecode.Program) {
		f := find(p, 0, bytecode.Branch, 0).Bodies[1]
		p.Functions[f].Writes = nil
	}, []string{"sides that write different buffers"}},
	{"side leaves its result unwritten", regions, func(p *bytecode.Program) {
		f := find(p, 0, bytecode.Branch, 0).Bodies[1]
		p.Functions[f].Streams[0].Code = p.Functions[f].Streams[0].Code[1:]
	}, []string{"(%b) is not written by the end of the body f"}},
	{"loop without limit", regions, func(p *bytecode.Program) {
		find(p, 0, bytecode.Loop, 0).To = bytecode.Unbounded
	}, []string{"would run for ever"}},
	{"more rounds than rows", regions, func(p *bytecode.Program) { find(p, 0, bytecode.Loop, 0).To = 4 },
		[]string{"stores rows of 16 bytes", "(%rows)", "48 bytes", "4 rounds"}},
	{"carried value without a start", regions, func(p *bytecode.Program) {
		s := stream(p, "s0")
		for i := range s.Code {
			if s.Code[i].Op == bytecode.Loop {
				s.Code = append(s.Code[:i-1], s.Code[i:]...)
				break
			}
		}
	}, []string{"leaves b", "(%d) unwritten when there is no round"}},
	{"a body run from two places", regions, func(p *bytecode.Program) {
		find(p, 0, bytecode.Loop, 1).Bodies[0] = find(p, 0, bytecode.Loop, 0).Bodies[0]
	}, []string{"has been run from elsewhere"}},
	{"a body that runs itself", regions, func(p *bytecode.Program) {
		f := find(p, 0, bytecode.Loop, 0).Bodies[0]
		code := p.Functions[f].Streams[0].Code
		code[0] = bytecode.Instr{Op: bytecode.Call, Bodies: []int{f}}
	}, []string{"which is no body behind"}},
	{"condition of a float", regions, func(p *bytecode.Program) {
		find(p, 0, bytecode.Loop, 1).In[0] = indexOf(p, "%m")
	}, []string{"asks b", "(%m), which has type f32[]"}},
	{"counter outside of the frame", regions, func(p *bytecode.Program) {
		p.Buffers = append(p.Buffers, bytecode.Buffer{
			Space: bytecode.ArenaSpace, Offset: p.Arena, Size: 8, Base: -1, Name: "%far",
			Type: bytecode.Type{DType: tensor.I64, Shape: []int{}},
		})
		p.Arena += 64
		find(p, 0, bytecode.Loop, 0).Out[0] = len(p.Buffers) - 1
	}, []string{"(%far)", "outside of the body's frame"}},
	{"wait in a body", regions, func(p *bytecode.Program) {
		p.Events = 1
		f := find(p, 0, bytecode.Branch, 0).Bodies[0]
		code := p.Functions[f].Streams[0].Code
		p.Functions[f].Streams[0].Code = append([]bytecode.Instr{{Op: bytecode.Wait}}, code...)
	}, []string{"stands in a body"}},
}

// shift moves a frame, and all that lies in it, to another offset.
func shift(p *bytecode.Program, frame int, to int64) {
	f := p.Buffers[frame]
	for i := range p.Buffers {
		b := &p.Buffers[i]
		if b.Space == bytecode.ArenaSpace && b.Offset >= f.Offset && b.Offset+b.Size <= f.Offset+f.Size {
			b.Offset += to - f.Offset
		}
	}
}

func TestFaultsAreFound(t *testing.T) {
	for _, c := range faults {
		t.Run(c.name, func(t *testing.T) {
			p := build(t, c.text)
			if err := bytecode.Verify(p); err != nil {
				t.Fatalf("the program is refused without the fault: %v\n%s", err, listing(p))
			}
			p = copyOf(t, p)
			c.plant(p)
			err := bytecode.Verify(p)
			if err == nil {
				t.Fatalf("the fault is not found:\n%s", listing(p))
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the message has no %q: %v\n%s", part, err, listing(p))
				}
			}
		})
	}
}

// TestPlaceOfFault checks that a fault is reported where the source is.
func TestPlaceOfFault(t *testing.T) {
	p := copyOf(t, build(t, straight))
	buffer(p, "%d").Offset = buffer(p, "%b").Offset
	err := bytecode.Verify(p)
	d, ok := err.(*diag.Diagnostic)
	if !ok || d.Code != "bad-bytecode" || d.Loc.File != "s.npu" || d.Loc.Line != 9 {
		t.Errorf("got %+v", err)
	}
}
