//go:build !linux

package npu

// residentBytes is the memory of the process, now and at the most. Go does not know
// what of it lies in the machine's; what Go has taken from the system stands for it.
func residentBytes() (now, most int64) { return takenBytes() }
