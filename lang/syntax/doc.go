// Package syntax turns the text of a script into a tree, and the tree back into
// text. It knows words, brackets and how operators bind; what a name means, and
// whether types fit, it does not know.
//
// A source in, a tree and diagnostics out:
//
//	graph main(x: f32[B, 4]) -> f32[B, 2] {    FuncDecl main
//	    h = relu(x @ w)                          BindStmt h = PostfixExpr relu(BinaryExpr)
//	    return h                                 ReturnStmt NameExpr
//	}
//
// The way there:
//
//	scanner   characters => tokens; comments apart; which newlines count;
//	          brackets; where one declaration ends and the next begins
//	grammar   tokens of one declaration => rules, by participle, from tags
//	expr      expressions, by precedence, as a production of the grammar
//	decl,     rules => the nodes of ast.go
//	stmt
//
// and back: Format lays a tree out in its one canonical form, comments kept;
// Print shows it for the stage "ast".
//
// What holds:
//   - Any bytes at all give a tree and diagnostics, in time linear in their number
//     and within the limits of limits.go. There is one syntax error per
//     declaration at file level, and the others are parsed.
//   - Recursion is by nesting of brackets only: chains of operators, links, else
//     ifs and statements are lists, of any length, in the tree too.
//   - Every node has its place in the source; without its parentheses, which are
//     a flag.
//   - Format keeps the tree and all comments, and formatting again changes nothing.
//
// Absent on purpose: names and types (package lang), a visitor (a switch over
// the nodes reads better), and recovery within a declaration, which guesses more
// often wrong than right.
package syntax
