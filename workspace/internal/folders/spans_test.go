package folders

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/restore"
	"github.com/bough-dev/bough/internal/states"
)

// moments are the letters of a story: what a state was taken for. B is before a restore, and A
// after it.
var moments = map[byte]states.Moment{'p': states.Prompt, 'e': states.End, 'm': states.Manual, 'c': states.Checkpoint, 'B': states.Restore, 'A': states.Restore}

// told returns the timeline of a story, as text. Each word is a state: the conversation, own
// being "o" and none "-", and the moment. The target is marked with "!". Spans have the
// numbers of states.
func told(story string) string {
	var list []*states.State
	var target *states.State
	name := func(tree pack.ID) string { return fmt.Sprint(tree[0]) }
	for i, word := range strings.Fields(story) {
		st := &states.State{ID: fmt.Sprint(i), SessionID: word[:1], At: moments[word[1]], Tree: pack.ID{byte(i)}}
		if word[1] == 'A' {
			st.Since = list[len(list)-1].ID
		}
		if len(word) > 2 && word[2] != '!' { // it is the same as an earlier one
			st.Tree = list[word[2]-'0'].Tree
		}
		list = append(list, st)
		if strings.HasSuffix(word, "!") {
			target = st
		}
	}
	t := timelineOf(list, target, func(st *states.State) string {
		return map[string]string{"o": ownConversation, "-": ""}[st.SessionID] + strings.Trim(st.SessionID, "o-")
	})
	text := func(spans []restore.Span) string {
		var words []string
		for _, s := range spans {
			words = append(words, name(s.From)+"-"+name(s.To))
		}
		return strings.Join(words, " ")
	}
	out := text(t.own) + " last " + name(t.last.Tree)
	if len(t.other) > 0 {
		out += " other " + text(t.other)
	}
	if len(t.unended) > 0 {
		out += " unended " + text(t.unended)
	}
	if t.open {
		out += " open"
	}
	return strings.TrimSpace(out)
}

// TestTimeline: which states are the begin and the end of what a conversation changed.
func TestTimeline(t *testing.T) {
	for _, row := range []struct{ what, story, want string }{
		{"only the target", "om!", "last 0"},
		{"turns", "op! oe op oe", "0-1 2-3 last 3"},
		{"from an end", "op oe! op oe", "2-3 last 3"},
		{"without turns", "om! om oc om", "0-1 1-2 2-3 last 3"},
		{"what came before", "om om! om", "1-2 last 2"},
		{"a state in a turn", "op! om oe", "0-1 1-2 last 2"},
		{"a state between turns", "op! oe om op oe", "0-1 3-4 last 4"},
		{"the first prompt", "om! op oe", "0-1 1-2 last 2"},
		{"a turn without an end", "op! op oe", "0-1 1-2 last 2 unended 0-1"},
		{"two of them", "oe! op op op oe", "1-2 2-3 3-4 last 4 unended 1-2 2-3"},
		{"one with a state in it", "op! oc op oe", "0-1 1-2 2-3 last 3"},
		{"one of another conversation", "om! yp yp ye om", "0-4 last 4 other 1-2 2-3"},
		{"a turn without a prompt", "op! oe oe", "0-1 1-2 last 2"},
		{"the last turn is open", "op! oe op", "0-1 last 2 open"},
		{"only an open turn", "op!", "last 0 open"},
		{"an open turn before the target", "op om!", "last 1 open"},
		{"no conversation", "om! -m om", "0-2 last 2"},
		{"turns of another one", "op! yp oe ye", "0-2 last 2 other 1-3"},
		{"one that began before", "yp op! oe ye", "1-2 last 2 other 0-3"},
		{"one that ended before", "yp ye op! oe", "2-3 last 3"},
		{"states of another one", "om! ym om ym", "0-2 last 2"},
		{"an open turn of another one", "op! yp oe", "0-2 last 2"},
		{"two others", "yp zp op! ye ze oe", "2-5 last 5 other 0-3 1-4"},
		{"a restore", "op! oe oB oA op oe", "0-1 2-3 4-5 last 5"},
		{"a restore without turns", "om! om oB oA om", "0-1 2-3 3-4 last 4"},
		{"a restore ends a turn", "op! oB oA op oe", "1-2 3-4 last 4"},
		{"a restore between turns", "op! oe oB oA om op", "0-1 2-3 last 5 open"},
		{"an interrupted one", "om! om oB om", "0-1 1-3 last 3"},
		{"one at the end", "om! om oB oA", "0-1 2-3 last 3"},
		{"a restore that was undone", "om! om oB oA oB3 oA2 om", "0-1 2-6 last 6"},
		{"one that was undone and redone", "om! om oB oA oB3 oA2 oB2 oA3", "0-1 2-3 last 3"},
		{"two that were undone", "om! om oB oA oB3 oA oB5 oA3 oB3 oA2", "0-1 last 1"},
		{"an undo after an edit", "om! om oB oA oB oA2", "0-1 2-3 4-2 last 2"},
		{"a restore of another conversation", "om! om yB yA", "0-1 last 1"},
	} {
		if got := told(row.story); got != row.want {
			t.Errorf("%s: %s: %s, want %s", row.what, row.story, got, row.want)
		}
	}
}

// FuzzTimeline: spans are in order and after the target; between an end and the next prompt
// there is none; without turns, spans have everything from the target to the last state; and
// states that belong to no conversation change nothing.
func FuzzTimeline(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		letters := []string{"pe", "pemc", "mc", "pemcB"}[r.IntN(4)]
		var words []string
		for range 1 + r.IntN(12) {
			word := string("oooyz"[r.IntN(5)]) + string(letters[r.IntN(len(letters))])
			if words = append(words, word); word[1] == 'B' {
				words = append(words, word[:1]+"A")
			}
		}
		own := slices.IndexFunc(words, func(word string) bool { return word[0] == 'o' && word[1] != 'B' && word[1] != 'A' })
		if own < 0 {
			return
		}
		words[own] += "!"
		story := strings.Join(words, " ")
		got := told(story)
		at, tiled := own, true
		spans, _, _ := strings.Cut(got, "last")
		for span := range strings.FieldsSeq(spans) {
			var from, to int
			if _, err := fmt.Sscanf(span, "%d-%d", &from, &to); err != nil {
				t.Fatal(err)
			}
			tiled = tiled && from == at
			if from < at || to <= from || words[from][0] != 'o' || words[to][0] != 'o' {
				t.Fatalf("%s: span %s of %s", story, span, got)
			}
			if words[from][1] == 'e' && words[to][1] == 'p' {
				t.Fatalf("%s: %s is the user's: %s", story, span, got)
			}
			at = to
		}
		if letters == "mc" && (!tiled || !strings.HasSuffix(strings.Fields(got + " other")[slices.Index(strings.Fields(got), "last")+1], fmt.Sprint(at))) {
			t.Fatalf("%s: a gap in %s", story, got)
		}
		with := slices.Insert(slices.Clone(words), len(words), "-m")
		if again := told(strings.Join(with, " ")); again != got {
			t.Fatalf("%s: %s with a state of no conversation, %s without", story, again, got)
		}
	})
}
