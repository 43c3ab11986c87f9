package bytecode

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDraft: what is written replaces what was there when it is published, and leaves
// nothing else in the folder, whether drafts have names or not.
func TestDraft(t *testing.T) {
	for _, create := range []func(string) (*draft, error){newDraft, namedDraft} {
		dir := t.TempDir()
		path := filepath.Join(dir, "net.npuc")
		for _, text := range []string{"first", "second"} {
			d, err := create(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.WriteString(text); err != nil {
				t.Fatal(err)
			}
			if err := d.publish(); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); string(got) != text {
				t.Errorf("published %q, there is %q (%v)", text, got, err)
			}
		}
		d, err := create(path)
		if err != nil {
			t.Fatal(err)
		}
		d.discard()
		if list, err := os.ReadDir(dir); len(list) != 1 || err != nil {
			t.Errorf("the folder has %v (%v)", list, err)
		}
	}
}

// TestDraftUnnamed: where drafts have no names, the folder shows none of what is written.
func TestDraftUnnamed(t *testing.T) {
	dir := t.TempDir()
	d, err := newDraft(filepath.Join(dir, "net.npuc"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.discard()
	if d.name != "" {
		t.Skip("this file system has no files without a name")
	}
	if _, err := d.WriteString("half"); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(dir); len(list) > 0 || err != nil {
		t.Errorf("the folder has %v (%v)", list, err)
	}
}
