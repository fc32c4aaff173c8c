package convert

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/testtranscript"
)

// TestIdentity: every message that a reader finds in bough's output is matched to its
// original, on the path to it.
func TestIdentity(t *testing.T) {
	for seed := range testsize.Of(2, 10, 200) {
		whole := testtranscript.Tree(rand.New(rand.NewPCG(uint64(seed), 11)))
		for _, f := range Formats {
			if err := identified(f, whole); err != nil {
				t.Errorf("seed %d: %s: %v", seed, f.Name, err)
			}
		}
	}
	for _, from := range Formats {
		if !from.Reads() {
			continue
		}
		paths := fixturesOf(t, from)
		for _, path := range testsize.Sample(t, "files", paths, testsize.Of(2, len(paths), len(paths))) {
			list, _, _ := from.ReadAll(bytes.NewReader(readFile(t, path)))
			for n, whole := range list {
				o := tree.NewOutline(whole)
				for _, m := range whole.Messages {
					if !o.Has(m.Parent) && o.Has(m.Joined) {
						m.Parent = m.Joined // as the tree of a session has it
					}
				}
				for _, f := range Formats {
					if err := identified(f, whole); err != nil {
						t.Errorf("%s %d: %s: %v", path, n, f.Name, err)
					}
				}
			}
		}
	}
}

// identified writes a transcript in a format and checks the matches.
func identified(f *Format, whole *transcript.Transcript) error {
	if !f.Reads() || !f.Writes() || len(whole.Messages) == 0 {
		return nil
	}
	t := *whole
	if !f.Branches {
		t.Messages = tree.NewOutline(&t).PathTo(tree.Leaf(&t))
	}
	w, err := f.Export(&t, testOptions("00000000-0000-4000-8000-00000000abcd"))
	if err != nil {
		return err
	}
	list, _, err := f.ReadAll(bytes.NewReader(w.Data))
	if err != nil {
		return nil // no reader
	}
	of := map[string]string{}
	for _, s := range w.Same {
		of[s.ID] = s.Of
	}
	o := tree.NewOutline(&t)
	reached := map[string]bool{}
	for _, m := range list[0].Messages {
		is, ok := of[m.ID]
		if !ok {
			return fmt.Errorf("%s %q is not recognized", m.Role, m.Text())
		}
		reached[is] = true
		above := o.PathTo(is)
		if m.Parent == "" || of[m.Parent] == "" || f == codexFormat && len(above) == 1 && hasLoss(w.Lost, "branches from before the first prompt") {
			continue // a root of which the log cannot say that it is one
		}
		if !slices.ContainsFunc(above, func(p *transcript.Message) bool { return p.ID == of[m.Parent] }) {
			return fmt.Errorf("%s %q is %s, which does not follow %s\n%s", m.Role, m.Text(), is, of[m.Parent], w.Data)
		}
	}
	for _, m := range t.Messages {
		if len(o.Children[m.ID]) == 0 && !reached[m.ID] && m.Text() != "" && len(w.Lost) == 0 {
			return fmt.Errorf("the leaf %q is not reached\n%s", m.Text(), w.Data)
		}
	}
	return nil
}

// hasLoss reports whether a loss was reported.
func hasLoss(lost []transcript.Loss, what string) bool {
	return slices.ContainsFunc(lost, func(l transcript.Loss) bool { return l.What == what })
}
