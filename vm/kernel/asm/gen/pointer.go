package gen

import (
	"go/token"
	"go/types"

	"github.com/mmcloughlin/avo/gotypes"
)

// Pointer is the signature func(name *typ) of a function whose only argument points
// at a type of the package that is written for. Its fields are reached by their
// offsets, which a test of that package compares.
func Pointer(pkg, name, typ string) *gotypes.Signature {
	p := types.NewPackage(pkg, pkg)
	named := types.NewNamed(types.NewTypeName(token.NoPos, p, typ, nil), types.NewStruct(nil, nil), nil)
	arg := types.NewVar(token.NoPos, p, name, types.NewPointer(named))
	return gotypes.NewSignature(p, types.NewSignatureType(nil, nil, nil, types.NewTuple(arg), nil, false))
}
