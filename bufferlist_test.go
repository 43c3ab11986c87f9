package npu

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu/lower/place"
)

// FuzzReadBuffers: whatever a file holds, reading ends with a list or with
// diagnostics; the plan of a list is sound, and reads back as the same list.
func FuzzReadBuffers(f *testing.F) {
	f.Add("id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\n", int64(64))
	f.Add("\ufeffsize,id,upper,lower,offset\r\n4,\"a, \"\"b\"\"\",9,0,1\r\n", int64(0))
	f.Add("id,lower,upper,size\na,5,5,10\n,0,9,0\n \"x\",0,1,1\n", int64(1))
	f.Add("id,lower,upper,size\na,0,1,1152921504606846976\nb,-1,99999999999999999999,x\n", int64(4096))
	f.Fuzz(func(t *testing.T, text string, align int64) {
		list, err := ReadBuffers(strings.NewReader(text), "list.csv")
		if err != nil {
			var ds Diagnostics
			if !errors.As(err, &ds) || len(ds) == 0 {
				t.Fatalf("%T: %v", err, err)
			}
			ds.Render(&bytes.Buffer{}, false)
			return
		}
		list.Problem.Align = 1 << (uint64(align) % 13)
		plan, err := list.Plan(place.Effort{Steps: 100})
		if err != nil {
			if !strings.Contains(err.Error(), "sum to more") {
				t.Fatal(err)
			}
			return
		}
		var out bytes.Buffer
		if err := errors.Join(list.WriteCSV(&out, plan), list.Draw(&bytes.Buffer{}, plan)); err != nil {
			t.Fatal(err)
		}
		again, err := ReadBuffers(&out, "out.csv")
		if err != nil || !slices.Equal(again.Problem.Buffers, list.Problem.Buffers) {
			t.Fatalf("%v; %v became %v", err, list.Problem.Buffers, again.Problem.Buffers)
		}
	})
}
