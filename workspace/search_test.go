package workspace_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/search"
)

func (s *space) search(o search.Options) *search.Result {
	s.t.Helper()
	f, err := s.Search(s.t.Context(), o)
	if err != nil {
		s.t.Fatalf("Search(%+v): %v", o, err)
	}
	return f
}

// found formats matches as SESSION@MESSAGE, followed by "…" if there are more.
func (s *space) found(o search.Options) string {
	s.t.Helper()
	f := s.search(o)
	var list []string
	for _, m := range f.Matches {
		list = append(list, m.Session+"@"+m.ID)
	}
	if f.More {
		list = append(list, "…")
	}
	return strings.Join(list, " ")
}

func TestSearchForms(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.messages("a", `"title":"Forms"`,
		`{"id":"text","role":"user","content":"plain walrus"}`,
		`{"id":"parts","role":"user","content":[{"type":"text","text":"one walrus"},{"type":"image","filename":"heron.png","asset":{"sha256":"walrus"}}]}`,
		`{"id":"penguin","role":"assistant","content":"","metadata":{"tool_calls":[{"id":"c1","type":"function","function":{"name":"find_otter","arguments":"{\"q\": \"wal\\u0072us\\nén\"}"}}]}}`,
		`{"id":"answer","role":"tool","content":"a walrus","metadata":{"tool_call_id":"c1"}}`,
		`{"id":"openai","role":"assistant","content":null,"tool_calls":[{"id":"c2","type":"function","function":{"name":"ask","arguments":"no JSON: walrus"}}]}`,
		`{"id":"blocks","role":"assistant","content":[{"type":"thinking","thinking":"hm, walrus"},{"type":"tool_use","id":"c3","name":"ask","input":{"q":["wal\u0072us"]}}]}`,
		`{"id":"result","role":"user","content":[{"type":"tool_result","tool_use_id":"c3","content":[{"type":"text","text":"walrus?"}]}]}`,
		`{"id":"acontext","role":"user","content":[{"type":"tool-call","meta":{"id":"c4","name":"ask","arguments":"{\"walrus\":1}"}}],"metadata":{"bough":{"format":"acontext"}}}`,
		`{"id":"unknown","role":"user","content":[{"type":"poll","text":"walrus or otter?"}]}`,
		`{"id":"walrus","role":"walrus","content":"nothing","category":"walrus","metadata":{"walrus":"walrus","bough":{"source":{"content":"walrus"}}}}`,
		`{"id":"image","role":"user","content":[{"type":"image","source":{"type":"base64","data":"walrus"}}]}`,
	)
	for _, c := range []struct {
		o    search.Options
		want string
	}{
		{search.Options{Text: "walrus"}, "unknown acontext parts text blocks openai penguin result answer"},
		{search.Options{Text: "heron"}, "parts"},
		{search.Options{Text: "otter"}, "unknown penguin"},
		{search.Options{Text: `"walrus én"`}, "penguin"},
		{search.Options{Text: "én OTTER"}, "penguin"},
		{search.Options{Tool: "Find_Otter"}, "penguin answer"},
		{search.Options{Tool: "ask"}, "acontext blocks openai result"},
		{search.Options{Tool: "ask", Text: "hm"}, "blocks"},
		{search.Options{Tool: "as"}, ""},
		{search.Options{Role: "Tool"}, "answer"},
		{search.Options{Regexp: `w[a-z]{5}\?`}, "result"},
		{search.Options{Regexp: `(?i)^PLAIN|^a\b`}, "text answer"},
		{search.Options{Regexp: "walrus$", Text: "plain"}, "text"},
		{search.Options{Regexp: "WALRUS"}, ""},
		{search.Options{Text: "-walrus"}, "image walrus"},
		{search.Options{}, "image unknown acontext parts text blocks openai penguin result answer walrus"},
	} {
		if got := strings.ReplaceAll(s.found(c.o), "a@", ""); got != c.want {
			t.Errorf("%+v finds %q, want %q", c.o, got, c.want)
		}
	}
	m := s.search(search.Options{Text: `"walrus én"`}).Matches[0]
	if m.Snippet != `find_otter({"q": "walrus én"})` || fmt.Sprint(m.Spans) != "[[18 27]]" || fmt.Sprint(m.Tools) != "[find_otter]" || m.Title != "Forms" {
		t.Errorf("a call is found as %+v", m)
	}
}

// TestSearchSnippet: the snippet of a long message is the text around most of the words.
func TestSearchSnippet(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.new("Long")
	filler := strings.Repeat("the hills of Lisbon are steep.  \n", 20)
	s.say(filler + "Äpfel and otters in the river\x00 by the otters. " + filler)
	s.say("otters " + strings.Repeat("x", 300))
	s.say(strings.Repeat("日", 300) + "本")
	for text, want := range map[string]string{
		"otters river": "…are steep. Äpfel and [otters] in the [river]\x00 by the [otters]. the hills of Lisbon are steep. the hills of Lisbon are steep. the hills of Lisbon are steep. th…",
		"xx otters":    "[otters] [" + strings.Repeat("x", 152) + "]x…",
		"日本":           "…" + strings.Repeat("日", 30) + "[日本]",
	} {
		m := s.search(search.Options{Text: text}).Matches[0]
		runes := []rune(m.Snippet)
		for _, span := range slices.Backward(m.Spans) {
			runes = slices.Insert(slices.Insert(runes, span[1], ']'), span[0], '[')
		}
		got := strings.ReplaceAll(string(runes), "][", "")
		if got != want {
			t.Errorf("%s is found as\n%q, want\n%q", text, got, want)
		}
	}
}

// TestSearchRegexp: the match offsets of a regular expression are those of the text, even
// if the snippet has other white space, and an invalid expression is a usage error.
func TestSearchRegexp(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.new("Long")
	s.say(strings.Repeat("the hills.  \n", 20) + "Äpfel,\n\n  two otters 日本\tin one river" + strings.Repeat(" of Lisbon", 20))
	for expr, want := range map[string]string{
		`Äpfel,\s+two`:       "…the hills. the hills. [Äpfel, two] otters 日本 in one river",
		`(?m)^ +two|本\tin`:   "…the hills. Äpfel, [two] otters 日[本 in] one river",
		`o(tter)|x*|[a-z]in`: "…the hills. Äpfel, two [otter]s 日本 in one river",
	} {
		m := s.search(search.Options{Regexp: expr}).Matches[0]
		runes := []rune(m.Snippet)
		for _, span := range slices.Backward(m.Spans) {
			runes = slices.Insert(slices.Insert(runes, span[1], ']'), span[0], '[')
		}
		if got, _, _ := strings.Cut(string(runes), " of Lisbon"); got != want {
			t.Errorf("%s is found as\n%q, want\n%q", expr, got, want)
		}
	}
	if _, err := s.Search(t.Context(), search.Options{Regexp: "a("}); code(err) != fault.Usage {
		t.Errorf("a( is found: %v", err)
	}
}

// TestSearchGroups: matches are grouped by conversation, with the user's messages first and
// a limit per conversation; the total is known.
func TestSearchGroups(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	for i, id := range []string{"old", "middle", "new"} {
		var list []string
		for n, message := range []string{
			`"role":"user","content":"otter"`,
			`"role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"tool_use","id":"c","name":"find","input":{"q":"otter"}}]`,
			`"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"otter"},{"type":"text","text":"by the way"}]`,
			`"role":"tool","content":"otter","metadata":{"tool_call_id":"c"}`,
			`"role":"user","content":"an otter"`,
			`"role":"system","content":"otter"`,
			`"role":"assistant","content":"no"`,
		} {
			list = append(list, fmt.Sprintf(`{"id":"%s%d",%s}`, id, n, message))
		}
		s.write(session.FileName(id), fmt.Sprintf(`{"id":%q,"last_active":"2026-02-0%dT00:00:00Z","metadata":{},"messages":[%s]}`, id, i+1, strings.Join(list, ",")))
	}
	group := func(id string) []string {
		var list []string
		for _, n := range []int{4, 0, 1, 3, 2, 5} {
			list = append(list, fmt.Sprintf("%s@%s%d", id, id, n))
		}
		return list
	}
	for _, c := range []struct {
		limit, per  int
		want        []string
		total, left int
		more        bool
	}{
		{0, 0, slices.Concat(group("new"), group("middle"), group("old")), 18, 0, false},
		{0, 2, slices.Concat(group("new")[:2], group("middle")[:2], group("old")[:2]), 18, 0, true},
		{0, 6, slices.Concat(group("new"), group("middle"), group("old")), 18, 0, false},
		{3, 0, group("new")[:3], 6, 2, true},
		{3, 2, slices.Concat(group("new")[:2], group("middle")[:1]), 12, 1, true},
		{4, 2, slices.Concat(group("new")[:2], group("middle")[:2]), 18, 0, true},
		{3, 1, slices.Concat(group("new")[:1], group("middle")[:1], group("old")[:1]), 18, 0, true},
	} {
		f := s.search(search.Options{Text: "otter", Limit: c.limit, PerSession: c.per})
		var got []string
		for _, m := range f.Matches {
			got = append(got, m.Ref)
			if m.Snippet == "" || len(m.Spans) != 1 {
				t.Errorf("%s is found as %q %v", m.Ref, m.Snippet, m.Spans)
			}
		}
		if !slices.Equal(got, c.want) || f.Total != c.total || f.NotSearched != c.left || f.More != c.more {
			t.Errorf("at most %d, %d of each: %v of %d (more: %v), %d not searched; want %v of %d (%v), %d", c.limit, c.per, got, f.Total, f.More, f.NotSearched, c.want, c.total, c.more, c.left)
		}
		for _, one := range f.Sessions {
			if one.Total != 6 || one.Title == "" || one.LastActive.Format("2006-01") != "2026-02" {
				t.Errorf("a conversation is found as %+v", one)
			}
		}
	}
	if got := s.search(search.Options{Text: "otter", In: "new"}).Matches; got[0].Speaker != search.Person || got[2].Speaker != search.Assistant || got[4].Speaker != search.Tool || got[5].Speaker != search.System {
		t.Errorf("the speakers are %v", got)
	}
}

// TestSearchManyMatches: in a conversation with very many matches a fixed subset is counted, and
// the shown matches are the same as if all were counted.
func TestSearchManyMatches(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	files := testchat.Chat{Messages: 2000, PerFile: 100, Text: 300}.Files()
	if err := testchat.Write(s.Dir(), files); err != nil {
		t.Fatal(err)
	}
	o := search.Options{Text: "e", PerSession: 3}
	all := s.search(search.Options{Text: "e"})
	for range testsize.Of(1, 3, 5) {
		f := s.search(o)
		one := f.Sessions[0]
		if !one.AtLeast || one.Total < 100 || one.Total > 300 || f.Total != one.Total || fmt.Sprint(f.Matches) != fmt.Sprint(all.Matches[:3]) {
			t.Errorf("%d of %+v, want the first of %d: %v", len(f.Matches), one, all.Total, f.Matches)
		}
		if again := s.search(o); fmt.Sprint(again) != fmt.Sprint(f) {
			t.Errorf("again it finds %+v, not %+v", again.Sessions, f.Sessions)
		}
	}
	if all.Sessions[0].AtLeast || all.Total < 1500 || s.search(search.Options{Text: "e", PerSession: 2000}).Sessions[0].AtLeast {
		t.Errorf("of all there are %+v", all.Sessions)
	}
}

// TestSearchContext: the context of a match is its path, not its file.
func TestSearchContext(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	root := s.new("Talk")
	ids := s.say("one", "two", "three otters", "four", "five") // in three files
	side := s.append(workspace.Append{Session: root, Parent: ids[1], Text: "an otter " + strings.Repeat("x", 300)}).Message
	f := s.search(search.Options{Text: "otter", Context: 2})
	around := map[string]string{}
	for _, m := range f.Matches {
		var list []string
		for _, c := range m.Before {
			list = append(list, c.Text)
		}
		list = append(list, "|")
		for _, c := range m.After {
			list = append(list, c.Text)
			path := s.show(c.Ref).Messages
			if last := path[len(path)-1]; last.ID != c.ID || c.Role != "user" {
				t.Errorf("%s is %s, want %s of %s", c.Ref, last.ID, c.ID, c.Role)
			}
		}
		around[m.ID] = strings.Join(list, " ")
	}
	if around[ids[2]] != "one two | four five" || around[side] != "one two |" || len(around) != 2 {
		t.Errorf("around are %v", around)
	}
	m := s.search(search.Options{Text: "two", Context: 1}).Matches[0]
	if n := len([]rune(m.After[0].Text)); len(m.After) != 1 || m.After[0].ID != side || n != 161 {
		t.Errorf("after it is %+v", m.After)
	}
	m = s.search(search.Options{Text: "two"}).Matches[0]
	if m.After == nil || m.Before == nil || len(m.Before)+len(m.After) > 0 {
		t.Errorf("without context there is %v, %v", m.Before, m.After)
	}
}

// TestSearchCopies: a message in several files is found in the file that wrote it first, and
// in copies only on request.
func TestSearchCopies(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	root := s.new("Talk")
	ids := s.say("otter 1", "otter 2", "otter 3") // in two files
	cp := s.checkpoint(root).ID
	branch := s.branch(root + "@" + ids[1]).ID
	own := s.say("otter 4")[0]
	inside := s.append(workspace.Append{Session: root, Parent: ids[0], Text: "otter 5"}).Message
	begun := root + "@" + ids[2] + " " + root + "@" + inside + " " + root + "@" + ids[1] + " " + root + "@" + ids[0]
	if got, want := s.found(search.Options{Text: "otter"}), begun+" "+branch+"@"+own; sorted(got) != sorted(want) {
		t.Errorf("found %s, want %s", got, want)
	}
	for in, want := range map[string]string{
		root:   strings.ReplaceAll(begun, root+"@", ""),
		cp:     ids[2] + " " + ids[1] + " " + ids[0],
		branch: own + " " + ids[1] + " " + ids[0],
	} {
		if got := strings.ReplaceAll(s.found(search.Options{Text: "otter", In: in}), in+"@", ""); sorted(got) != sorted(want) {
			t.Errorf("in %s: %s, want %s", in, got, want)
		}
	}
	for _, c := range []struct{ text, in, message, want string }{
		{"otter", "", ids[0], cp + " " + branch},
		{"otter", "", ids[2], cp},
		{"otter", "", own, ""},
		{"otter", branch, ids[0], root + " " + cp},
		{"otter", cp, ids[2], root},
	} {
		f := s.search(search.Options{Text: c.text, In: c.in})
		i := slices.IndexFunc(f.Matches, func(m search.Match) bool { return m.ID == c.message })
		if got := strings.Join(f.Matches[i].Also, " "); got != c.want {
			t.Errorf("%s in %q is also in %q, want %q", c.message, c.in, got, c.want)
		}
	}
	// Metadata added to a message later does not make it another message.
	name := session.FileName(root)
	doc := s.read(name)
	s.replace(name, strings.Replace(doc, `"otter 1",`, `"otter 1", "seen": true,`, 1))
	if got, want := s.found(search.Options{Text: "otter"}), begun+" "+branch+"@"+own; sorted(got) != sorted(want) {
		t.Errorf("with a note: %s, want %s", got, want)
	}
	// Other words under the same id are another message.
	s.replace(name, strings.Replace(doc, `"otter 1",`, `"otters",`, 1))
	if got := s.found(search.Options{Text: `"otter 1"`}); got != branch+"@"+ids[0] && got != cp+"@"+ids[0] {
		t.Errorf("with other words it is found in %s", got)
	}
	if o := (search.Options{Text: `"otter 1"`, Limit: 1}); strings.Contains(s.found(o), "…") {
		t.Errorf("there is more than one: %s", s.found(o))
	}
	s.replace(name, doc)
	// An unrelated conversation may have the same ids and words.
	s.write(session.FileName("other"), strings.Replace(doc, root, "other", 1))
	if got := s.found(search.Options{Text: `"otter 1"`}); sorted(got) != sorted(root+"@"+ids[0]+" other@"+ids[0]) {
		t.Errorf("in two conversations: %s", got)
	}
}

func sorted(list string) string {
	words := strings.Fields(list)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// TestSearchLinks: whatever origin a file names, its messages are found under a session
// that has them.
func TestSearchLinks(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	marker := func(of string) string {
		return `{"id":"to-` + of + `","role":"system","content":"otter","metadata":{"type":"session_transition","previous_session":"` + of + `"}}`
	}
	s.messages("lost", `"continued_from":["nowhere"]`, `{"id":"h","content":"otter"}`, marker("nowhere"), `{"id":"l","content":"otter"}`)
	s.messages("ring1", `"continued_from":["ring2"]`, `{"id":"r1","content":"otter"}`)
	s.messages("ring2", `"continued_from":["ring1"]`, `{"id":"r2","content":"otter"}`)
	s.messages("cp", `"flattened_snapshot":true,"bough":{"kind":"checkpoint"},"branched_from":"gone","branch_point":"c"`, `{"id":"c","content":"otter"}`)
	s.messages("after", `"continued_from":["cp"]`, marker("cp"), `{"id":"d","content":"otter"}`)
	s.write(session.FileName("torn"), `{"id":"torn","messages":[{"id":"t","content":"otter"}`)
	got := s.found(search.Options{Text: "otter"})
	if want := "after@d cp@c lost@l ring1@r1 ring2@r2"; sorted(got) != want {
		t.Errorf("found %s, want %s", sorted(got), want)
	}
	if !slices.ContainsFunc(s.notes, func(n string) bool { return strings.Contains(n, "torn.json") }) {
		t.Errorf("no note names the torn file: %q", s.notes)
	}
	for _, ref := range []string{"after@d", "cp@c"} {
		s.show(ref)
	}
}

func TestSearchLimit(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	var want []string
	for i, id := range []string{"c", "b", "a"} {
		var list []string
		for n := range 5 {
			list = append(list, fmt.Sprintf(`{"id":"%s%d","content":"otter","timestamp":"2026-01-0%dT00:00:00Z"}`, id, n, n+1))
		}
		s.write(session.FileName(id), fmt.Sprintf(`{"id":%q,"last_active":"2026-02-0%dT00:00:00Z","metadata":{},"messages":[%s]}`, id, i+1, strings.Join(list, ",")))
		slices.Reverse(list)
		for n := range 5 {
			want = append(want, fmt.Sprintf("%s@%s%d", id, id, n))
		}
	}
	slices.Reverse(want)
	for limit := range 17 {
		o := search.Options{Text: "otter", Limit: limit}
		first := want
		if limit > 0 && limit < len(want) {
			first = append(slices.Clone(want[:limit]), "…")
		}
		if got := s.found(o); got != strings.Join(first, " ") {
			t.Errorf("at most %d: %s, want %s", limit, got, strings.Join(first, " "))
		}
	}
	o := search.Options{Since: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 1, 4, 0, 0, 0, 0, time.UTC)}
	if got, want := s.found(o), "a@a2 a@a1 b@b2 b@b1 c@c2 c@c1"; got != want {
		t.Errorf("of two days: %s, want %s", got, want)
	}
}

// TestSearchCache: the cache does not change the result.
func TestSearchCache(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	files := testchat.Chat{Messages: 300, PerFile: 100, Text: 1530, Odd: true}.Files()
	if err := testchat.Write(s.Dir(), files); err != nil {
		t.Fatal(err)
	}
	s.new("Another") // and there is a cache
	s.checkpoint(files[2].ID)
	var texts []string
	for _, m := range testchat.All(files) {
		texts = append(texts, text(t, m.Raw))
	}
	o := search.Options{}
	for _, o.Text = range []string{"분岐", "分岐点", "👩‍💻 Ünïcödé", `"no more than reading"`, "continuing session"} {
		first, again := s.found(o), s.found(o)
		s.forget()
		if unseen := s.found(o); unseen != first || again != first {
			t.Errorf("%s finds\n%s, then\n%s, and when it was forgotten\n%s", o.Text, first, again, unseen)
		}
		want := 0
		for _, text := range texts {
			if containsAll(text, o.Text) {
				want++
			}
		}
		if n := len(strings.Fields(first)); n != want {
			t.Errorf("%s finds %d messages, want %d", o.Text, n, want)
		}
	}
}

// notJSON matches the numbers that Python writes and JSON does not have.
var notJSON = regexp.MustCompile(`-?\b(NaN|Infinity)\b`)

func text(t *testing.T, raw []byte) string {
	var m struct{ Content string }
	if err := json.Unmarshal(notJSON.ReplaceAll(raw, []byte("0")), &m); err != nil {
		t.Fatal(err)
	}
	return m.Content
}

func containsAll(text, words string) bool {
	if strings.HasPrefix(words, `"`) {
		return strings.Contains(text, strings.Trim(words, `"`))
	}
	for _, w := range strings.Fields(words) {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(w)) {
			return false
		}
	}
	return true
}

// FuzzSearch: a message is found if and only if its text matches, once, under a session
// that has it, independent of its author and files.
func FuzzSearch(f *testing.F) {
	f.Add(uint64(1), "otter", "the Otter by the river")
	f.Add(uint64(2), "été", "un ÉTÉ, 🌲")
	f.Add(uint64(3), "by the", "otter by\n\tTHE river \" \\u00e9")
	f.Add(uint64(4), "text", "nothing")
	f.Add(uint64(5), "role", "{\"role\": \"user\"}")
	f.Fuzz(func(t *testing.T, seed uint64, phrase, said string) {
		words := strings.Fields(phrase)
		if len(words) == 0 || strings.Contains(phrase, `"`) || !utf8.ValidString(phrase) || !utf8.ValidString(said) || len(said) > 1000 {
			return
		}
		random := rand.New(rand.NewPCG(seed, 0))
		s := openSpace(t, t.TempDir(), 1+random.IntN(4))
		texts := map[string]string{} // by message
		sessions := []string{s.new("First")}
		for n := range 2 + random.IntN(12) {
			in := sessions[random.IntN(len(sessions))]
			switch random.IntN(8) {
			case 0, 1, 2:
				text := []string{said, phrase, "and " + said, "something else"}[random.IntN(4)]
				if strings.TrimSpace(text) == "" {
					continue
				}
				texts[s.append(workspace.Append{Session: in, Text: text}).Message] = text
			case 3:
				if at := s.show(in).Messages; len(at) > 0 {
					parent := at[random.IntN(len(at))].ID
					texts[s.append(workspace.Append{Session: in, Parent: parent, Text: said + "."}).Message] = said + "."
				}
			case 4:
				if at := s.show(in).Messages; len(at) > 0 {
					sessions = append(sessions, s.checkpoint(in+"@"+at[random.IntN(len(at))].ID).ID)
				}
			case 5:
				if at := s.show(in).Messages; len(at) > 0 {
					sessions = append(sessions, s.branch(in+"@"+at[random.IntN(len(at))].ID).ID)
				}
			case 6:
				id := fmt.Sprintf("foreign%d", n)
				text, raw := foreign(id, said, random)
				s.messages(id, "", raw)
				texts[id] = text
				sessions = append(sessions, id)
			case 7: // copies stay
				if len(sessions) > 1 {
					s.Remove(t.Context(), in, workspace.RemoveOptions{Force: true})
					sessions = s.thatAreThere()
				}
			}
		}
		there := s.messagesThere()
		want := map[string]bool{}
		expr := regexp.MustCompile(`(?i)` + strings.Join(quoted(words), `[\pZ\t-\r\x{85}]+`))
		for id, text := range texts {
			if there[id] && expr.MatchString(text) {
				want[id] = true
			}
		}
		found := s.search(search.Options{Text: `"` + phrase + `"`})
		seen := map[string]bool{}
		in := s.conversationsOf()
		for _, m := range found.Matches {
			if others := slices.DeleteFunc(slices.Clone(in[m.ID]), func(id string) bool { return id == m.Session }); sorted(strings.Join(others, " ")) != sorted(strings.Join(m.Also, " ")) {
				t.Errorf("%s of %s is also in %q, want %q", m.ID, m.Session, m.Also, others)
			}
			if !want[m.ID] || seen[m.ID] {
				t.Errorf("%q finds %s (again: %v): %q", phrase, m.ID, seen[m.ID], texts[m.ID])
			}
			seen[m.ID] = true
			path := s.show(m.Session + "@" + m.ID).Messages
			if path[len(path)-1].ID != m.ID {
				t.Errorf("%s@%s shows %s", m.Session, m.ID, path[len(path)-1].ID)
			}
		}
		for id := range want {
			if !seen[id] {
				t.Errorf("%q does not find %s: %q", phrase, id, texts[id])
			}
		}
		limit := 1 + random.IntN(5)
		some := s.search(search.Options{Text: `"` + phrase + `"`, Limit: limit})
		if n := min(limit, len(found.Matches)); some.More != (len(found.Matches) > limit) || len(some.Matches) != n || fmt.Sprint(some.Matches) != fmt.Sprint(found.Matches[:n]) {
			t.Errorf("at most %d: %+v of %+v", limit, some, found)
		}
	})
}

func quoted(words []string) (list []string) {
	for _, w := range words {
		list = append(list, regexp.QuoteMeta(w))
	}
	return list
}

// foreign returns a message as another program writes it, and its text.
func foreign(id, said string, random *rand.Rand) (text, raw string) {
	quote := func(s string) string {
		if random.IntN(2) == 0 {
			return inQuotes(s)
		}
		return inASCII(s)
	}
	q := quote(said)
	switch random.IntN(4) {
	case 0:
		return said, fmt.Sprintf(`{"id":%q,"role":"user","content":%s}`, id, q)
	case 1:
		return said, fmt.Sprintf(`{"id":%q,"role":"user","content":[{"type":"text","text":%s},{"type":"image","data":%s}]}`, id, q, q)
	case 2:
		return said, fmt.Sprintf(`{"id":%q,"content":[{"type":"tool_result","content":%s}],"metadata":{"bough":{"source":%s}}}`, id, q, q)
	}
	arguments := quote(`{"q": ` + q + `}`)
	raw = fmt.Sprintf(`{"id":%q,"role":"assistant","content":"","tool_calls":[{"id":"c","function":{"name":"f","arguments":%s}}]}`, id, arguments)
	return `f({"q": "` + said + `"})`, raw
}

// inQuotes returns a text as JSON, as Go encodes it.
func inQuotes(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// inASCII returns a text as JSON, as Python encodes it.
func inASCII(s string) string {
	var out strings.Builder
	for _, r := range inQuotes(s) {
		switch {
		case r < utf8.RuneSelf:
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// thatAreThere returns all sessions of the workspace except for continuations.
func (s *space) thatAreThere() (ids []string) {
	s.t.Helper()
	l, err := s.List(s.t.Context(), "")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range l.Sessions {
		if e.Kind != session.Continuation {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// conversationsOf returns the first files of the lines that contain each message.
func (s *space) conversationsOf() map[string][]string {
	s.t.Helper()
	l, err := s.List(s.t.Context(), "")
	if err != nil {
		s.t.Fatal(err)
	}
	before := map[string]string{}
	for _, e := range l.Sessions {
		if e.Kind == session.Continuation {
			before[e.ID] = e.ContinuedFrom[0]
		}
	}
	in := map[string][]string{}
	for _, e := range l.Sessions {
		first := e.ID
		for before[first] != "" {
			first = before[first]
		}
		for _, m := range s.session(e.ID).Messages {
			if !slices.Contains(in[m.ID], first) {
				in[m.ID] = append(in[m.ID], first)
			}
		}
	}
	return in
}

// messagesThere returns the ids of the messages in all files.
func (s *space) messagesThere() map[string]bool {
	there := map[string]bool{}
	l, err := s.List(s.t.Context(), "")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range l.Sessions {
		for _, m := range s.session(e.ID).Messages {
			there[m.ID] = true
		}
	}
	return there
}
