package wide

import "github.com/npulang/npu/vm/kernel/isa"

// direct are the kernels in assembly.
var direct = [kinds]byLevel{
	f64: {
		isa.AVX2: {width: 8, dots: fusedDots, tiles: []func(*tile){
			tile1F64AVX2, tile2F64AVX2, tile3F64AVX2, tile4F64AVX2, tile5F64AVX2, tile6F64AVX2,
		}},
		isa.AVX512: {width: 16, dots: fusedDots, tiles: []func(*tile){
			tile1F64AVX512, tile2F64AVX512, tile3F64AVX512, tile4F64AVX512, tile5F64AVX512, tile6F64AVX512,
			tile7F64AVX512, tile8F64AVX512, tile9F64AVX512, tile10F64AVX512, tile11F64AVX512, tile12F64AVX512,
		}},
	},
	i32: {
		isa.AVX2: {width: 16, dots: dots[int32], tiles: []func(*tile){
			tile1I32AVX2, tile2I32AVX2, tile3I32AVX2, tile4I32AVX2, tile5I32AVX2, tile6I32AVX2,
		}},
		isa.AVX512: {width: 32, dots: dots[int32], tiles: []func(*tile){
			tile1I32AVX512, tile2I32AVX512, tile3I32AVX512, tile4I32AVX512, tile5I32AVX512, tile6I32AVX512,
			tile7I32AVX512, tile8I32AVX512, tile9I32AVX512, tile10I32AVX512, tile11I32AVX512, tile12I32AVX512,
		}},
	},
	i64: {
		isa.AVX2: {width: 8, dots: dots[int64], tiles: []func(*tile){tile1I64AVX2, tile2I64AVX2, tile3I64AVX2}},
		isa.AVX512: {width: 16, dots: dots[int64], tiles: []func(*tile){
			tile1I64AVX512, tile2I64AVX512, tile3I64AVX512, tile4I64AVX512, tile5I64AVX512, tile6I64AVX512,
			tile7I64AVX512, tile8I64AVX512, tile9I64AVX512, tile10I64AVX512, tile11I64AVX512, tile12I64AVX512,
		}},
	},
}
