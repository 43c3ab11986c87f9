package npu

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/kernel/bank"
	"github.com/npulang/npu/vm/kernel/isa"
)

// BankOff as Options.Bank reads no bank.
const BankOff = "off"

// BankPath is the file in which TuneKernels keeps what it has found on this machine,
// and from which programs take it, where Options.Bank is empty: in the user's cache,
// under a name that tells machines apart. The error is that the system knows no such
// folder.
func BankPath() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "npu", bank.HostFile()), nil
}

// readBank reads the bank that the options name. Without one, and where it can't be
// used, it is nil; the warning says why, unless nobody has asked for it by name and it
// is not there.
func (o *Options) readBank() (*bank.Bank, *Diagnostic) {
	path := o.Bank
	if path == BankOff || kernelKinds[o.Kernels] == kernel.Reference {
		return nil, nil
	}
	if path == "" {
		var err error
		if path, err = BankPath(); err != nil {
			return nil, nil
		}
	}
	text, err := readFile(path)
	if err != nil {
		if o.Bank == "" && errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, unusedBank(path, reasonOf(err))
	}
	b, err := bank.Parse(text, bank.Host())
	if err != nil {
		return nil, unusedBank(path, err.Error())
	}
	return b, nil
}

// reasonOf is what the system says without the name of the file.
func reasonOf(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return err.Error()
}

func unusedBank(path, why string) *Diagnostic {
	return &Diagnostic{Severity: diag.Warning, Code: "unused-bank", Subject: path,
		Message: "the bank of tuned kernels is not used: " + why,
		Helps:   []string{"npu tune FILE measures on this machine and writes one; --bank off goes without"}}
}

// bankKey is under what a bank has a body of this program.
func bankKey(o *kernel.Options, body string) bank.Key {
	level := o.Level
	if o.Kind == kernel.Generic {
		level = isa.Portable
	}
	return bank.Key{Level: level.String(), Threads: max(1, o.Threads), Body: body}
}

// chooseBy lets a bank choose kernels.
func chooseBy(b *bank.Bank, o *kernel.Options) func(*kernel.Body) string {
	if b == nil || b.Len() == 0 {
		return nil
	}
	of := *o
	return func(body *kernel.Body) string {
		e, _ := b.Find(bankKey(&of, body.String()))
		return e.Candidate
	}
}
