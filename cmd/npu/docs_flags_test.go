package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var (
	// shownLine is a line of a listing that is a command, with what a comment or the
	// page itself says behind it.
	shownLine = regexp.MustCompile(`(?m)^(?:    |\$ )?(npu [a-z]+ [^\n#]*?)(?: *#.*|  .*)?$`)

	// flagName is a flag in a text. What a page writes as -NAME or -1 is none.
	flagName = regexp.MustCompile("(?:^|[ `(|])(--[a-z][a-z-]+|-[a-zA-Z]\\d?)\\b")

	commandRow = regexp.MustCompile("(?m)^\\| `npu ([a-z]+)[^|]*\\|(.*)\\|$")
	codeSpan   = regexp.MustCompile("`[^`\n]+`")
	anyBlock   = regexp.MustCompile("(?ms)^```.*?^```$")
)

// pages gives the README and the pages of docs by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, path := range append(paths, "../../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	return texts
}

// commandLine is the parser of the command line, with its commands by name.
func commandLine() (*kong.Kong, map[string]*kong.Node) {
	parser := newParser(&cli{}, streams{nil, io.Discard, io.Discard, nil}, func(int) {})
	commands := map[string]*kong.Node{}
	for _, n := range parser.Model.Children {
		commands[n.Name] = n
	}
	return parser, commands
}

// flagsOf are the flags of a command, of what stands below it and of all commands.
func flagsOf(command *kong.Node) []string {
	var names []string
	add := func(n *kong.Node) {
		for _, f := range n.Flags {
			names = append(names, "--"+f.Name)
			if f.Short != 0 {
				names = append(names, "-"+string(f.Short))
			}
		}
	}
	add(command)
	for _, below := range command.Children {
		add(below)
	}
	if command.Parent != nil {
		add(command.Parent)
	}
	return names
}

// TestPagesCommandLines parses every command line of a listing.
func TestPagesCommandLines(t *testing.T) {
	seen := 0
	for path, text := range pages(t) {
		for _, block := range anyBlock.FindAllString(text, -1) {
			for _, m := range shownLine.FindAllStringSubmatch(block, -1) {
				if m[1] == "npu bank 1" { // the first line of a bank
					continue
				}
				seen++
				parser, _ := commandLine()
				if _, err := parser.Parse(plain(words(m[1])[1:])); err != nil {
					t.Errorf("%s: %s: %v", path, m[1], err)
				}
			}
		}
	}
	if seen < 25 {
		t.Errorf("the pages show %d command lines only", seen)
	}
}

// TestPagesFlags: a flag that a page names is one of some command, and one that the
// README's table names is one of the command of its row, or is said to be of many.
func TestPagesFlags(t *testing.T) {
	_, commands := commandLine()
	all := []string{"-O0", "-O1", "-O2", "--help", "--version"}
	for _, c := range commands {
		all = append(all, flagsOf(c)...)
	}
	texts := pages(t)
	for path, text := range texts {
		for _, span := range codeSpan.FindAllString(anyBlock.ReplaceAllString(text, ""), -1) {
			for _, m := range flagName.FindAllStringSubmatch(span, -1) {
				if strings.HasPrefix(m[1], "--") && !slices.Contains(all, m[1]) {
					t.Errorf("%s: no command has the flag %s", path, m[1])
				}
			}
		}
	}
	rows := commandRow.FindAllStringSubmatch(texts["../../README.md"], -1)
	for _, row := range rows {
		command := commands[row[1]]
		if command == nil {
			if row[1] != "help" {
				t.Errorf("README.md: there is no command %s", row[1])
			}
			continue
		}
		delete(commands, row[1])
		for _, span := range codeSpan.FindAllString(row[2], -1) {
			for _, m := range flagName.FindAllStringSubmatch(span, -1) {
				if !strings.HasPrefix(m[1], "-O") && !strings.HasPrefix(span, "`npu ") && !slices.Contains(flagsOf(command), m[1]) {
					t.Errorf("README.md: npu %s has no flag %s", row[1], m[1])
				}
			}
		}
	}
	for name := range commands {
		t.Errorf("README.md: the table lacks npu %s", name)
	}
}
