package place

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := newOrdered[int]()
		var keys []key
		for i := range rapid.IntRange(0, 200).Draw(t, "steps") {
			k := key{rapid.Int64Range(0, 20).Draw(t, "a"), rapid.Int64Range(0, 3).Draw(t, "b")}
			at, there := slices.BinarySearchFunc(keys, k, compareKeys)
			if there {
				o.remove(k)
				keys = slices.Delete(keys, at, at+1)
			} else {
				o.insert(k, i)
				keys = slices.Insert(keys, at, k)
			}
			probe := key{rapid.Int64Range(-1, 21).Draw(t, "probe"), 1}
			at, _ = slices.BinarySearchFunc(keys, probe, compareKeys)
			if k, _, ok := o.ceil(probe); ok != (at < len(keys)) || ok && k != keys[at] {
				t.Fatalf("ceil(%v) = %v, %v in %v", probe, k, ok, keys)
			}
			if k, _, ok := o.below(probe); ok != (at > 0) || ok && k != keys[at-1] {
				t.Fatalf("below(%v) = %v, %v in %v", probe, k, ok, keys)
			}
		}
	})
}

func compareKeys(a, b key) int {
	switch {
	case a.less(b):
		return -1
	case b.less(a):
		return 1
	}
	return 0
}

// TestArena checks every step of random takes and gives against a list of what
// is taken.
func TestArena(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type block struct{ at, size int64 }
		a := newArena()
		var taken []block
		for range rapid.IntRange(0, 150).Draw(t, "steps") {
			if len(taken) > 0 && rapid.IntRange(0, 2).Draw(t, "give") > 0 {
				i := rapid.IntRange(0, len(taken)-1).Draw(t, "which")
				a.give(taken[i].at, taken[i].size)
				taken = slices.Delete(taken, i, i+1)
				continue
			}
			size := 64 * rapid.Int64Range(0, 9).Draw(t, "size")
			b := block{a.take(size), size}
			if b.at < 0 || b.at+b.size > a.end {
				t.Fatalf("%v lies outside of %d bytes", b, a.end)
			}
			for _, c := range taken {
				if b.at < c.at+c.size && c.at < b.at+b.size {
					t.Fatalf("%v and %v overlap", b, c)
				}
			}
			taken = append(taken, b)
		}
		for _, b := range taken {
			a.give(b.at, b.size)
		}
		// All free: one block, from which all that was can be taken again.
		if a.end > 0 && (len(a.byStart) != 1 || a.byStart[0] != a.end) {
			t.Fatalf("free blocks were not joined: %v of %d", a.byStart, a.end)
		}
	})
}

func TestArenaTakesTheBestFit(t *testing.T) {
	a := newArena()
	for _, size := range []int64{256, 64, 128, 64, 512, 64} {
		a.take(size)
	}
	a.give(0, 256)
	a.give(320, 128)
	a.give(512, 512)
	if at := a.take(128); at != 320 {
		t.Errorf("128 bytes go to %d, not into the block of 128 at 320", at)
	}
	if at := a.take(192); at != 0 {
		t.Errorf("192 bytes go to %d, not into the block of 256 at 0", at)
	}
	if at := a.take(1024); at != 1088 || a.end != 1088+1024 {
		t.Errorf("1024 bytes go to %d of %d", at, a.end)
	}
}

// TestTenancy compares with one owner for each byte.
func TestTenancy(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		tenants, owner := newTenancy(), make([]int, 64)
		for i := range owner {
			owner[i] = -1
		}
		for b := range 60 {
			lo := r.IntN(63)
			hi := lo + 1 + r.IntN(min(20, 64-lo))
			var want []int
			for i := lo; i < hi; i++ {
				if owner[i] >= 0 {
					want = append(want, owner[i])
				}
				owner[i] = b
			}
			slices.Sort(want)
			want = slices.Compact(want)
			if got := tenants.move(int64(lo), int64(hi), b); !slices.Equal(got, want) {
				t.Fatalf("%d moves to %d..%d: before were %v, want %v", b, lo, hi, got, want)
			}
		}
	}
}
