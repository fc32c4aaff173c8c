package workspace_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/origin"
)

// A writtenLine is a line of a [repository], with who wrote it: "SESSION/PROMPT" of a turn, you,
// or older. tool is true if the arguments of a tool have it.
type writtenLine struct {
	text, by string
	tool     bool
	rewriter string // of a line that is not of a tool: the turn with the first call that has it
}

// A repository is a folder that conversations, their commands and their user change. It is made
// in memory, with what blame must find out; replay writes it.
type repository struct {
	*rand.Rand
	files    map[string][]writtenLine
	moves    bool // commands rename files, not only patches
	sessions []string
	messages map[string][]string // by session
	steps    []repoStep
	n        int
	at       time.Time
}

// A repoStep is a content of the folder at which a state is taken.
type repoStep struct {
	files map[string]string
	ref   string // of the message of the state
	at    string
}

const repoDir = "/home/ann/trip" // in the arguments of calls, replaced by the real folder

// commonLines are lines that commands and the user write again and again.
var commonLines = []string{"", "}", "\treturn nil", "\t}", "// TODO", "end", "import fmt", "x := 1"}

func newRepository(seed uint64, moves bool) *repository {
	r := &repository{
		Rand: rand.New(rand.NewPCG(seed, 1)), files: map[string][]writtenLine{}, moves: moves,
		sessions: []string{"fix", "cake", "trip"}, messages: map[string][]string{}, at: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	for _, name := range []string{"main.go", "doc/notes.md", "lib/a.go"} {
		for range 20 {
			r.files[name] = append(r.files[name], r.line("older", false))
		}
	}
	return r
}

// line returns a new line: of a tool one that exists nowhere else.
func (r *repository) line(by string, tool bool) writtenLine {
	r.n++
	if !tool && r.IntN(3) == 0 {
		return writtenLine{commonLines[r.IntN(len(commonLines))], by, false, ""}
	}
	return writtenLine{fmt.Sprintf("\tline%d := %d // of %s", r.n, r.IntN(1000), by[:1]), by, tool, ""}
}

func textOf(lines []writtenLine) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

func (r *repository) say(session, role, content string) (id string) {
	r.at = r.at.Add(time.Minute)
	id = fmt.Sprintf("%s%d", session, len(r.messages[session]))
	r.messages[session] = append(r.messages[session],
		fmt.Sprintf(`{"id":%q,"role":%q,"timestamp":%q,"content":%s}`, id, role, r.at.Format("2006-01-02T15:04:05.000000"), content))
	return id
}

// call adds a call of a tool with its result.
func (r *repository) call(session, tool string, failed bool, args map[string]any) {
	data, _ := json.Marshal(args)
	text, _ := json.Marshal(string(data))
	id := fmt.Sprintf("call-%s-%d", session, len(r.messages[session]))
	r.say(session, "assistant", fmt.Sprintf(`[{"type":"tool-call","meta":{"id":%q,"name":%q,"arguments":%s}}]`, id, tool, text))
	r.say(session, "tool", fmt.Sprintf(`[{"type":"tool-result","text":"done","meta":{"tool_call_id":%q,"is_error":%v}}]`, id, failed))
}

func (r *repository) state(ref, at string) {
	now := map[string]string{}
	for name, lines := range r.files {
		now[name] = textOf(lines)
	}
	r.steps = append(r.steps, repoStep{now, ref, at})
}

func (r *repository) name() string {
	names := slices.Sorted(maps.Keys(r.files))
	return names[r.IntN(len(names))]
}

// edit replaces some lines of a file by others, and returns old and new text, with a line before
// and after.
func (r *repository) edit(name, by string, tool bool) (old, text string) {
	lines := r.files[name]
	from := r.IntN(len(lines) + 1)
	to := min(len(lines), from+r.IntN(4))
	var added []writtenLine
	for range 1 + r.IntN(5) {
		added = append(added, r.line(by, tool))
	}
	before, after := lines[max(from-3, 0):from], lines[to:min(len(lines), to+3)]
	old = textOf(before) + textOf(lines[from:to]) + textOf(after)
	text = textOf(before) + textOf(added) + textOf(after)
	r.files[name] = slices.Concat(lines[:from], added, lines[to:])
	return old, text
}

// turn adds the turn of a session.
func (r *repository) turn(session string) {
	before := "first"
	if n := len(r.messages[session]); n > 0 {
		before = fmt.Sprintf("%s%d", session, n-1)
	}
	prompt := r.say(session, "user", fmt.Sprintf(`"Please change line %d"`, r.n))
	ref := prompt
	if before != "first" && r.IntN(2) == 0 {
		ref = before // as for programs whose prompts have no id
	}
	r.state(session+"@"+ref, "prompt")
	by := session + "/" + prompt
	for range 1 + r.IntN(3) {
		r.change(session, by)
	}
	r.state(session+"@"+r.say(session, "assistant", `"It is done."`), "end")
}

// change makes a change of a turn.
func (r *repository) change(session, by string) {
	name := r.name()
	full := repoDir + "/" + name
	switch n := r.IntN(12); {
	case n < 4:
		old, text := r.edit(name, by, true)
		r.call(session, "Edit", false, map[string]any{"file_path": full, "old_string": old, "new_string": text})
	case n < 5:
		old, text := r.edit(name, by, true)
		r.call(session, "edit", false, map[string]any{"path": full, "edits": []any{map[string]any{"oldText": old, "newText": text}}})
	case n < 6:
		old, text := r.edit(name, by, true)
		r.call(session, "apply_patch", false, map[string]any{"input": "*** Begin Patch\n*** Update File: " + full + "\n@@\n" + marked("-", old) + marked("+", text) + "*** End Patch\n"})
	case n < 7:
		name = fmt.Sprintf("new/%d.go", r.n)
		for range 2 + r.IntN(30) {
			r.files[name] = append(r.files[name], r.line(by, true))
		}
		r.call(session, "Write", false, map[string]any{"file_path": repoDir + "/" + name, "content": textOf(r.files[name])})
	case n < 8: // the whole file is written again, with most lines as they were
		r.edit(name, by, true)
		for i := range r.files[name] {
			if l := &r.files[name][i]; !l.tool && l.rewriter == "" {
				l.rewriter = by
			}
		}
		r.call(session, "Write", false, map[string]any{"file_path": full, "content": textOf(r.files[name])})
	case n < 9 && r.moves && len(r.files) > 3:
		to := fmt.Sprintf("moved/%d-%s", r.n, filepath.Base(name))
		r.files[to] = r.files[name]
		delete(r.files, name)
		r.n++
		r.call(session, "Bash", false, map[string]any{"command": "mv " + name + " " + to})
	case n < 10 && r.moves && len(r.files) > 3:
		delete(r.files, name)
		r.call(session, "Bash", false, map[string]any{"command": "rm " + name})
	case n < 11:
		r.edit(name, by, false)
		r.call(session, "Bash", false, map[string]any{"command": "sed -i " + name})
	default: // it failed, so it changed nothing
		r.call(session, "Edit", true, map[string]any{"file_path": full, "old_string": "x", "new_string": textOf(r.files[name])})
	}
}

func marked(mark, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(mark + line)
	}
	return b.String()
}

// run makes turns, and changes of the user between them.
func (r *repository) run(turns int) {
	for range turns {
		r.turn(r.sessions[r.IntN(len(r.sessions))])
		switch n := r.IntN(4); {
		case n == 0:
			r.edit(r.name(), "you", false)
		case n == 1 && r.moves: // a file that was removed comes back
			name := "back/again.go"
			r.files[name] = []writtenLine{r.line("you", false), r.line("you", false)}
		}
	}
}

// replay writes the repository, with its states if there are any, and returns its folder.
func (r *repository) replay(s *space, states bool) string {
	t := s.t
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	quoted, _ := json.Marshal(filepath.ToSlash(dir))
	for id, list := range r.messages {
		var there []string
		for _, m := range list {
			there = append(there, strings.ReplaceAll(m, repoDir, strings.Trim(string(quoted), `"`)))
		}
		s.messages(id, `"directory":`+string(quoted), there...)
	}
	s.mend()
	now := map[string]string{}
	write := func(next map[string]string) {
		for name := range now {
			if _, ok := next[name]; !ok {
				os.Remove(filepath.Join(dir, name))
			}
		}
		for name, text := range next {
			if old, ok := now[name]; !ok || old != text {
				os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		now = next
	}
	if states {
		for _, step := range r.steps {
			write(step.files)
			if _, err := s.Folder(dir).Snap(t.Context(), step.ref, files.SnapOptions{At: step.at, KeepOld: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.state("", "")
	write(r.steps[len(r.steps)-1].files)
	return dir
}

// judge blames all files, and returns how many lines there are, how many are right, and how many
// lines of tools are wrong. known returns what blame can know of a line.
func (r *repository) judge(s *space, dir string, known func(writtenLine) string) (all, right, wrongTool int) {
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		b, err := s.Folder(dir).Blame(s.t.Context(), name, origin.BlameOptions{})
		if err != nil {
			s.t.Fatalf("%s: %v", name, err)
		}
		if len(b.Lines) != len(r.files[name]) {
			s.t.Fatalf("%s: %d lines, want %d", name, len(b.Lines), len(r.files[name]))
		}
		for i, want := range r.files[name] {
			got := b.Lines[i].By
			if turn := b.Lines[i].Turn; turn != nil {
				got = string(b.Turns[*turn].Session + "/" + b.Turns[*turn].Prompt)
			}
			all++
			switch {
			case got == known(want):
				right++
			case want.tool:
				wrongTool++
				s.t.Errorf("%s:%d %q is of %s, want %s", name, i+1, want.text, got, want.by)
			default:
				s.t.Logf("%s:%d %q is of %s, want %s", name, i+1, want.text, got, known(want))
			}
		}
	}
	return all, right, wrongTool
}

var blameSeeds = flag.Uint64("blames", 1, "how many repositories TestBlame makes")

// TestBlame: in a repository that conversations, their commands and the user change, blame is
// right for 95 % of all lines, and for all that the arguments of a tool have.
func TestBlame(t *testing.T) {
	t.Parallel()
	turns := testsize.Of(20, 30, 200)
	for _, c := range []struct {
		name   string
		states bool
		known  func(writtenLine) string
	}{
		{"states", true, func(l writtenLine) string { return l.by }},
		{"calls", false, func(l writtenLine) string {
			if !l.tool {
				return cmp.Or(l.rewriter, origin.ByUnknown)
			}
			return l.by
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for seed := range *blameSeeds {
				r := newRepository(seed, c.states)
				r.run(turns)
				s := openSpace(t, t.TempDir(), 0)
				dir := r.replay(s, c.states)
				all, right, wrong := r.judge(s, dir, c.known)
				t.Logf("seed %d: %d of %d lines are right", seed, right, all)
				if right*100 < all*95 || wrong > 0 || all < turns {
					t.Errorf("seed %d: %d of %d lines are right, %d of tools are wrong", seed, right, all, wrong)
				}
			}
		})
	}
}
