//go:build !linux

package conv_test

import "time"

var start = time.Now()

func now() time.Duration { return time.Since(start) }
