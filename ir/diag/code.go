package diag

import "strings"

// A Code is one kind of diagnostic, with the page that explains it.
type Code struct {
	Name     string
	Severity Severity
	Doc      string // what it means and how to mend it: paragraphs of text
	Wrong    string // a script, or another text, that gives it; may be empty
	Right    string // the same, mended; may be empty
}

// FindCode returns the row of a name, nil when there is none.
func FindCode(name string) *Code {
	for i := range Codes {
		if Codes[i].Name == name {
			return &Codes[i]
		}
	}
	return nil
}

// CodeNames returns the names of all codes, in the order of the table.
func CodeNames() []string {
	names := make([]string, len(Codes))
	for i, c := range Codes {
		names[i] = c.Name
	}
	return names
}

// Page returns the long form of a code: its name and severity, what it means,
// an example that is wrong and the same mended.
func (c *Code) Page() string {
	var b strings.Builder
	b.WriteString(c.Name + " (" + c.Severity.String() + ")\n\n" + strings.TrimSpace(c.Doc) + "\n")
	for _, example := range []struct{ title, text string }{{"Wrong", c.Wrong}, {"Right", c.Right}} {
		if example.text == "" {
			continue
		}
		b.WriteString("\n" + example.title + ":\n\n")
		for _, line := range strings.Split(strings.Trim(example.text, "\n"), "\n") {
			b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
		}
	}
	return b.String()
}
