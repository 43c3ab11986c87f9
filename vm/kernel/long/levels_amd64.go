package long

import "github.com/npulang/npu/vm/kernel/isa"

// loops are those of AVX2, which AVX-512 has too: they wait for memory.
var loops = map[isa.Level]map[string]Loop{isa.AVX2: avx2, isa.AVX512: avx2}

var avx2 = map[string]Loop{
	"addLongs": addLongsAVX2, "subLongs": subLongsAVX2, "mulLongs": mulLongsAVX2, "andLongs": andLongsAVX2,
	"orLongs": orLongsAVX2, "xorLongs": xorLongsAVX2, "notLongs": notLongsAVX2, "negLongs": negLongsAVX2,
	"absLongs": absLongsAVX2, "reluLongs": reluLongsAVX2, "maxLongs": maxLongsAVX2, "minLongs": minLongsAVX2,
	"equalLongs": equalLongsAVX2, "unequalLongs": unequalLongsAVX2, "lessLongs": lessLongsAVX2,
	"lessSameLongs": lessSameLongsAVX2, "truthLongs": truthLongsAVX2, "whereLongs": whereLongsAVX2,
	"addDoubles": addDoublesAVX2, "subDoubles": subDoublesAVX2, "mulDoubles": mulDoublesAVX2,
	"divDoubles": divDoublesAVX2, "negDoubles": negDoublesAVX2, "absDoubles": absDoublesAVX2,
	"sqrtDoubles": sqrtDoublesAVX2, "rsqrtDoubles": rsqrtDoublesAVX2,
	"reciprocalDoubles": reciprocalDoublesAVX2, "squareDoubles": squareDoublesAVX2,
	"reluDoubles": reluDoublesAVX2, "signDoubles": signDoublesAVX2, "roundDoubles": roundDoublesAVX2,
	"floorDoubles": floorDoublesAVX2, "ceilDoubles": ceilDoublesAVX2, "truncDoubles": truncDoublesAVX2,
	"equalDoubles": equalDoublesAVX2, "unequalDoubles": unequalDoublesAVX2, "lessDoubles": lessDoublesAVX2,
	"lessSameDoubles": lessSameDoublesAVX2, "longsOfInts": longsOfIntsAVX2, "longsOfUints": longsOfUintsAVX2,
	"doublesOfInts": doublesOfIntsAVX2, "doublesOfFloats": doublesOfFloatsAVX2, "intsOfLongs": intsOfLongsAVX2,
	"floatsOfDoubles": floatsOfDoublesAVX2,
}

var functions = map[isa.Level]map[string]function{isa.AVX2: functionsAVX2, isa.AVX512: functionsAVX2}

var functionsAVX2 = map[string]function{"exp": expDoublesAVX2, "log": logDoublesAVX2, "sigmoid": sigmoidDoublesAVX2, "silu": siluDoublesAVX2}

var casts = map[isa.Level]map[string]Cast{isa.AVX2: castsAVX2, isa.AVX512: castsAVX2}

var castsAVX2 = map[string]Cast{"longsOfFloats": longsOfFloatsAVX2, "floatsOfLongs": floatsOfLongsAVX2}
