package npu

import "runtime"

// takenBytes is what Go has taken from the system and not given back, and what it
// has ever taken.
func takenBytes() (now, most int64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased), int64(m.Sys)
}
