package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSplitGlobal(t *testing.T) {
	const wait = -1 // the setting
	for _, c := range []struct {
		args  []string
		want  global
		rest  []string
		wrong bool
	}{
		{nil, global{wait: wait}, nil, false},
		{[]string{"ls"}, global{wait: wait}, []string{"ls"}, false},
		{[]string{"-w", "here", "ls", "--kind", "root"}, global{dir: "here", wait: wait}, []string{"ls", "--kind", "root"}, false},
		{[]string{"ls", "--workspace=here", "-json"}, global{dir: "here", json: true, wait: wait}, []string{"ls"}, false},
		{[]string{"-w", "--json", "ls"}, global{dir: "--json", wait: wait}, []string{"ls"}, false},
		{[]string{"-w", "a", "-w", "b"}, global{dir: "b", wait: wait}, nil, false},
		{[]string{"append", "--", "--json", "-w"}, global{wait: wait}, []string{"append", "--", "--json", "-w"}, false},
		{[]string{"append", "-", "-w here"}, global{wait: wait}, []string{"append", "-", "-w here"}, false},
		{[]string{"--wait", "2m", "-h", "--version"}, global{wait: 2 * time.Minute, help: true, version: true}, nil, false},
		{[]string{"--wait=0", "-v", "--help"}, global{help: true, version: true}, nil, false},
		{[]string{"--wait=0s", "--json=false"}, global{}, nil, false},
		{[]string{"-w", "", "ls", "--json"}, global{json: true, wait: wait}, []string{"ls"}, true},
		{[]string{"--json=perhaps", "-w"}, global{json: true, wait: wait}, nil, true},
		{[]string{"ls", "--wait"}, global{}, []string{"ls"}, true},
	} {
		g, rest, err := splitGlobal(c.args)
		if g != c.want || !slices.Equal(rest, c.rest) || (err != nil) != c.wrong {
			t.Errorf("splitGlobal(%q) = %+v, %q, %v", c.args, g, rest, err)
		}
	}
}

// TestArrange: the flags of a verb are moved before its arguments, and an argument that is
// also a subcommand counts as one only in the first place, and only if that subcommand has
// flags of its own.
func TestArrange(t *testing.T) {
	p := &program{}
	for _, c := range []struct{ line, want string }{
		{"show Talk --partial", "show --partial -- Talk"},
		{"append Talk - --role user", "append --role user -- Talk -"},
		{"append -- --role", "append -- --role"},
		{"show -^ --partial", "show --partial -- -^"},
		{"diff -~2 @", "diff -- -~2 @"},
		{"agent switch ada tree --partial", "agent switch --partial -- ada tree"},
		{"agent", "agent"},
		{"explore Talk --strategy a --adopt --strategy b", "explore --strategy a --adopt --strategy b -- Talk"},
		{"explore --strategy show Talk --run ls", "explore --strategy show --run ls -- Talk"},
		{"explore show 12 --partial", "explore show --partial -- 12"},
		{"explore evaluate 12 --evaluate best", "explore evaluate --evaluate best -- 12"},
		{"explore resume --adopt 12", "explore resume --adopt -- 12"},
		{"explore", "explore"},
	} {
		args := strings.Fields(c.line)
		if got := strings.Join(arrange(args, p.app(verbOf(args)).Commands), " "); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.line, got, c.want)
		}
	}
}
