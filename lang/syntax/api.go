package syntax

import "github.com/npulang/npu/ir/diag"

// Parse reads a script. The file holds every declaration that could be parsed;
// the list has one syntax error per declaration that could not.
func Parse(src *diag.Source) (*File, diag.List) { panic("being written") }

// ParseExpr reads a single expression, as patterns and command lines have it.
func ParseExpr(src *diag.Source) (Expr, diag.List) { panic("being written") }

// Format prints a file in its canonical layout, comments kept.
func Format(f *File) string { panic("being written") }

// Print shows a file's syntax tree as text, for the stage "ast".
func Print(f *File) string { panic("being written") }
