package coverage_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bough-dev/bough/internal/coverage"
	"github.com/bough-dev/bough/internal/scan"
)

// TestDeciding: what a state records decides as the scan did, although the files that decided
// are gone; and if they appear again or change, the record follows.
func TestDeciding(t *testing.T) {
	f := newFolder(t)
	tag := "Signature: 8a477f597d28d172789f06886806bc55"
	f.write("cache/CACHEDIR.TAG", tag+"\n", "cache/x", "", "cache/deep/x", "", "uncached/CACHEDIR.TAG", "none", "uncached/x", "",
		"in/v/pyvenv.cfg", "", "in/v/x", "", "bare/HEAD", "", "bare/objects/x", "", "bare/refs/x", "", "half/HEAD", "", "half/objects/x", "",
		"chat/.bough/lock", "", "chat/head.json", "", "chat/x", "",
		"sub/.git/HEAD", "ref: refs/heads/main\n", "sub/.git/objects/x", "", "sub/.git/refs/x", "", "sub/.git/info/exclude", "x\n", "sub/x", "", "sub/y", "")
	live := coverage.Look(f.dir, coverage.Options{Env: env})
	if _, err := scan.Look(t.Context(), f.dir, nil, scan.Options{Rules: live.Rules()}); err != nil {
		t.Fatal(err)
	}
	deciding := live.Deciding()
	var names []string
	for _, s := range deciding {
		names = append(names, s.Name)
		if want := map[string]string{"cache/CACHEDIR.TAG": tag, "sub/.git/info/exclude": "x\n"}[s.Name]; string(s.Data) != want {
			t.Errorf("%s has %q", s.Name, s.Data)
		}
	}
	if want := []string{"bare/HEAD", "bare/objects", "bare/refs", "cache/CACHEDIR.TAG", "chat/.bough", "in/v/pyvenv.cfg", "sub/.git/info/exclude"}; !slices.Equal(names, want) {
		t.Errorf("deciding are %q", names)
	}
	then := coverage.NewJudge(coverage.Recorded(f.dir, nil, nil, coverage.Options{Env: env}), func(dir string, _ []string) []scan.Source {
		return coverage.DecidingIn(deciding, dir)
	})
	held, _ := f.scan("", false)
	filepath.WalkDir(f.dir, func(name string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(f.dir, name)
		if rel = filepath.ToSlash(rel); err == nil && !e.IsDir() && slices.Contains(held, rel) != (then.Verdict(rel, false) == scan.Hold) {
			t.Errorf("%s: the state has it: %t", rel, slices.Contains(held, rel))
		}
		return err
	})
	rules := live.Rules().Enter(".", nil)
	rules.Enter("cache", nil)
	rules.Enter("in", nil).Enter("v", []scan.Source{{Name: "pyvenv.cfg"}, {Name: "CACHEDIR.TAG", Data: []byte(tag)}})
	if got := live.Deciding(); len(got) != len(deciding)-1 {
		t.Errorf("deciding are now %v", got)
	}
}
