package syntax

// decls formats the declarations of a file or module. Each is laid out by
// itself, and each statement of a body too, so that a long file needs little
// memory at a time. A declaration with a body of several lines stands between
// empty lines; what leads it, comments without an empty line of their own,
// stands with it.
func (p *formatter) decls(list []Decl, indent int) {
	p.spaced, p.opened = false, true
	for _, d := range list {
		opened := p.opened
		at := p.decl(d, indent)
		several := hasBody(d) && p.out.height(at.head) > 1
		if (several || p.spaced) && !at.apart && !opened {
			p.out.insertBlank(at.first)
		}
		p.spaced = several
	}
}

// A putAt says where among the lines a declaration has come to stand.
type putAt struct {
	first int  // its first line, or that of the comments that lead it
	head  int  // its first line
	apart bool // an empty line of the source stands above it, or among the comments
}

// lead emits the head of a declaration and what leads it.
func (p *formatter) lead(list []entry, indent int) (at putAt) {
	for len(list) > 0 && list[0].trails {
		p.emit(list[0], indent)
		list = list[1:]
	}
	at.first = len(p.out.lines)
	for _, e := range list {
		at.apart = at.apart || e.blank
		at.head = len(p.out.lines)
		p.emit(e, indent)
	}
	return at
}

// height counts the lines from an index on, empty ones before them left out.
func (l *layout) height(from int) int {
	n := len(l.lines) - from
	if n > 0 && l.lines[from] == (textLine{}) {
		n--
	}
	return n
}

func (l *layout) insertBlank(at int) {
	l.lines = append(l.lines, textLine{})
	copy(l.lines[at+1:], l.lines[at:])
	l.lines[at] = textLine{}
}

func hasBody(d Decl) bool {
	switch d.(type) {
	case *FuncDecl, *ModuleDecl, *TestDecl, *RuleDecl:
		return true
	}
	return false
}

// decl formats a declaration. One that has a body of several lines is laid out
// piece by piece, all others as one doc.
func (p *formatter) decl(d Decl, indent int) putAt {
	at := d.Span()
	body := bodyOf(d)
	_, isModule := d.(*ModuleDecl)
	_, isRule := d.(*RuleDecl)
	annots := d.Annotations()
	named := p.afterAnnotations(annots, at.Start)
	if !isModule && !isRule && (body == nil || p.onOneLine(body)) {
		return p.lead(p.item(at.Start, named, at.End, func() doc { return p.wholeDecl(d, body) }), indent)
	}
	brace := p.braceOf(d, body)
	put := p.lead(p.item(at.Start, named, brace, func() doc { return cat(p.declHead(d), str("{")) }), indent)
	p.prev = max(p.prev, brace+1)
	p.opened = true
	p.members(d, body, indent+indentWidth)
	for _, e := range p.commentEntries(at.End - 1) {
		p.emit(e, indent+indentWidth)
	}
	p.prev = max(p.prev, at.End)
	p.out.put(str("}"), indent)
	p.opened = false
	return put
}

// braceOf returns where the body of a declaration begins.
func (p *formatter) braceOf(d Decl, body *Block) int {
	switch d := d.(type) {
	case *ModuleDecl:
		end := d.Name.At.End
		if n := len(d.Params); n > 0 {
			end = d.Params[n-1].At.End
		}
		return p.closer(end, '{')
	case *RuleDecl:
		return p.closer(d.Name.At.End, '{')
	}
	return body.At.Start
}

// members formats what stands between the braces of a declaration.
func (p *formatter) members(d Decl, body *Block, indent int) {
	switch d := d.(type) {
	case *ModuleDecl:
		spaced := p.spaced
		p.decls(d.Members, indent)
		p.spaced = spaced
	case *RuleDecl:
		p.rule(d, indent)
	default:
		for _, s := range body.Stmts {
			at := s.Span()
			for _, e := range p.item(at.Start, at.Start, at.End, func() doc { return p.stmt(s) }) {
				p.emit(e, indent)
			}
		}
	}
}

// onOneLine tells whether a body is to stay on one line if it fits.
func (p *formatter) onOneLine(b *Block) bool {
	return len(b.Stmts) <= 1 && p.oneLine(b.At.Start, b.At.End)
}

func bodyOf(d Decl) *Block {
	switch d := d.(type) {
	case *FuncDecl:
		return d.Body
	case *TestDecl:
		return d.Body
	}
	return nil
}

func (p *formatter) wholeDecl(d Decl, body *Block) doc {
	if body == nil {
		return p.declHead(d)
	}
	return cat(p.declHead(d), p.block(body))
}

// declHead formats a declaration up to its brace; the whole of one without.
func (p *formatter) declHead(d Decl) doc {
	annots := d.Annotations()
	kids := p.annotations(annots, p.afterAnnotations(annots, d.Span().Start))
	switch d := d.(type) {
	case *ImportDecl:
		kids = append(kids, str("import "+p.quoted(d.Path)))
		if d.As.Name != "" {
			kids = append(kids, str(" as "+d.As.Name))
		}
	case *WeightsDecl:
		kids = append(kids, str("weights "+p.quoted(d.Path)))
	case *ParamDecl:
		kids = append(kids, str("param "+d.Name.Name+": "), p.typ(d.Type))
		if d.Init != nil {
			kids = append(kids, str(" = "), p.expr(d.Init))
		}
	case *ConstDecl:
		kids = append(kids, str("const "+d.Name.Name+" = "), p.expr(d.Value))
	case *InstanceDecl:
		kids = append(kids, str(d.Name.Name+" = "), p.expr(d.Value))
	case *FuncDecl:
		kids = append(kids, p.funcHead(d))
	case *ModuleDecl:
		kids = append(kids, str("module "+d.Name.Name), p.params(d.Params, d.Name.At.End), str(" "))
	case *TestDecl:
		kids = append(kids, str("test "+p.quoted(d.Name)+" "))
	case *RuleDecl:
		word := "rewrite "
		if d.Fusion {
			word = "fusion "
		}
		kids = append(kids, str(word+d.Name.Name+" "))
	}
	return cat(kids...)
}

func (p *formatter) funcHead(d *FuncDecl) doc {
	word := "fn "
	if d.Graph {
		word = "graph "
	}
	kids := []doc{str(word + d.Name.Name)}
	if len(d.TypeVars) > 0 {
		vars := ""
		for _, v := range d.TypeVars {
			vars += ", " + v.Name.Name + ": " + v.Kind.Name
		}
		kids = append(kids, str("["+vars[2:]+"]"))
	}
	kids = append(kids, p.params(d.Params, d.Name.At.End))
	if len(d.Results) > 0 {
		kids = append(kids, str(" -> "), p.results(d.Results))
	}
	return cat(append(kids, str(" "))...)
}

// params formats the parameters behind a name that ends at an offset.
func (p *formatter) params(list []Param, off int) doc {
	items := make([]listItem, len(list))
	for i := range list {
		items[i] = listItem{list[i].At, func() doc { return p.param(&list[i]) }}
	}
	end := off
	if len(list) > 0 {
		end = list[len(list)-1].At.End
	}
	return p.list("(", items, ")", off, p.closer(end, ')'))
}

// closer returns where the bracket stands that closes a list whose last item
// ends at an offset: behind a comma, perhaps, and comments.
func (p *formatter) closer(off int, bracket byte) int {
	for off < len(p.text) && p.text[off] != bracket {
		if p.text[off] == '/' {
			for off < len(p.text) && p.text[off] != '\n' {
				off++
			}
			continue
		}
		off++
	}
	return off
}

func (p *formatter) param(r *Param) doc {
	kids := []doc{str(r.Name.Name)}
	equal := "="
	if r.Type != nil {
		kids = append(kids, str(": "), p.typ(r.Type))
		equal = " = "
	}
	if r.Default != nil {
		kids = append(kids, str(equal), p.expr(r.Default))
	}
	return cat(kids...)
}

func (p *formatter) results(list []Result) doc {
	if len(list) == 1 && list[0].Name.Name == "" {
		return rigid(p.typ(list[0].Type)) // the parameters are what a long head breaks
	}
	items := make([]listItem, len(list))
	for i := range list {
		r := &list[i]
		items[i] = listItem{r.At, func() doc {
			if r.Name.Name == "" {
				return p.typ(r.Type)
			}
			return cat(str(r.Name.Name+": "), p.typ(r.Type))
		}}
	}
	return p.list("(", items, ")", list[0].At.Start-1, p.closer(list[len(list)-1].At.End, ')'))
}

// rule formats the lines of a rewrite or fusion.
func (p *formatter) rule(d *RuleDecl, indent int) {
	put := func(start, end int, build func() doc) {
		for _, e := range p.item(start, start, end, build) {
			p.emit(e, indent)
		}
	}
	at := d.Pattern.Span()
	if d.Replacement != nil {
		at = at.To(d.Replacement.Span())
	}
	put(at.Start, at.End, func() doc {
		if d.Replacement == nil {
			return p.expr(d.Pattern)
		}
		return group(p.expr(d.Pattern), nest(str("  =>"), doc{kind: docBreak, text: "  "}, p.expr(d.Replacement)))
	})
	for _, w := range d.Where {
		put(w.Span().Start, w.Span().End, func() doc { return cat(str("where "), p.expr(w)) })
	}
	if d.Safe {
		at := d.safe
		if d.Within != nil {
			at = at.To(d.Within.Span())
		}
		put(at.Start, at.End, func() doc {
			if d.Within == nil {
				return str("safe")
			}
			return cat(str("safe within "), p.expr(d.Within))
		})
	}
}
