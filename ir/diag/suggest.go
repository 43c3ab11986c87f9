package diag

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// longestName bounds the names that are compared: the time grows with the
// product of their lengths, and nobody means a name of that length by another.
const longestName = 64

// Suggest returns the candidate that name most likely was meant to be, "" when
// none is near: at most a third of its letters away, or one where it has two and
// the candidate three; every other letter is near a single one. Upper and lower
// case are the same, so that ReLU is near relu. Of equally near ones it is the
// first in the alphabet.
func Suggest(name string, candidates []string) string {
	if all := SuggestAll(name, candidates, 1); len(all) > 0 {
		return all[0]
	}
	return ""
}

// SuggestAll returns up to most candidates that are near name, the nearest
// first, without repeats.
func SuggestAll(name string, candidates []string, most int) []string {
	length := utf8.RuneCountInString(name)
	if length < 2 || length > longestName {
		return nil
	}
	edits := max(length, 3) / 3
	folded := strings.ToLower(name)
	distance := map[string]int{}
	var near []string
	for _, c := range candidates {
		letters := utf8.RuneCountInString(c)
		if _, seen := distance[c]; seen || c == name || length+letters < 5 || abs(letters-length) > edits {
			continue
		}
		if distance[c] = levenshtein.ComputeDistance(folded, strings.ToLower(c)); distance[c] <= edits {
			near = append(near, c)
		}
	}
	sort.Slice(near, func(i, j int) bool {
		if a, b := distance[near[i]], distance[near[j]]; a != b {
			return a < b
		}
		return near[i] < near[j]
	})
	return near[:min(most, len(near))]
}

func abs(n int) int { return max(n, -n) }
