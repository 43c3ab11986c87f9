//go:build !amd64

package long

import "github.com/npulang/npu/vm/kernel/isa"

var loops map[isa.Level]map[string]Loop

var functions map[isa.Level]map[string]function

var casts map[isa.Level]map[string]Cast
