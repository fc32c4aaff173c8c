package eraser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/internal/importer"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/task"
	"github.com/bough-dev/bough/workspace/trash"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// An erasure is a set of sessions whose text is removed from all files other than
// sessions and the trash. Ids, numbers, times and verbs remain.
type erasure struct {
	sessions map[string]bool
	messages map[string]bool // whose text an agent's file may have, nil for none
	titles   []string        // in lower case: arguments may name a session by its title
}

// newErasure returns the erasure of the text of sessions, messages and titles.
func newErasure(sessions, messages, titles []string) *erasure {
	e := &erasure{map[string]bool{}, map[string]bool{}, nil}
	for _, title := range titles {
		if title = strings.ToLower(strings.TrimSpace(title)); title != "" {
			e.titles = append(e.titles, title)
		}
	}
	for _, id := range sessions {
		e.sessions[id] = true
	}
	for _, id := range messages {
		e.messages[id] = true
	}
	return e
}

// hasItem reports whether a message in the pack of a line is one of e.
func (e *erasure) hasItem(line string, item []byte) bool {
	return e.sessions[line] || e.messages[gjson.GetBytes(bytes.TrimPrefix(item, []byte(",")), "id").Str]
}

// erase removes the text of the sessions of e from explorations, learnings,
// tasks, the records of imports, bookmarks and the log. It can be repeated
// after a crash.
func erase(tx *store.Tx, e *erasure) error {
	if len(e.sessions) == 0 {
		return nil
	}
	if err := eraseExplorations(tx, e); err != nil {
		return err
	}
	if err := rewriteLines(tx, task.Path, e.taskLine); err != nil {
		return err
	}
	if err := rewriteLines(tx, store.ImportsPath, e.importLine); err != nil {
		return err
	}
	data, err := store.ReadRegular(tx.View.Root, bookmark.Path)
	if err != nil {
		return err
	}
	if without := e.bookmarks(data); !bytes.Equal(without, data) {
		if _, err := durable.Replace(tx.View.Root, bookmark.Path, durable.Bytes(without)); err != nil {
			return err
		}
	}
	return eraseLog(tx, e)
}

// eraseLog rewrites the log if it has text of e. It drops damaged lines, which
// may have some.
func eraseLog(tx *store.Tx, e *erasure) error {
	log, err := operation.Open(tx.View.Root)
	if err != nil {
		return err
	}
	defer log.Close()
	edited := false
	edit := e.editor()
	for line, err := range log.From(0) {
		if edited = err != nil || edit(line) != line.Operation; edited {
			break
		}
	}
	if !edited {
		return nil
	}
	edit = e.editor()
	_, err = durable.Replace(tx.View.Root, operation.Path, func(w *durable.Writer) error { return log.Rewrite(w, false, edit) })
	return err
}

// editor returns a function that removes the text of e from the operations of a
// log. They must be passed oldest first.
func (e *erasure) editor() func(operation.Line) *operation.Operation {
	var k operation.Keeper
	return func(line operation.Line) *operation.Operation {
		full := k.Full(line.Operation)
		return k.Keep(line.Operation, full, e.operation(full))
	}
}

// keptArgs are the arguments of an operation that never hold text.
var keptArgs = [...]string{"message", "role", "format", "source", "last", "verb", "agent"}

// operation returns o without the text of e, or o itself if it has none. The
// changed files remain listed, so that undo can refuse the operation.
func (e *erasure) operation(o *operation.Operation) *operation.Operation {
	if o.Verb == operation.External {
		return o // it has only ids
	}
	is := func(id string) bool { return e.sessions[id] }
	about := slices.ContainsFunc(o.Sessions, is)
	for _, c := range o.Changes {
		about = about || is(store.SessionOf(strings.TrimSuffix(c.File, store.BackupSuffix)))
	}
	edited := false
	short := *o
	short.Changes = slices.Clone(o.Changes)
	for i := range short.Changes {
		edited = e.change(&short.Changes[i], about) || edited
	}
	short.Args = map[string]any{}
	for name, value := range o.Args {
		if e.keeps(o, about, name, value) {
			short.Args[name] = value
		}
	}
	if !edited && len(short.Args) == len(o.Args) {
		return o
	}
	return &short
}

// keeps reports whether an argument of an operation has no text of e. about
// reports whether the operation is about e.
func (e *erasure) keeps(o *operation.Operation, about bool, name string, value any) bool {
	switch value := value.(type) {
	case float64, bool:
		return true
	case string:
		if slices.Contains(keptArgs[:], name) || slices.Contains(o.Sessions, value) {
			return true
		}
		return !about && !slices.ContainsFunc(e.titles, func(title string) bool { return strings.Contains(strings.ToLower(value), title) })
	}
	return !about
}

// change removes the text of e from a change and reports whether there was any.
// about reports whether the operation is about e.
func (e *erasure) change(c *operation.Change, about bool) bool {
	switch {
	case c.File == store.HeadFile:
		return false // it has only ids
	case c.File == bookmark.Path:
		return editTexts(c, e.bookmarks)
	case e.sessions[store.SessionOf(strings.TrimSuffix(c.File, store.BackupSuffix))]:
	case !store.IsAgent(c.File):
		return false
	case !about && (!c.Differs || c.After != "") && !e.mentions(c):
		return editTexts(c, e.treeNames)
	}
	had := c.Before != "" || c.After != "" || len(c.Splices) > 0
	c.Before, c.After, c.Splices = "", "", nil
	return had
}

// editTexts applies edit to the contents of a small file and reports whether they
// changed.
func editTexts(c *operation.Change, edit func([]byte) []byte) bool {
	before, after := string(edit([]byte(c.Before))), string(edit([]byte(c.After)))
	if before == c.Before && after == c.After {
		return false
	}
	c.Was, c.Is = restate(c.Was, c.Before, before), restate(c.Is, c.After, after)
	c.Before, c.After = before, after
	return true
}

// treeNames returns the file of an agent without the names of the trees of e.
func (e *erasure) treeNames(data []byte) []byte {
	for i, t := range gjson.GetBytes(data, "trees").Array() {
		if e.sessions[t.Get("id").Str] && t.Get("name").Str != "" {
			short, err := sjson.SetRawBytes(data, fmt.Sprintf("trees.%d.name", i), []byte("null"))
			if err != nil {
				return nil
			}
			data = short
		}
	}
	return data
}

// restate returns the state of a file whose content text was replaced with
// edited.
func restate(s *operation.State, text, edited string) *operation.State {
	if s == nil || text == edited {
		return s
	}
	return store.StateOfBytes([]byte(edited), nil)
}

// mentions reports whether the file of an agent had text of a message of e.
func (e *erasure) mentions(c *operation.Change) bool {
	if len(e.messages) == 0 {
		return false
	}
	texts := []string{c.Before, c.After}
	for _, s := range c.Splices {
		texts = append(texts, s.Old)
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		for _, at := range []string{"queue.#.id", "turn.unwritten.#.id", "turn.calls.#.node"} {
			for _, id := range gjson.Get(text, at).Array() {
				if e.messages[id.Str] {
					return true
				}
			}
		}
		return e.messages[gjson.Get(text, "turn.reply").Str]
	})
}

// bookmarks returns the bookmarks file without the bookmarks of e.
func (e *erasure) bookmarks(data []byte) []byte {
	f, err := bookmark.Decode(data)
	if err != nil {
		return data
	}
	for i, b := range slices.Backward(f.Bookmarks) {
		if !e.sessions[b.Session] {
			continue
		}
		data = f.Remove(i)
		if f, err = bookmark.Decode(data); err != nil {
			panic("workspace: " + err.Error()) // it was decoded before
		}
	}
	return data
}

// taskLine returns a record of tasks without the tasks of e. It still lists the
// messages that were tracked.
func (e *erasure) taskLine(line []byte) []byte {
	if !e.sessions[gjson.GetBytes(line, "session_id").Str] {
		return line
	}
	short, err := sjson.SetRawBytes(line, "tasks", []byte("[]"))
	if err == nil {
		short, err = sjson.DeleteBytes(short, "error")
	}
	if err != nil {
		return nil
	}
	return short
}

// importLine returns a record of imports with only the ids of the conversations
// of e.
func (e *erasure) importLine(line []byte) []byte {
	row := &importer.FileRow{}
	if !bytes.HasPrefix(line, []byte(`{"file":`)) || json.Unmarshal(line, row) != nil {
		return line
	}
	edited := false
	for i := range row.File.Rows {
		if r := &row.File.Rows[i]; e.sessions[string(r.Session)] && (r.Title != "" || r.Detail != "" || len(r.Problems)+len(r.Notes) > 0) {
			r.Title, r.Detail, r.Problems, r.Notes = "", "", nil, nil
			edited = true
		}
	}
	if !edited {
		return line
	}
	return rawjson.Compact(row)
}

// rewriteLines applies edit to each line of a file. If edit returns nil, the
// line is dropped. If no line changes, rewriteLines writes nothing.
func rewriteLines(tx *store.Tx, name string, edit func(line []byte) []byte) error {
	data, err := store.ReadRegular(tx.View.Root, name)
	if err != nil || len(data) == 0 {
		return err
	}
	var lines []byte
	for line := range bytes.Lines(data) {
		text, whole := bytes.CutSuffix(line, []byte("\n"))
		if !whole || len(text) == 0 {
			continue
		}
		if text = edit(text); text != nil {
			lines = append(append(lines, text...), '\n')
		}
	}
	if bytes.Equal(lines, data) {
		return nil
	}
	_, err = durable.Replace(tx.View.Root, name, durable.Bytes(lines))
	return err
}

// eraseExplorations deletes the explorations of the sessions of e. From other
// explorations it removes the results of branches that ran in these sessions.
// It also removes the learnings of all of them.
func eraseExplorations(tx *store.Tx, e *erasure) error {
	ids, err := tx.View.Store.Explorations(tx.View.Ctx)
	if err != nil {
		return err
	}
	explorations, branches := map[string]bool{}, map[string]bool{}
	var remove []string
	replace := map[string][]byte{}
	for _, id := range ids {
		name := store.ExplorationsDir + "/" + id + ".json"
		data, err := store.ReadRegular(tx.View.Root, name)
		if err != nil || data == nil {
			continue // doctor reports it
		}
		if e.sessions[gjson.GetBytes(data, "session_id").Str] {
			explorations[id] = true
			remove = append(remove, name)
			continue
		}
		short, err := e.exploration(data, branches)
		if err != nil {
			return err
		}
		if !bytes.Equal(short, data) {
			replace[name] = short
		}
	}
	err = rewriteLines(tx, store.LearningsPath, func(line []byte) []byte {
		if explorations[gjson.GetBytes(line, "exploration_id").Str] || branches[gjson.GetBytes(line, "branch_id").Str] {
			return nil
		}
		return line
	})
	if err != nil {
		return err
	}
	for name, data := range replace {
		if _, err := durable.Replace(tx.View.Root, name, durable.Bytes(data)); err != nil {
			return err
		}
	}
	for _, name := range remove { // after the learnings, which are found by these files
		if err := durable.Remove(tx.View.Root, name); err != nil {
			return err
		}
	}
	return nil
}

// exploration returns the file of an exploration without the text of branches
// that ran in sessions of e, and adds the sessions of the removed branches to
// branches.
func (e *erasure) exploration(data []byte, branches map[string]bool) ([]byte, error) {
	var edits []struct{ path, value string }
	set := func(path, value string) {
		if at := gjson.GetBytes(data, path); at.Exists() && at.Raw != value {
			edits = append(edits, struct{ path, value string }{path, value})
		}
	}
	for i, b := range gjson.GetBytes(data, "branches").Array() {
		if !e.sessions[b.Get("session_id").Str] {
			continue
		}
		branches[b.Get("branch_id").Str] = true
		at := fmt.Sprintf("branches.%d.", i)
		set(at+"result", `""`)
		set(at+"reason", `""`)
		set(at+"metrics", "null")
		set(at+"insights", "[]")
	}
	if len(branches) == 0 {
		return data, nil
	}
	for i, n := range gjson.GetBytes(data, "notes").Array() {
		if branches[n.Get("branch_id").Str] {
			set(fmt.Sprintf("notes.%d.text", i), `""`)
		}
	}
	for _, from := range gjson.GetBytes(data, "evaluation.from").Array() {
		if branches[from.Str] {
			set("evaluation.result", `""`)
			set("evaluation.reasons", "[]")
		}
	}
	for _, edit := range edits {
		var err error
		if data, err = sjson.SetRawBytes(data, edit.path, []byte(edit.value)); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// eraseAgents removes the queued and unwritten messages of e from the files of agents.
func eraseAgents(tx *store.Tx, e *erasure) error {
	return tx.View.EachAgent(func(_ string, a *agents.Agent, err error) error {
		if err != nil || !e.mentions(&operation.Change{After: string(a.File)}) {
			return nil // doctor reports a damaged file
		}
		a.Queue = slices.DeleteFunc(slices.Clone(a.Queue), func(q turn.Entry) bool { return e.messages[q.ID] })
		a.Turn.Unwritten, a.Turn.Text, a.Turn.Calls = nil, "", nil
		_, err = durable.Replace(tx.View.Root, agent.Path(a.Name), durable.Bytes(a.Encode()))
		return err
	})
}

// goneWith returns the sessions that have no other copy than files, a part of
// the trash, whose contents are all.
func goneWith(v *store.View, files, all []trash.File) (ids, titles []string) {
	left := map[string]int{}
	for _, f := range all {
		left[store.SessionOf(f.File)]++
	}
	for _, f := range files {
		left[store.SessionOf(f.File)]--
	}
	for _, f := range files {
		id := store.SessionOf(f.File)
		if id != "" && left[id] == 0 && !v.IsThere(v.Folder.File(id)) && !slices.Contains(ids, id) {
			ids = append(ids, id)
			title := "metadata.title"
			if store.RecipeOf(f.File) != "" {
				title = "session.metadata.title"
			}
			if data, err := durable.ReadFile(v.Root, v.NameOf(f)); err == nil {
				titles = append(titles, gjson.GetBytes(data, title).Str)
			}
		}
	}
	return ids, titles
}
