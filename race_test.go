//go:build race

package npu_test

// underRace is set where the race detector watches: it makes pools forget, so that
// allocations cannot be counted.
const underRace = true
