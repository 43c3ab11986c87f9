package fusion

import (
	"fmt"
	"strings"
)

// writeStatus shows a status as text.
func writeStatus(b *strings.Builder, s Status) {
	fmt.Fprintf(b, "%s: enabled %t, matches %d, effects %d\n", s.Rule, s.Enabled, s.Matches, s.Effects)
	for _, r := range s.Refused {
		fmt.Fprintf(b, "  %s", r.Value)
		if r.Count > 1 {
			fmt.Fprintf(b, " and %d more", r.Count-1)
		}
		fmt.Fprintf(b, "  %s: %s\n", r.Code, r.Detail)
	}
}
