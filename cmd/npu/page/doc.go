// Package page writes the report of npu report: one HTML file that shows a
// graph's way through the passes, and needs nothing else.
//
//	npu.Exploration  =>  page.html + style + scripts + the data as JSON
//
// A column is the graph after a pass that changed it; the first one is the
// script. Values have numbers that are the same in all columns, so that the
// scripts find a value everywhere without knowing anything of graphs. Columns
// hold elements for the lines in view only: a graph of 3,000 lines opens like one
// of thirty.
//
// The page is shut off by its own policy (Content-Security-Policy): it loads
// nothing, sends nothing, and runs only the scripts whose digests the policy
// names. All texts of the graph come as data and are put in as text.
//
// # What is absent on purpose
//
// Libraries, fonts, a server, and state: what was looked at is forgotten when the
// page is closed.
package page
