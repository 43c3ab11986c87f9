package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// A column of the table.
type column struct {
	title string
	cell  func(*result) string
}

var columns = []column{
	{"network", func(r *result) string { return r.Network }},
	{"precision", func(r *result) string { return r.Precision }},
	{"threads", func(r *result) string { return fmt.Sprint(r.Threads) }},
	{"npu ms", func(r *result) string { return milliseconds(r.Ours.MedianMs) }},
	{"other ms", func(r *result) string { return milliseconds(r.Theirs.MedianMs) }},
	{"ratio", func(r *result) string { return fmt.Sprintf("%.3f", r.Ratio) }},
	{"paired", func(r *result) string { return fmt.Sprintf("%.3f", r.Paired) }},
	{"cpu", func(r *result) string { return fmt.Sprintf("%.3f", r.CPU) }},
	{"npu MB", func(r *result) string { return megabytes(r.Ours.PeakRSS) }},
	{"other MB", func(r *result) string { return megabytes(r.Theirs.PeakRSS) }},
	{"load ms", func(r *result) string { return fmt.Sprintf("%.0f/%.0f", r.Ours.LoadMs, r.Theirs.LoadMs) }},
	{"difference", func(r *result) string { return fmt.Sprintf("%.1e", r.MaxRel) }},
	{"1-cosine", func(r *result) string { return fmt.Sprintf("%.1e", 1-r.Cosine) }},
	{"rounds", func(r *result) string { return fmt.Sprintf("%d of %d", r.Rounds, r.Rounds+r.Noisy) }},
}

func milliseconds(ms float64) string { return fmt.Sprintf("%.4g", ms) }

func megabytes(bytes int64) string { return fmt.Sprintf("%.0f", float64(bytes)/1e6) }

// table prints results in columns.
func table(w io.Writer, results []*result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, c := range columns {
		fmt.Fprintf(t, "%s\t", c.title)
	}
	fmt.Fprintln(t)
	for _, r := range results {
		for _, c := range columns {
			fmt.Fprintf(t, "%s\t", c.cell(r))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
