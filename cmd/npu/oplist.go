package main

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/npulang/npu"
)

// Widths of the list of operators: with the gaps, 100 columns.
const (
	signatureWidth = 38
	unitWidth      = 6
	docWidth       = 50
)

// listOps prints the operators group by group.
func listOps(ops []npu.OpSummary) string {
	var b strings.Builder
	for i := 0; i < len(ops); {
		end := i
		for end < len(ops) && ops[end].Group == ops[i].Group {
			end++
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(ops[i].Group + "\n" + groupTable(ops[i:end]) + "\n")
		i = end
	}
	return b.String()
}

func groupTable(ops []npu.OpSummary) string {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "  ", ""
	t.SetStyle(style)
	t.SetColumnConfigs([]table.ColumnConfig{
		column(1, signatureWidth), {Number: 2, WidthMin: unitWidth}, column(3, docWidth),
	})
	for _, op := range ops {
		t.AppendRow(table.Row{op.Signature, op.Unit, op.Doc})
	}
	lines := strings.Split(t.Render(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

func column(number, width int) table.ColumnConfig {
	return table.ColumnConfig{Number: number, WidthMin: width, WidthMax: width, WidthMaxEnforcer: wrap}
}

// wrap breaks a text between words; the lines after the first are indented.
func wrap(line string, width int) string {
	return strings.ReplaceAll(text.WrapSoft(line, width-2), "\n", "\n  ")
}

// markdownOps prints the operators as one Markdown table.
func markdownOps(ops []npu.OpSummary) string {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"group", "operator", "unit", "what it computes"})
	for _, op := range ops {
		t.AppendRow(table.Row{op.Group, op.Signature, op.Unit, op.Doc})
	}
	return t.RenderMarkdown() + "\n"
}
