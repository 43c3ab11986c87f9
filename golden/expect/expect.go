package expect

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what differs into testdata")

// File compares got with the whole of a file.
func File(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs, which -update accepts (-want +got):\n%s", path, diff)
	}
}

// Archives runs a subtest for each archive of testdata. Sections whose names
// begin with one of the words in inputs are given to run, which returns the
// sections that must follow; the text before the first section stays.
func Archives(t *testing.T, inputs []string, run func(t *testing.T, in txtar.File) []txtar.File) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			want, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := &txtar.Archive{Comment: want.Comment}
			for _, in := range want.Files {
				if word, _, _ := strings.Cut(in.Name, " "); slices.Contains(inputs, word) {
					got.Files = append(append(got.Files, in), run(t, in)...)
				}
			}
			File(t, path, string(txtar.Format(got)))
		})
	}
}

// Section is a section with a text.
func Section(name, text string) txtar.File { return txtar.File{Name: name, Data: []byte(text)} }
