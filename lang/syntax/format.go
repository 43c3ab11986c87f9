package syntax

import (
	"sort"
	"strings"
)

// Format prints a file in its canonical layout: four spaces of indentation, one
// space around operators, lines of up to 100 characters where the text can be
// broken, at most one empty line in a row. Comments keep their place; one
// within an expression that has no place for it goes above its statement. What
// the user decides is kept: a block on one line, an annotation on a line of its
// own, parentheses, empty lines.
//
// The result parses to the same tree, and formatting it again changes nothing.
// A file with syntax errors lacks what could not be parsed: format only what
// parses.
func Format(f *File) string {
	p := &formatter{file: f}
	if f.Src != nil {
		p.text = f.Src.Text
	}
	p.decls(f.Decls, 0)
	for _, e := range p.commentEntries(len(p.text) + 1) {
		p.emit(e, 0)
	}
	return p.out.String()
}

// A formatter turns a tree into docs, and takes the comments along in the order
// of the source.
type formatter struct {
	file *File
	text string
	out  layout
	next int // the comment that comes next
	prev int // where in the source the thing before ended; comments count

	homeless []Comment // within the statement at hand, where no list or block takes them

	opened bool // nothing stands yet in what the lines belong to
	spaced bool // the declaration before has a body of several lines
}

// commentsBefore takes the comments that begin before an offset.
func (p *formatter) commentsBefore(off int) []Comment {
	rest := p.file.Comments[p.next:]
	n := sort.Search(len(rest), func(i int) bool { return rest[i].At.Start >= off })
	p.next += n
	return rest[:n]
}

// newlines counts the newlines of the source between two offsets, up to 2.
func (p *formatter) newlines(from, to int) int {
	if from < 0 || from >= to || to > len(p.text) {
		return 0
	}
	gap := p.text[from:to]
	i := strings.IndexByte(gap, '\n')
	switch {
	case i < 0:
		return 0
	case strings.IndexByte(gap[i+1:], '\n') < 0:
		return 1
	}
	return 2
}

// oneLine tells whether the source has a range on one line.
func (p *formatter) oneLine(from, to int) bool { return p.newlines(from, to) == 0 }

// An entry is a thing on lines of its own: a comment, a statement, a
// declaration.
type entry struct {
	d      doc
	blank  bool // an empty line stands before it
	trails bool // it is a comment at the end of the line before
	stmt   bool // it is no comment
}

// commentEntries makes entries of the comments before an offset.
func (p *formatter) commentEntries(off int) (list []entry) {
	for _, c := range p.commentsBefore(off) {
		gap := p.newlines(p.prev, c.At.Start)
		// A comment that begins the file stands behind nothing.
		trails := gap == 0 && p.prev > 0
		list = append(list, entry{d: str(c.Text), blank: gap > 1, trails: trails})
		p.prev = max(p.prev, c.At.End)
	}
	return list
}

// item makes entries of a thing between two offsets, with the comments before
// it, and those within it that its doc has not taken. Of the latter, only one
// before the offset named may be documentation.
func (p *formatter) item(start, named, end int, build func() doc) []entry {
	list := p.commentEntries(start)
	blank := p.newlines(p.prev, start) > 1
	p.prev = start
	outer := p.homeless
	p.homeless = nil
	d := build()
	p.leave(end)
	list = p.aboveDocs(list, named, &blank)
	p.homeless = outer
	p.prev = max(p.prev, end)
	return append(list, entry{d: d, blank: blank, stmt: true})
}

// aboveDocs puts the comments that found no home above the documentation that
// ends a list, so that it stays what it is. One of them becomes documentation
// only if it was: before the offset named, where there is no other.
func (p *formatter) aboveDocs(list []entry, named int, blank *bool) []entry {
	if len(p.homeless) == 0 {
		return list
	}
	docs := len(list)
	for docs > 0 && !list[docs-1].trails && strings.HasPrefix(list[docs-1].d.text, "///") {
		docs--
		if list[docs].blank {
			break
		}
	}
	if *blank {
		docs = len(list) // an empty line below them: they document nothing
	} else if docs < len(list) {
		*blank, list[docs].blank = list[docs].blank, false
		named = -1
	}
	var moved []entry
	documents := p.documents(named)
	for _, c := range p.homeless {
		text := c.Text
		if strings.HasPrefix(text, "///") && (c.At.Start < documents || c.At.Start > named) {
			text = "//" + strings.TrimLeft(text, "/")
		}
		moved = append(moved, entry{d: str(text), blank: *blank})
		*blank = false
	}
	return append(list[:docs:docs], append(moved, list[docs:]...)...)
}

// documents returns where the documentation of what is named at an offset
// begins.
func (p *formatter) documents(named int) int {
	if named < 0 || named > len(p.text) {
		return 0
	}
	docs := docComments(p.text, p.file.Comments, named)
	if len(docs) == 0 {
		return named + 1
	}
	return docs[0].At.Start
}

// leave gives up on the comments before an offset: they go above the statement.
func (p *formatter) leave(off int) {
	p.homeless = append(p.homeless, p.commentsBefore(off)...)
}

// emit lays an entry out.
func (p *formatter) emit(e entry, indent int) {
	if n := len(p.out.lines); e.trails && n > 0 {
		last := &p.out.lines[n-1]
		last.comment = strings.TrimSpace(last.comment + " " + e.d.text)
		return
	}
	if e.blank && !p.opened && len(p.out.lines) > 0 {
		p.out.blank()
	}
	p.out.put(e.d, indent)
	p.opened = false
}

// joined puts entries on lines.
func joined(list []entry) doc {
	var kids []doc
	for i, e := range list {
		switch {
		case e.trails && i > 0:
			kids = append(kids, trail(e.d.text))
			continue
		case i > 0 && e.blank:
			kids = append(kids, blankLine)
		case i > 0:
			kids = append(kids, hardBreak)
		}
		kids = append(kids, e.d)
	}
	return cat(kids...)
}

// block formats { statements }: on one line if the source has it so and it
// fits. The head before it ends at p.prev.
func (p *formatter) block(b *Block) doc {
	open, last := b.At.Start, b.At.End-1
	early := p.commentsBefore(open)
	list := p.blockEntries(b, open+1, last)
	if len(list) == 0 && len(early) == 0 {
		return str("{ }")
	}
	sep := hardBreak
	if len(list) == 1 && list[0].stmt && len(early) == 0 && p.oneLine(open, last) {
		sep = lineBreak
	}
	head := []doc{str("{")}
	for len(list) > 0 && list[0].trails {
		head = append(head, trail(list[0].d.text))
		list = list[1:]
	}
	for i := len(early) - 1; i >= 0; i-- {
		list = append([]entry{{d: doc{text: early[i].Text, hard: true}}}, list...)
	}
	if len(list) > 0 {
		head = append(head, nest(sep, joined(list)))
	}
	return group(append(head, sep, str("}"))...)
}

func (p *formatter) blockEntries(b *Block, open, last int) (list []entry) {
	p.prev = max(p.prev, open)
	for _, s := range b.Stmts {
		at := s.Span()
		list = append(list, p.item(at.Start, at.Start, at.End, func() doc { return p.stmt(s) })...)
	}
	if b.Value != nil {
		at := b.Value.Span()
		list = append(list, p.item(at.Start, at.Start, at.End, func() doc { return p.expr(b.Value) })...)
	}
	list = append(list, p.commentEntries(last)...)
	p.prev = max(p.prev, last+1)
	return list
}

// annotations formats what stands before a statement or declaration that goes
// on at an offset.
func (p *formatter) annotations(list []Annotation, then int) []doc {
	var kids []doc
	for i, a := range list {
		next := then
		if i+1 < len(list) {
			next = list[i+1].At.Start
		}
		p.prev = max(p.prev, a.At.Start)
		kids = append(kids, str("@"+a.Name.Name), p.args(a.Args, a.Name.At.End, a.At.End))
		if p.oneLine(a.At.End, next) {
			kids = append(kids, str(" "))
		} else {
			kids = append(kids, hardBreak)
		}
	}
	return kids
}

// afterAnnotations returns where a statement or declaration goes on behind its
// annotations.
func (p *formatter) afterAnnotations(list []Annotation, start int) int {
	if len(list) == 0 {
		return start
	}
	off := list[len(list)-1].At.End
	for off < len(p.text) {
		switch {
		case strings.IndexByte(" \t\r\n", p.text[off]) >= 0:
			off++
		case strings.HasPrefix(p.text[off:], "//"):
			n := strings.IndexByte(p.text[off:], '\n')
			if n < 0 {
				return off
			}
			off += n
		default:
			return off
		}
	}
	return off
}

func (p *formatter) stmt(s Stmt) doc {
	annots := s.Annotations()
	kids := p.annotations(annots, p.afterAnnotations(annots, s.Span().Start))
	switch s := s.(type) {
	case *BindStmt:
		kids = append(kids, str(names(s.Names)+" = "), p.expr(s.Value))
	case *ReturnStmt:
		kids = append(kids, str("return "), p.exprs(s.Values))
	case *ForStmt:
		kids = append(kids, str("for "+s.Var.Name+" in "), p.expr(s.In), str(carried(s.Carry, s.Collect)+" "), p.block(s.Body))
	case *WhileStmt:
		kids = append(kids, str("while "), p.expr(s.Cond), str(carried(s.Carry, nil)+" "), p.block(s.Body))
	case *IfStmt:
		kids = append(kids, p.ifChain(s.Branches, s.Else))
	case *BlockStmt:
		kids = append(kids, p.block(s.Body))
	case *ExpectStmt:
		kids = append(kids, str("expect "), p.expr(s.X))
		if s.Op != "" {
			kids = append(kids, nest(str(" "+s.Op), lineBreak, p.expr(s.Y)))
		}
		if s.Within != nil {
			kids = append(kids, str(" within "), p.expr(s.Within))
		}
		kids = []doc{group(kids...)}
	case *ExpectErrorStmt:
		kids = append(kids, str("expect error "+p.quoted(s.Text)+" "), p.block(s.Body))
	}
	return cat(kids...)
}

// ifChain formats if c { } else if d { } else { }, its blocks all broken when
// one is.
func (p *formatter) ifChain(branches []Branch, orElse *Block) doc {
	kids := make([]doc, 0, 4*len(branches)+2)
	word := "if "
	for _, b := range branches {
		kids = append(kids, str(word), p.expr(b.Cond), str(" "), p.block(b.Body))
		word = " else if "
	}
	if orElse != nil {
		kids = append(kids, str(" else "), p.block(orElse))
	}
	return alike(kids)
}

// alike breaks the blocks of a chain all or none: the breaks of each block's
// group are made those of one group.
func alike(kids []doc) doc {
	for i := range kids {
		if k := &kids[i]; k.kind == docGroup && len(k.kids) > 2 && k.kids[0].text == "{" {
			k.kind = docCat
		}
	}
	return group(kids...)
}

func names(list []Ident) string {
	var b strings.Builder
	for i, n := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(n.Name)
	}
	return b.String()
}

// carried formats the clauses behind the head of a loop.
func carried(carry, collect []Ident) string {
	text := ""
	if len(carry) > 0 {
		text += " carry " + names(carry)
	}
	if len(collect) > 0 {
		text += " collect " + names(collect)
	}
	return text
}
