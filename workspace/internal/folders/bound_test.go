package folders

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/states"
)

// costsOf returns the costs of states whose objects are letters: a capital letter takes ten bytes,
// another one takes one.
func costsOf(objects map[string]string) func([]*states.State) ([]int64, error) {
	return func(list []*states.State) ([]int64, error) {
		seen := map[rune]bool{}
		sizes := make([]int64, len(list))
		for i, st := range list {
			for _, o := range objects[st.ID] {
				if seen[o] {
					continue
				}
				seen[o] = true
				if sizes[i]++; o < 'a' {
					sizes[i] += 9
				}
			}
		}
		return sizes, nil
	}
}

func total(objects map[string]string, ids []string) (size int64) {
	var list []*states.State
	for _, id := range ids {
		list = append(list, &states.State{ID: id})
	}
	sizes, _ := costsOf(objects)(list)
	for _, n := range sizes {
		size += n
	}
	return size
}

// TestSurplus: the oldest states that are not needed go, as many as must.
func TestSurplus(t *testing.T) {
	for _, c := range []struct {
		states string // the objects of each state, oldest first; with "!" it is needed
		limit  int64
		gone   string // the numbers of the states that go
	}{
		{"", 0, ""},
		{"a b c", 3, ""},
		{"a b c", 2, "0"},
		{"a b c", 1, "0 1"},
		{"a b c", 0, "0 1 2"},
		{"!a b c", 2, "1"},
		{"!A b c", 2, "1 2"},
		{"!A !B c", 2, "2"},
		{"A Ab Ac", 12, ""},    // shared content counts once
		{"A Ab Ac", 11, "0 1"}, // the oldest go, although 0 takes nothing of its own
		{"a B c", 5, "0 1"},    // not only the large one
		{"!A Ab Ac B", 15, "1 2 3"},
	} {
		var claims []claim
		objects := map[string]string{}
		for i, word := range strings.Fields(c.states) {
			st := &states.State{ID: fmt.Sprint(i)}
			claims = append(claims, claim{st, strings.HasPrefix(word, "!"), i})
			objects[st.ID] = strings.Trim(word, "!")
		}
		got, err := surplus(claims, c.limit, costsOf(objects))
		var ids []string
		for _, st := range got {
			ids = append(ids, st.ID)
		}
		if strings.Join(ids, " ") != c.gone || err != nil {
			t.Errorf("%q, limit %d: %q go, want %q; %v", c.states, c.limit, ids, c.gone, err)
		}
	}
}

// FuzzSurplus: no needed state goes and none that is newer than one that stays and is not needed;
// what stays fits, unless only needed ones stay; and the newest that goes would not fit.
func FuzzSurplus(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0x81, 7, 200}, uint8(3))
	f.Add([]byte{0xff, 0xff, 1, 0x11}, uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, limit uint8) {
		var claims []claim
		objects := map[string]string{}
		for i, b := range data {
			st := &states.State{ID: fmt.Sprint(i)}
			claims = append(claims, claim{st, b&0x80 != 0, i})
			for bit, o := range "abcdEFG" {
				if b&(1<<bit) != 0 {
					objects[st.ID] += string(o)
				}
			}
		}
		got, err := surplus(slices.Clone(claims), int64(limit), costsOf(objects))
		if err != nil {
			t.Fatal(err)
		}
		var gone, kept []string
		for _, st := range got {
			gone = append(gone, st.ID)
		}
		automatic := 0
		for _, c := range claims {
			if slices.Contains(gone, c.ID) {
				if c.needed {
					t.Errorf("the state %s is needed", c.ID)
				}
				if automatic > 0 {
					t.Errorf("the state %s is newer than one that stays", c.ID)
				}
				continue
			}
			kept = append(kept, c.ID)
			if !c.needed {
				automatic++
			}
		}
		if size := total(objects, kept); size > int64(limit) && automatic > 0 {
			t.Errorf("what stays takes %d, the limit is %d", size, limit)
		}
		if len(gone) > 0 && total(objects, append(kept, gone[len(gone)-1])) <= int64(limit) {
			t.Errorf("the state %s would fit", gone[len(gone)-1])
		}
	})
}

// TestTogether: a turn is one group, also beside those of other conversations and folders, and so
// is a restore; a restore ends an open turn.
func TestTogether(t *testing.T) {
	for _, c := range []struct{ list, want string }{
		{"p1 e1 p1 e1", "0 0 2 2"},
		{"p1 p2 e1 e2", "0 1 0 1"},
		{"p1 p1 e1", "0 1 1"},
		{"e1 m1 p1 m1 e1", "0 1 2 3 2"},
		{"p1 r1 a1 p1 e1", "0 0 0 3 3"},
		{"e1 r1 a1", "0 1 1"},
	} {
		var list []*states.State
		for i, word := range strings.Fields(c.list) {
			st := &states.State{ID: fmt.Sprint(i), Folder: "f", SessionID: word[1:]}
			switch word[0] {
			case 'p':
				st.At = states.Prompt
			case 'e':
				st.At = states.End
			case 'm':
				st.At = states.Manual
			case 'r':
				st.At = states.Restore
			case 'a':
				st.At, st.Since = states.Restore, fmt.Sprint(i-1)
			}
			list = append(list, st)
		}
		groups := together(list, func(st *states.State) string { return st.SessionID })
		first := map[int]int{}
		var got []string
		for i, g := range groups {
			if _, ok := first[g]; !ok {
				first[g] = i
			}
			got = append(got, fmt.Sprint(first[g]))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.list, strings.Join(got, " "), c.want)
		}
	}
}
