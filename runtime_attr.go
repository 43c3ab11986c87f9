package npu

import "github.com/npulang/npu/ir"

// IntAttr sets an attribute by its name to one integer or a list of them, such as
// the dims of reshape. It is there for operators that are executed by name, whose
// required attributes have no function of their own as Axis and Eps do; so are
// those that follow, for other values.
func IntAttr(name string, v ...int) Attr { return Attr{name, intsLit(v)} }

// FloatAttr sets an attribute to a number.
func FloatAttr(name string, v float64) Attr { return Attr{name, numLit(v)} }

// StringAttr sets an attribute to a text, such as the spec of einsum.
func StringAttr(name, v string) Attr { return Attr{name, ir.StrLit(v)} }

// BoolAttr sets an attribute to true or false.
func BoolAttr(name string, v bool) Attr { return Attr{name, ir.BoolLit(v)} }

// TypeAttr sets an attribute to a type, such as that of zeros.
func TypeAttr(name string, t Type) Attr { return Attr{name, ir.TypeLit(t)} }
