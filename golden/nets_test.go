package golden

import (
	"regexp"
	"testing"
)

// mostTasks bounds the tasks of networks that are known to fuse well: what a
// section shows -update can bless, this not.
var mostTasks = map[string]int{
	"nets/bert":         9, // post-norm, as exporters write it
	"nets/bert-nn":      9, // from the library
	"nets/gpt2":         9,
	"nets/llama":        10,
	"nets/mobilenet-v3": 7,
	"nets/resnet":       12,
}

var taskLine = regexp.MustCompile(`(?m)^  t\d+ `)

// TestTasks checks that the networks stay within their bounds.
func TestTasks(t *testing.T) {
	for name, most := range mostTasks {
		f, err := readGolden(name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		text, err := output("tasks").make(f)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(taskLine.FindAllString(text, -1)); n == 0 || n > most {
			t.Errorf("%s: %d tasks, at most %d expected\n%s", f.path, n, most, text)
		}
	}
}
