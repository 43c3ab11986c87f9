package bank

import "golang.org/x/sys/unix"

// model is the processor's name.
func model() string {
	name, err := unix.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		return ""
	}
	return name
}
