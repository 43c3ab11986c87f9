package syntax

// The limits on a source. They are far beyond what a script needs and keep the
// memory that a hostile one can ask for within about a gigabyte.
const (
	MaxBytes   = 64 << 20 // bytes of a source
	MaxTokens  = 4 << 20  // tokens of a source
	MaxNesting = 1000     // brackets open at one place
)

// maxDepth bounds the nesting of expressions that brackets do not bound (the
// condition of an if in the condition of an if, 2 ** -2 ** -2); each bracket
// counts too.
const maxDepth = 2 * MaxNesting
