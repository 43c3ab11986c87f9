package device

import (
	"slices"
	"strings"
	"testing"
)

// TestFacts checks that every number of every row is told of, with its source.
func TestFacts(t *testing.T) {
	var told []string
	for _, d := range docs {
		told = append(told, d.field)
	}
	if !slices.Equal(told, Fields()) {
		t.Fatalf("told of: %v\nfields:  %v", told, Fields())
	}
	for _, d := range Devices() {
		for i, f := range d.Facts() {
			if f.Field != fields[i].name || f.Value != fields[i].value(d) || f.Doc == "" || f.Group == "" {
				t.Errorf("%s: %+v", d.Name, f)
			}
			if f.Source == "" {
				t.Errorf("%s: nobody says where %s comes from", d.Name, f.Field)
			}
		}
	}
}

// TestSources checks that each row of the table of sources is the one of a number,
// and that what it names is there.
func TestSources(t *testing.T) {
	used := make([]bool, len(sources))
	for _, d := range Devices() {
		for _, f := range fields {
			if i := slices.IndexFunc(sources, func(s source) bool { return s.fits(d.Name, f.name) }); i >= 0 {
				used[i] = true
			}
		}
	}
	for i, s := range sources {
		if !used[i] {
			t.Errorf("nothing comes from %+v", s)
		}
		for _, name := range strings.Fields(s.fields) {
			if !slices.Contains(Fields(), name) {
				t.Errorf("%+v is about %s, which is no number", s, name)
			}
		}
		for _, name := range strings.Fields(s.devices) {
			if Lookup(name) == nil {
				t.Errorf("%+v is about %s, which is no device", s, name)
			}
		}
	}
}

// TestSourcesOfFiles reads rows that say where their numbers come from, or not.
func TestSourcesOfFiles(t *testing.T) {
	rows, err := Parse([]byte(`[
		{"name": "a", "base": "ascend910b4", "cube_cores": 8, "l2_bytes": 7, "sources": {"l2_bytes": "a ruler"}},
		{"name": "b", "base": "a", "events": 9}]`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		row         int
		field, want string
	}{
		{0, "cube_cores", "the device file"}, {0, "l2_bytes", "a ruler"}, {0, "events", "as ascend910b4"},
		{1, "events", "the device file"}, {1, "l2_bytes", "as a"},
	} {
		if got := rows[c.row].Source(c.field); got != c.want {
			t.Errorf("%s of %s comes from %q, want %q", c.field, rows[c.row].Name, got, c.want)
		}
	}
	if again, err := Parse(rows[0].JSON()); err != nil || again[0].Source("l2_bytes") != "a ruler" {
		t.Errorf("sources do not survive the JSON form: %v", err)
	}
}

func TestClamp(t *testing.T) {
	for _, c := range []struct {
		field       string
		value, want int64
	}{{"cube_cores", 0, 1}, {"cube_cores", 3, 3}, {"unaligned_percent", 101, 100}, {"l2_bytes", -1, 0}, {"what", -1, -1}} {
		if got := Clamp(c.field, c.value); got != c.want {
			t.Errorf("%s of %d is %d, want %d", c.field, c.value, got, c.want)
		}
	}
}
