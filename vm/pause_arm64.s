#include "textflag.h"

// func pause()
// YIELD does nothing on most processors; ISB waits until the pipeline is empty,
// some tens of cycles, as PAUSE does.
TEXT ·pause(SB), NOSPLIT, $0-0
	ISB $15
	RET
