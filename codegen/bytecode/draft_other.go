//go:build !linux

package bytecode

import (
	"errors"
	"os"
)

// unnamed makes nothing: there are no files without a name, or they get none later.
func unnamed(string) *os.File { return nil }

// link is not reached without them.
func link(*os.File, string) error { return errors.ErrUnsupported }
