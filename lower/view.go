package lower

import (
	"fmt"
	"strings"

	"github.com/npulang/npu/ir"
)

// view gives the results of v the memory of its argument, if they are parts of
// it as they lie there. That costs no task; the base lives as long as its views.
// done is false if v has to be computed.
func (b *builder) view(v *ir.Value, c *ir.Call) (done bool, err error) {
	at, ok := c.Within()
	if !ok {
		return false, nil
	}
	of, err := b.lookup(v.Args[0])
	if err != nil || !b.plan.shows(of, c, at) {
		return false, err
	}
	var made []string
	for i, t := range c.Out {
		if r := b.result(v, i); r != nil {
			b.buffers[r] = b.part(of, at[i], t, b.names[r])
			made = append(made, b.names[r])
		}
	}
	b.note(made, fmt.Sprintf("%s of %s%s", v.Op.Name, b.plan.name(of), from(at)))
	return true, nil
}

// from says where the only part of a value begins, unless at the start.
func from(at []int64) string {
	if len(at) != 1 || at[0] == 0 {
		return ""
	}
	return fmt.Sprintf(" from byte %d on", at[0])
}

// shows reports whether parts of a buffer can be read there: they lie inside, and
// their elements where elements of their type may lie.
func (p *Plan) shows(of int, c *ir.Call, at []int64) bool {
	base := &p.Buffers[of]
	for i, t := range c.Out {
		n, _ := t.Bytes().Const()
		if at[i]+n > base.Size || (base.At+at[i])%int64(t.DType.Size()) != 0 {
			return false
		}
	}
	return true
}

// part adds a buffer that is a part of another from a byte on.
func (b *builder) part(of int, at int64, t ir.Type, name string) int {
	p := b.plan
	root := p.Root(of)
	id := b.buffer(Buffer{Space: p.Buffers[root].Space, Slot: p.Buffers[root].Slot, Type: t, Name: name})
	p.Buffers[id].Base, p.Buffers[id].At = root, p.Buffers[of].At+at
	p.keepRoot(id)
	return id
}

// isWhole reports whether a buffer is all of the memory that it lies in.
func (p *Plan) isWhole(id int) bool {
	return p.Buffers[id].At == 0 && p.Buffers[id].Size == p.Buffers[p.Root(id)].Size
}

func (b *builder) note(made []string, how string) {
	b.plan.Views = append(b.plan.Views, View{strings.Join(made, " "), how})
}

// writeViews lists the values that are no tasks, below those that are.
func (p *Plan) writeViews(out *page) {
	if rows := p.viewRows("", nil); len(rows) > 0 {
		out.line("views")
		out.columns("  ", []column{{list: true}}, rows)
	}
}

func (p *Plan) viewRows(prefix string, rows [][]string) [][]string {
	for _, v := range p.Views {
		rows = append(rows, []string{prefix + v.Made, v.How})
	}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		if t.Region == nil || t.Region.Kind == Fused {
			continue
		}
		for k, body := range t.Region.Bodies {
			rows = body.viewRows(fmt.Sprintf("%st%d.%s", prefix, i, regionLabels[t.Region.Kind][k]), rows)
		}
	}
	return rows
}
