//go:build !linux

package npu

// processLimits are none that are known.
func processLimits() []int64 { return nil }
