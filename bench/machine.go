package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ticks is how many units a second the times of /proc have.
const ticks = 100

// busySeconds is how long all processors have been at work since the machine was
// started, as Linux counts; 0 elsewhere.
func busySeconds() float64 {
	line, _, _ := strings.Cut(readText("/proc/stat"), "\n")
	var sum float64
	for i, word := range strings.Fields(line) {
		// The words are: cpu user nice system idle iowait irq softirq steal.
		if i >= 1 && i <= 8 && i != 4 && i != 5 {
			n, _ := strconv.ParseFloat(word, 64)
			sum += n / ticks
		}
	}
	return sum
}

// ownSeconds is how long a process has been at work.
func ownSeconds(pid int) float64 {
	// Behind the name, which may hold anything, utime and stime are the 12th and
	// 13th words.
	text := readText(fmt.Sprintf("/proc/%d/stat", pid))
	words := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(words) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(words[11], 64)
	system, _ := strconv.ParseFloat(words[12], 64)
	return (user + system) / ticks
}

// peakBytes is the most memory that a process has had resident; 0 where the system
// does not tell. What wait(2) tells would not do: a child begins with its parent's.
func peakBytes(pid int) int64 {
	for line := range strings.Lines(readText(fmt.Sprintf("/proc/%d/status", pid))) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// processor is the name of the machine's processor.
func processor() string {
	for line := range strings.Lines(readText("/proc/cpuinfo")) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// readText is a file of the system; empty where it is not there.
func readText(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(b))
}
