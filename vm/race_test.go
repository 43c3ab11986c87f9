//go:build race

package vm_test

// underRace is set where the race detector watches: it makes pools forget, so that
// allocations cannot be counted.
const underRace = true
