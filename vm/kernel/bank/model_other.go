//go:build !linux && !darwin

package bank

import "os"

// model is what Windows tells of the processor; other systems tell nothing.
func model() string { return os.Getenv("PROCESSOR_IDENTIFIER") }
