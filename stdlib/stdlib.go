package stdlib

import "embed"

// FS holds the library's modules, one file each, named as they are imported:
// act.npu, loss.npu, math.npu, nn.npu.
//
//go:embed act.npu loss.npu math.npu nn.npu
var FS embed.FS
