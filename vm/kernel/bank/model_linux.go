package bank

import (
	"os"
	"strings"
)

// model reads what the kernel tells of the first processor: on amd64 its name, on arm64
// who made it and the number of the part.
func model() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), "\n\n")
	var words []string
	for line := range strings.Lines(first) {
		name, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(name) {
		case "model name", "CPU implementer", "CPU part":
			words = append(words, strings.TrimSpace(value))
		}
	}
	return strings.Join(words, " ")
}
