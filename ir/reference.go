package ir

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Signature prints how the language calls op: softmax(x, axis=-1). A name after
// dots stands for any number of values; what is None may be left out, and stands
// behind an attribute that may not: groupnorm(x, groups, weight=None, ...).
func (op *Op) Signature() string {
	var args, attrs []string
	for _, arg := range op.Args {
		name, optional, variadic := ArgKind(arg)
		switch {
		case variadic:
			name = "..." + name
		case optional:
			name += "=None"
		}
		args = append(args, name)
	}
	for _, a := range op.Attrs {
		switch {
		case a.Required && op.Variadic():
			// Nothing can follow any number of values: einsum(spec, ...xs).
			args = slices.Insert(args, len(args)-1, a.Name)
		case a.Variadic && a.Required:
			attrs = append(attrs, "..."+a.Name)
		case a.Required && slices.ContainsFunc(args, mayBeNone):
			args = slices.Insert(args, slices.IndexFunc(args, mayBeNone), a.Name)
		case a.Required:
			attrs = append(attrs, a.Name)
		default:
			attrs = append(attrs, a.Name+"="+languageText(a.Default))
		}
	}
	return op.Name + "(" + strings.Join(append(args, attrs...), ", ") + ")"
}

// mayBeNone reports whether an argument of a signature may be left out.
func mayBeNone(arg string) bool { return strings.HasSuffix(arg, "=None") }

// Variadic reports whether op takes any number of arguments.
func (op *Op) Variadic() bool {
	if len(op.Args) == 0 {
		return false
	}
	_, _, variadic := ArgKind(op.Args[len(op.Args)-1])
	return variadic
}

// languageText prints a default as the language writes it.
func languageText(l Lit) string {
	switch l.Kind {
	case KNone:
		return "None"
	case KString:
		return strconv.Quote(l.Str)
	case KInts:
		if len(l.Ints) == 1 {
			return strconv.FormatInt(l.Ints[0], 10) // one number for a list of one
		}
	}
	return l.String()
}

// kindWords says what an attribute of a kind takes, for people.
var kindWords = map[AttrKind]string{
	KInt:    "an integer",
	KInts:   "an integer or a list of integers",
	KFloat:  "a number",
	KBool:   "true or false",
	KString: "a string",
	KDType:  "a dtype",
	KType:   "a type",
	KDim:    "a size",
	KDims:   "sizes",
	KNum:    "a number or a size",
	KTensor: "a constant",
}

// Reference describes op at length, as Markdown: signature, meaning, arguments,
// attributes, and types of a call for example.
func Reference(op *Op) string {
	var b strings.Builder
	fmt.Fprintf(&b, "    %s\n\n%s.\n", op.Signature(), op.sentence(op.Doc))
	if lines := parameterLines(op); len(lines) > 0 {
		b.WriteString("\n" + strings.Join(lines, "\n") + "\n")
	}
	fmt.Fprintf(&b, "\nClass %s, unit %s%s.\n", op.Class, op.Unit, flagWords(op.Flags))
	if len(op.Aliases) > 0 {
		fmt.Fprintf(&b, "Also written %s.\n", strings.Join(op.Aliases, ", "))
	}
	if example := exampleTypes(op); example != "" {
		fmt.Fprintf(&b, "For example `%s`.\n", example)
	}
	return b.String()
}

// sentence begins a doc with a capital, unless it begins with a formula or a
// value: a parameter of op, a letter, a call, what a colon follows.
func (op *Op) sentence(doc string) string {
	word := doc[:nameLength(doc)]
	formula := word == "" || len(word) == 1 && word != "a" || op.hasParameter(word) ||
		strings.HasPrefix(doc[len(word):], "(") || strings.HasPrefix(doc[len(word):], ":")
	if formula {
		return doc
	}
	return strings.ToUpper(doc[:1]) + doc[1:]
}

func (op *Op) hasParameter(name string) bool {
	for i := range op.Args {
		if op.ArgName(i) == name {
			return true
		}
	}
	return slices.ContainsFunc(op.Attrs, func(a Attr) bool { return a.Name == name })
}

// parameterLines has a line for each argument and attribute.
func parameterLines(op *Op) []string {
	var lines []string
	for _, arg := range op.Args {
		name, optional, variadic := ArgKind(arg)
		what := "a tensor"
		if variadic {
			what = "any number of tensors"
		}
		if op.Over != AnyDType {
			what += " of " + op.Over.String()
		}
		if optional {
			what += "; may be left out"
		}
		lines = append(lines, "- `"+name+"`: "+what)
	}
	for _, a := range op.Attrs {
		lines = append(lines, "- `"+a.Name+"`: "+op.attrWords(a))
	}
	return lines
}

func (op *Op) attrWords(a Attr) string {
	what := kindWords[a.Kind]
	if a.Values != nil {
		what = "one of " + strings.Join(quoteAll(a.Values), ", ")
	}
	switch {
	case a.Required:
	case a.Default.IsNone():
		what += "; may be left out"
	default:
		what += "; " + languageText(a.Default) + " if left out"
	}
	if a.Doc != "" {
		what += ". " + op.sentence(a.Doc)
	}
	return what
}

func quoteAll(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strconv.Quote(w)
	}
	return out
}

// flagWords tells the properties that users may care for.
func flagWords(f Flags) string {
	s := ""
	if f&Commutative != 0 {
		s += ", commutative"
	}
	if f&View != 0 {
		s += ", moves no data"
	}
	if f&Impure != 0 {
		s += ", random"
	}
	return s
}

// exampleTypes shows the types of a legal call: f32[2,3], f32[3] -> f32[2,3].
// Of a few samples, always the same, it takes the first without empty tensors.
func exampleTypes(op *Op) string {
	if op.Sample == nil {
		return ""
	}
	r := rand.New(rand.NewPCG(1, 2))
	example := ""
	for range 50 {
		c := op.Sample(r)
		c.Op = op
		if InferCall(&c) != nil || len(c.Out) == 0 {
			continue
		}
		example = typesText(c.In) + " -> " + typesText(c.Out)
		if len(c.In) == 0 {
			example = typesText(c.Out)
		}
		if len(c.Out[0].Shape) > 0 && !c.Out[0].Elements().Is(0) {
			break
		}
	}
	return example
}
