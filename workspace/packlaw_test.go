package workspace_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// A packLaw is a walk in two workspaces with the same ids, in one of which all checkpoints
// are packed.
type packLaw struct {
	*rand.Rand
	spaces   [2]*space // plain, packed
	lines    []string
	messages [][2]string // session and message
	points   []string
}

// both calls a function in each workspace and returns the result, which must be the same.
func (l *packLaw) both(what string, f func(s *space, packed bool) (string, error)) string {
	var got [2]string
	for i, s := range l.spaces {
		var err error
		if got[i], err = f(s, i == 1); err != nil {
			s.t.Fatalf("%s: %v", what, err)
		}
	}
	if got[0] != got[1] {
		l.spaces[0].t.Fatalf("%s is %q with plain checkpoints and %q with packed ones", what, got[0], got[1])
	}
	return got[0]
}

// ref returns a message, or the newest one of a session.
func (l *packLaw) ref() string {
	if len(l.messages) > 0 && l.IntN(2) == 0 {
		at := l.messages[l.IntN(len(l.messages))]
		return at[0] + "@" + at[1]
	}
	if len(l.points) > 0 && l.IntN(6) == 0 {
		return l.points[l.IntN(len(l.points))]
	}
	return l.lines[l.IntN(len(l.lines))]
}

func (l *packLaw) append() {
	ref := l.ref()
	line, parent, _ := strings.Cut(ref, "@")
	text := fmt.Sprint(l.Uint32(), strings.Repeat(" <&>é\u2028\"", l.IntN(9)))
	var message string
	written := l.both("append", func(s *space, _ bool) (string, error) {
		a, err := s.Append(s.t.Context(), workspace.Append{Session: line, Parent: parent, Text: text})
		if err != nil {
			return "", err
		}
		message = a.Message
		return a.Session + "@" + a.Message, nil
	})
	file, _, _ := strings.Cut(written, "@")
	l.messages = append(l.messages, [2]string{file, message})
}

// edit rewrites the messages of a file, as another program does: with another text, number,
// or white space.
func (l *packLaw) edit() {
	if len(l.messages) == 0 {
		return
	}
	id := l.messages[l.IntN(len(l.messages))][0]
	kind := l.IntN(4)
	digit := fmt.Sprint(l.IntN(10))
	l.both("edit", func(s *space, packed bool) (string, error) {
		name := session.FileName(id)
		data := s.read(name)
		switch kind {
		case 0:
			data = strings.ReplaceAll(data, `"role": "user"`, `"role":  "user"`)
		case 1:
			data = strings.ReplaceAll(data, session.Separator, ",\r\n\t")
		case 2:
			if !strings.Contains(data, `"odd": NaN`) {
				data = strings.Replace(data, `"content": "`+digit, `"odd": NaN, "content": "`+digit, 1)
			}
		case 3:
			data = strings.ReplaceAll(data, `"content": "`+digit, `"content": "0`)
		}
		s.write(name, data)
		return "", nil // continued_to lists plain checkpoints only
	})
}

func (l *packLaw) checkpoint() {
	ref := l.ref()
	l.points = append(l.points, l.both("checkpoint", func(s *space, packed bool) (string, error) {
		snap, err := s.Checkpoint(s.t.Context(), ref, workspace.SnapshotOptions{Packed: packed})
		if err != nil {
			return "", err
		}
		return snap.ID, nil
	}))
}

func (l *packLaw) branch() {
	ref := l.ref()
	l.lines = append(l.lines, l.both("branch", func(s *space, _ bool) (string, error) {
		snap, err := s.Branch(s.t.Context(), ref, workspace.SnapshotOptions{})
		if err != nil {
			return "", err
		}
		return snap.ID, nil
	}))
}

// walk makes changes, and at the end compares every packed checkpoint with the plain one.
func (l *packLaw) walk(t *testing.T, changes int) {
	plain, packed := l.spaces[0], l.spaces[1]
	l.lines = append(l.lines, l.both("new", func(s *space, _ bool) (string, error) { return s.new("A walk"), nil }))
	for range changes {
		switch k := l.IntN(20); {
		case k < 10:
			l.append()
		case k < 12:
			l.branch()
		case k < 14:
			l.edit()
		case k < 19:
			l.checkpoint()
		default:
			l.both("prune", func(s *space, _ bool) (string, error) { // keeps all of them
				_, err := s.Prune(t.Context(), workspace.PruneOptions{})
				return "", err
			})
		}
	}
	for _, id := range l.points {
		if a, b := plain.texts(id), packed.texts(id); a != b {
			t.Errorf("the messages of %s are %q, want %q", id, b, a)
		}
	}
	for _, id := range l.points {
		if _, err := packed.Unpack(t.Context(), id); err != nil {
			t.Fatalf("unpack of %s: %v", id, err)
		}
		want := plain.read(session.FileName(id))
		if got := packed.read(session.FileName(id)); got != want {
			t.Errorf("%s is unpacked as\n%s\nwant\n%s", id, got, want)
		}
	}
}

func packWalk(t *testing.T, seed uint64, changes int) {
	limit := 3 + int(seed%9)
	l := &packLaw{Rand: rand.New(rand.NewPCG(seed, 18))}
	for i := range l.spaces {
		l.spaces[i] = openSpace(t, t.TempDir(), limit)
	}
	l.walk(t, changes)
}

// TestPackedLaw: a packed checkpoint of any path is, byte for byte, the plain one: with
// continuations, forks, branches and messages that another program rewrote.
func TestPackedLaw(t *testing.T) {
	t.Parallel()
	for seed := range testsize.Of(uint64(1), 1, 12) {
		packWalk(t, seed, 40)
	}
}

// FuzzPacked is TestPackedLaw with any seed.
func FuzzPacked(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { packWalk(t, seed, 15) })
}
