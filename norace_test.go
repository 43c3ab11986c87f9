//go:build !race

package npu_test

const underRace = false
