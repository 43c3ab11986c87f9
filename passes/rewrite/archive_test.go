package rewrite

import (
	"bytes"
	"regexp"
	"strings"
)

// An archive is the text format of testdata: a comment, then sections that each
// begin with a line -- NAME --.
type archive struct {
	comment  string
	sections []section
}

type section struct{ name, text string }

var header = regexp.MustCompile(`(?m)^-- (.+) --\n`)

func parseArchive(text string) *archive {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	heads := header.FindAllStringSubmatchIndex(text, -1)
	a := &archive{comment: text}
	for i, h := range heads {
		if i == 0 {
			a.comment = text[:h[0]]
		}
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		a.sections = append(a.sections, section{text[h[2]:h[3]], text[h[1]:end]})
	}
	return a
}

func (a *archive) format() string {
	var b bytes.Buffer
	b.WriteString(a.comment)
	for _, s := range a.sections {
		b.WriteString("-- " + s.name + " --\n" + s.text)
		if s.text != "" && !strings.HasSuffix(s.text, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
