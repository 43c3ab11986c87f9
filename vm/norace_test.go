//go:build !race

package vm_test

const underRace = false
