package workspace_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/forget"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/merge"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/bough-dev/bough/workspace/project"
	"github.com/bough-dev/bough/workspace/provenance"
	"github.com/bough-dev/bough/workspace/rewrite"
	"github.com/bough-dev/bough/workspace/trash"
)

// A scenario is a verb with its setup.
type scenario struct {
	name   string
	limit  int
	most   int                        // the number of folders per step, beyond those of single changes, if the index is large, else 0
	absent bool                       // without a folder
	files  func(dir string) error     // writes the files of another program
	log    operation.Retention        // when the log is compacted
	erases string                     // a text that must be in no file if no session and no trash has it
	mends  []string                   // the problems before the verb
	notes  []string                   // the notes of doctor before the verb
	apart  bool                       // its operations are independent
	packs  bool                       // packed checkpoints must be possible afterwards
	states bool                       // it receives states of files; repeating it completes that
	places bool                       // it says where sessions come from, or where projects are
	setup  func(s *space) (verb verb) // makes the acknowledged state

	interrupted func(s *space) verb // after setup, returns a verb that is interrupted before the other
}

// unfinished lists the known violations.
var unfinished = table{
	{"recovery of pack", "undone", "if the completion fails and then the verb succeeds, the plain file stays beside the recipe, and hides it"},
	{"recovery of undo of unpack", "undone", "if the completion fails and then the verb succeeds, the plain file stays beside the recipe, and hides it"},
}

// needless lists the syncs and orders of the verbs that are not needed: nothing is lost
// without them.
var needless = table{
	{"new in an absent folder", "without syncdir deep/chat", "the folder is synced again before anything in it counts"},
	{"doctor --fix of a torn index", "with swap conversations/.session_index.json.bough-tmp conversations/session_index.json before sync conversations/.session_index.json.bough-tmp", "the index is torn before, and again until it is mended"},
	{"doctor --fix of a torn session", "without syncdir .bough/trash/STAMP/conversations", "the folder is synced again before anything in it counts"},
	{"doctor --fix of a torn session", "with swap conversations/.SESSION.json.bough-tmp conversations/SESSION.json before sync conversations/.SESSION.json.bough-tmp", "the session is torn before, and again until it is mended"},
	{"append that folds the journal in", "with unlink conversations/session_index.journal before syncdir conversations", "the journal says nothing that the files do not"},
	{"append that folds the journal in", "without syncdir conversations (2)", "the journal says nothing that the files do not"},
	{"append that folds the journal in", "with unlink conversations/session_index.journal before syncdir conversations (2)", "the journal says nothing that the files do not"},
	{"append that folds the journal in", "without syncdir conversations (3)", "the journal says nothing that the files do not"},
	{"undo of rm --line", "without syncdir .bough/trash/STAMP/conversations", "what is in the trash too does no harm"},
	{"undo of agent create", "without syncdir .bough/trash/STAMP", "the folder is synced again before anything in it counts"},
	{"undo of agent create", "without syncdir conversations", "the index may be lost"},
	{"undo of agent create", "with rename conversations/SESSION.json .bough/trash/STAMP/conversations/SESSION.json before syncdir conversations", "the index may be lost"},
	{"rm of a tree", "without syncdir conversations", "the index may be lost"},
	{"rm of a tree", "with rename conversations/SESSION.json .bough/trash/STAMP/conversations/SESSION.json before syncdir conversations", "the index may be lost"},
	{"agent delete", "without syncdir conversations", "the index may be lost"},
	{"agent delete", "with rename conversations/SESSION.json .bough/trash/STAMP/conversations/SESSION.json before syncdir conversations", "the index may be lost"},
	{"undo of agent delete", "without syncdir .bough/trash/STAMP/conversations", "what is in the trash too does no harm"},
	{"trash --purge", "with unlink .bough/trash/STAMP/conversations before unlink .bough/trash/STAMP/conversations/SESSION.json", "what is deleted for good may go in any order"},
	{"trash --purge", "with unlink .bough/trash/STAMP/head.json before unlink .bough/trash/STAMP/conversations", "what is deleted for good may go in any order"},
	{"trash --purge", "with unlink .bough/trash/STAMP before unlink .bough/trash/STAMP/head.json", "what is deleted for good may go in any order"},
	{"trash --purge", "without sync .bough/operations.jsonl", "undo cannot revert a purge"},
	{"forget", "with unlink conversations/SESSION.json before syncdir .bough", "forget.json lists the file, so it may be deleted in any order"},
	{"forget", "with unlink conversations/SESSION.json before syncdir .bough (2)", "forget.json lists the file, so it may be deleted in any order"},
	{"forget", "with unlink conversations/SESSION.json before syncdir conversations", "forget.json lists the file, so it may be deleted in any order"},
	{"forget", "with unlink conversations/SESSION.json before syncdir conversations (2)", "forget.json lists the file, so it may be deleted in any order"},
	{"forget", "with unlink conversations/SESSION.json before syncdir conversations (3)", "forget.json lists the file, so it may be deleted in any order"},
	{"forget", "with unlink conversations/SESSION.json before syncdir conversations (4)", "forget.json lists the file, so it may be deleted in any order"},
	{"forget", "without syncdir conversations", "the folder is synced again before the last step"},
	{"forget", "without syncdir conversations (2)", "the folder is synced again before the last step"},
	{"forget", "without syncdir conversations (3)", "the folder is synced again before the last step"},
	{"forget", "with unlink .bough/forget.json before sync .bough/operations.jsonl", "the log was replaced, and says it then"},
	{"forget", "without sync .bough/operations.jsonl (2)", "the log was replaced, and says it then"},
	{"forget of a packed checkpoint", "with unlink packed/SESSION.json before syncdir .bough", "forget.json lists the file, so it may be deleted in any order"},
	{"forget of a packed checkpoint", "with unlink packed/SESSION.json before syncdir .bough (2)", "forget.json lists the file, so it may be deleted in any order"},
	{"forget of a packed checkpoint", "with unlink .bough/forget.json before sync .bough/operations.jsonl", "the log was replaced, and says it then"},
	{"forget of a packed checkpoint", "without sync .bough/operations.jsonl (2)", "the log was replaced, and says it then"},
	{"doctor --fix", "without syncdir .bough/trash/STAMP/conversations", "the folder is synced again before anything in it counts"},
	{"doctor --fix", "without syncdir conversations", "a temporary file that is back is removed again"},
	{"doctor --fix", "without syncdir conversations (2)", "a link of one side is mended again"},
	{"doctor --fix", "with swap conversations/.SESSION.json.bough-tmp conversations/SESSION.json before syncdir deep/chat", "the former file has the temporary name until later"},
	{"doctor --fix", "with swap conversations/.SESSION.json.bough-tmp conversations/SESSION.json before syncdir .bough/trash/STAMP", "the former file has the temporary name until later"},
	{"doctor --fix", "with swap conversations/.SESSION.json.bough-tmp conversations/SESSION.json before syncdir conversations", "the former file has the temporary name until later"},
	{"pull of a message beside the head", "with rename .head.json.bough-tmp head.json before syncdir conversations", "without the message the conversation ends at the head"},
	{"store with an attachment", "with rename .bough/.incoming.bough-tmp .bough/incoming before sync .bough/.incoming.bough-tmp", "no program reads it before it has its name in files, and it is synced by then"},
	{"store with an attachment", "without syncdir .bough", "an attachment that has no name in files is swept away"},
	{"store with an attachment", "with rename .bough/incoming files/92b2fa58028958317e408bd84ecfa70f5ee35b121991dbc232c49d166353708b before syncdir .bough", "an attachment that has no name in files is swept away"},
	{"rm in a folder of Penguin's", "with rename conversations/SESSION.json.bak .bough/trash/STAMP/conversations/SESSION.json.bak before syncdir .bough/trash/STAMP/conversations", "an older copy is nobody's session"},
	{"rm in a folder of Penguin's", "with rename conversations/SESSION.json.bak .bough/trash/STAMP/conversations/SESSION.json.bak before syncdir conversations", "an older copy is nobody's session"},
	{"trash --purge of a packed checkpoint", "with unlink .bough/trash/STAMP/packed/SESSION.json before syncdir .bough", "what is deleted for good may go in any order"},
	{"trash --purge of a packed checkpoint", "with unlink .bough/trash/STAMP/packed/SESSION.json before syncdir .bough (2)", "what is deleted for good may go in any order"},
	{"trash --purge of a packed checkpoint", "with unlink .bough/trash/STAMP/packed before unlink .bough/trash/STAMP/packed/SESSION.json", "what is deleted for good may go in any order"},
	{"trash --purge of a packed checkpoint", "with unlink .bough/trash/STAMP before unlink .bough/trash/STAMP/packed", "what is deleted for good may go in any order"},
	{"trash --purge of a packed checkpoint", "with unlink .bough/trash/STAMP/conversations/SESSION.json before syncdir .bough/trash", "what is deleted for good may go in any order"},
	{"trash --purge of a packed checkpoint", "with unlink .bough/trash/STAMP/conversations/SESSION.json before syncdir .bough/trash (2)", "what is deleted for good may go in any order"},
	{"trash --purge of a packed checkpoint", "with unlink .bough/trash/STAMP/conversations before unlink .bough/trash/STAMP/conversations/SESSION.json", "what is deleted for good may go in any order"},
	{"trash --purge of a packed checkpoint", "with unlink .bough/trash/STAMP/head.json before unlink .bough/trash/STAMP/conversations", "what is deleted for good may go in any order"},
	{"trash --purge of a packed checkpoint", "with unlink .bough/trash/STAMP before unlink .bough/trash/STAMP/head.json", "what is deleted for good may go in any order"},
	{"trash --purge of a packed checkpoint", "without sync .bough/.operations.jsonl.bough-tmp", "the sessions are the same before and after"},
	{"trash --purge of a packed checkpoint", "with rename .bough/.operations.jsonl.bough-tmp .bough/operations.jsonl before sync .bough/.operations.jsonl.bough-tmp", "the sessions are the same before and after"},
	{"trash --purge of a packed checkpoint", "without syncdir .bough/trash", "the next purge deletes it again"},
	{"trash --purge of a packed checkpoint", "without sync .bough/operations.jsonl", "undo cannot revert a purge"},
	{"prune of packed checkpoints, with a purge", "with unlink .bough/trash/STAMP-pruned/packed/SESSION.json before syncdir .bough/trash/STAMP-pruned", "what is deleted for good may go in any order"},
	{"prune of packed checkpoints, with a purge", "with unlink .bough/trash/STAMP-pruned/packed/SESSION.json before syncdir .bough/trash/STAMP-pruned (2)", "what is deleted for good may go in any order"},
	{"prune of packed checkpoints, with a purge", "with unlink .bough/trash/STAMP-pruned/packed before unlink .bough/trash/STAMP-pruned/packed/SESSION.json", "what is deleted for good may go in any order"},
	{"prune of packed checkpoints, with a purge", "with unlink .bough/trash/STAMP-pruned before unlink .bough/trash/STAMP-pruned/packed", "what is deleted for good may go in any order"},
	{"prune of packed checkpoints, with a purge", "without syncdir .bough/trash", "the next prune deletes it again"},
	{"undo of unpack", "without syncdir conversations", "the index may be lost"},
	{"redo of pack", "without syncdir conversations", "the index may be lost"},
	{"pack", "with unlink conversations/.session_index.json.bough-tmp before swap conversations/.session_index.json.bough-tmp conversations/session_index.json", "the index may be lost"},
	{"pack", "without syncdir conversations", "the index may be lost"},
	{"pack", "without syncdir conversations (3)", "the index may be lost"},
}

var scenarios = []scenario{
	{name: "new in an absent folder", absent: true, setup: func(*space) verb { return begin("Bread") }},
	{name: "new", setup: func(*space) verb { return begin("Bread") }},
	{name: "append to a session", setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b")
		s.new("Soup")
		return add(workspace.Append{Session: "Bread", Text: "c"})
	}},
	{name: "append that compacts the log", log: operation.Retention{Age: time.Hour, Operations: 2, Every: 5}, setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b", "c", "d", "e", "f")
		return add(workspace.Append{Text: "g"})
	}},
	{name: "append at the head", setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b")
		return add(workspace.Append{Text: "c"})
	}},
	{name: "append under an earlier message", setup: func(s *space) verb {
		s.new("Bread")
		ids := s.say("a", "b")
		return add(workspace.Append{Session: "Bread", Parent: ids[0], Text: "c"})
	}},
	{name: "append that opens a continuation", limit: 3, setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b", "c")
		return add(workspace.Append{Text: "d"})
	}},
	{name: "append that opens a second continuation", limit: 3, setup: func(s *space) verb {
		s.new("Bread")
		ids := s.say("a", "b", "c", "d", "e", "f")
		return add(workspace.Append{Session: "Bread", Parent: ids[0], Text: "x"})
	}},
	{name: "append below a full file", limit: 3, setup: func(s *space) verb {
		s.new("Bread")
		ids := s.say("a", "b", "c", "d")
		return add(workspace.Append{Session: "Bread", Parent: ids[0], Text: "x"})
	}},
	{name: "append to a checkpoint", setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b")
		point := s.checkpoint("Bread")
		return add(workspace.Append{Session: point.ID, Text: "c"})
	}},
	{name: "append at a head in a checkpoint", setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b")
		if _, err := s.Restore(context.Background(), s.checkpoint("Bread").ID); err != nil {
			s.t.Fatal(err)
		}
		return add(workspace.Append{Text: "c"})
	}},
	{name: "merge", setup: func(s *space) verb {
		branched(s)
		return mergeBranch(merge.Options{})
	}},
	{name: "merge that opens a continuation", limit: 3, setup: func(s *space) verb {
		branched(s)
		s.say("c")
		return mergeBranch(merge.Options{Summary: "By train."})
	}},
	{name: "merge into a checkpoint", setup: func(s *space) verb {
		branched(s)
		if _, err := s.Restore(context.Background(), s.checkpoint("Bread").ID); err != nil {
			s.t.Fatal(err)
		}
		return mergeBranch(merge.Options{})
	}},
	{name: "checkpoint", limit: 3, setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b", "c", "d")
		return func(s *space) error {
			_, err := s.Checkpoint(context.Background(), "Bread", workspace.SnapshotOptions{})
			return err
		}
	}},
	{name: "branch", limit: 3, setup: func(s *space) verb {
		s.new("Bread")
		ids := s.say("a", "b", "c", "d")
		return branchAt("Bread@" + ids[3])
	}},
	{name: "pick", limit: 3, setup: func(s *space) verb {
		s.new("Bread")
		ids := s.say("a", "b", "c", "d")
		return pick("Bread@"+ids[0], "Bread@"+ids[0]+"..Bread")
	}},
	{name: "pick onto a checkpoint", setup: func(s *space) verb {
		s.new("Bread")
		ids := s.say("a", "b")
		return pick(s.checkpoint("Bread").ID, "Bread@"+ids[0])
	}},
	{name: "edit", setup: func(s *space) verb {
		s.new("Bread")
		ids := s.say("a", "b")
		return func(s *space) error {
			_, err := s.EditMessage(context.Background(), "Bread@"+ids[0], rewrite.EditOptions{Text: "c"})
			return err
		}
	}},
	{name: "prune-context", limit: 3, setup: func(s *space) verb {
		s.new("Bread")
		ids := s.say("a", "b", "c", "d")
		return func(s *space) error {
			_, err := s.PruneContext(context.Background(), "Bread", rewrite.PruneContextOptions{Squash: ids[0] + ".." + ids[1], Summary: "s"})
			return err
		}
	}},
	{name: "restore", setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b")
		point := s.checkpoint("Bread")
		s.say("c")
		return func(s *space) error {
			_, err := s.Restore(context.Background(), point.ID)
			return err
		}
	}},
	{name: "rewind", setup: func(s *space) verb {
		s.new("Bread")
		ids := s.say("a", "b")
		return func(s *space) error {
			_, err := s.Rewind(context.Background(), "Bread@"+ids[0], checkpoint.CutOptions{})
			return err
		}
	}},
	{name: "store with an attachment", setup: func(s *space) verb {
		s.new("Bread")
		ids := s.say("a", "b")
		return func(s *space) error {
			_, err := s.Line("Bread").Store(context.Background(), lines.Message{
				Parent: ids[0], Content: picture, Files: []lines.File{attachment("a picture")},
			})
			return err
		}
	}},
	{name: "new line", setup: func(s *space) verb {
		return func(s *space) error {
			_, _, err := s.NewLine(context.Background(), lines.Options{UUID: "4f3c0a52-7d0e-4c5e-9d6b-0d2f3b1a9c77", Configs: []byte(`{"a":1}`)})
			return err
		}
	}},
	{name: "configure", setup: func(s *space) verb {
		s.new("Bread")
		return func(s *space) error {
			_, err := s.Line("Bread").SetConfigs(context.Background(), []byte(`{"a":1}`), true)
			return err
		}
	}},
	{name: "annotate", limit: 3, setup: func(s *space) verb {
		s.new("Bread")
		ids := s.say("a", "b", "c", "d")
		return func(s *space) error {
			_, err := s.Line("Bread").SetMeta(context.Background(), ids[1], []byte(`{"a":1}`))
			return err
		}
	}},
	{name: "note", setup: func(s *space) verb {
		s.new("Bread")
		return func(s *space) error {
			_, err := s.Line("Bread").AddEvent(context.Background(), "seen", []byte(`{"a":1}`))
			return err
		}
	}},
	{name: "bookmark", setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b")
		return label("Bread", "here")
	}},
	{name: "bookmark beside another", setup: func(s *space) verb {
		s.new("Bread")
		ids := s.say("a", "b")
		if err := label("Bread@"+ids[0], "there")(s); err != nil {
			s.t.Fatal(err)
		}
		return label("Bread", "here")
	}},
	{name: "bookmark --rm", setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b")
		if err := label("Bread", "here")(s); err != nil {
			s.t.Fatal(err)
		}
		return func(s *space) error {
			_, err := s.RemoveBookmark(context.Background(), "here")
			return err
		}
	}},
	{name: "undo of bookmark", setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b")
		if err := label("Bread", "here")(s); err != nil {
			s.t.Fatal(err)
		}
		return undo
	}},
	{name: "copy", limit: 3, setup: func(s *space) verb {
		s.new("Bread")
		ids := s.say("a", "b", "c", "d", "e")
		s.append(workspace.Append{Session: "Bread", Parent: ids[1], Text: "x"})
		return func(s *space) error {
			_, err := s.Line("Bread").Copy(context.Background(), 0)
			return err
		}
	}},
	{name: "import", setup: func(s *space) verb {
		s.new("Bread")
		return func(s *space) error { return take(s, askedTwice) }
	}},
	{name: "import of more", setup: func(s *space) verb {
		if err := take(s, askedTwice); err != nil {
			panic(err)
		}
		return func(s *space) error { return take(s, askedThrice) }
	}},
	{name: "group of five", limit: 3, apart: true, setup: func(s *space) verb { return several(s) }},
	{name: "undo of a group", limit: 3, apart: true, setup: func(s *space) verb {
		if err := several(s)(s); err != nil {
			s.t.Fatal(err)
		}
		return undo
	}},
	{name: "redo of a group", limit: 3, apart: true, setup: func(s *space) verb {
		if err := several(s)(s); err != nil {
			s.t.Fatal(err)
		}
		if err := undo(s); err != nil {
			s.t.Fatal(err)
		}
		return redo
	}},
	{name: "pull", limit: 3, apart: true, setup: func(s *space) verb {
		return pulled(s, func(other *machine, said []string) {
			other.append(workspace.Append{Session: "Bread", Parent: said[0], Text: "d"})
			other.new("Rice")
			other.say("f")
			other.new("Oats")
		})
	}},
	{name: "undo of pull", limit: 3, apart: true, setup: func(s *space) verb {
		take := pulled(s, func(other *machine, said []string) {
			other.append(workspace.Append{Session: "Bread", Parent: said[0], Text: "d"})
			other.new("Rice")
		})
		if err := take(s); err != nil {
			s.t.Fatal(err)
		}
		return undo
	}},
	{name: "pull of a continuation", limit: 2, setup: func(s *space) verb {
		return pulled(s, func(other *machine, said []string) {
			other.append(workspace.Append{Session: "Bread", Text: "d"})
		})
	}},
	{name: "pull of a message beside the head", limit: 3, setup: func(s *space) verb {
		return pulled(s, func(other *machine, said []string) {
			other.append(workspace.Append{Session: "Soup", Text: "d"})
			s.say("e")
		})
	}},
	{name: "pull of a bookmark", setup: func(s *space) verb {
		return pulled(s, func(other *machine, said []string) {
			if _, err := other.Bookmark(context.Background(), said[1], "here", workspace.BookmarkOptions{}); err != nil {
				s.t.Fatal(err)
			}
		})
	}},
	{name: "pull of a removal", setup: func(s *space) verb {
		return pulled(s, func(other *machine, said []string) {
			if _, err := other.Remove(context.Background(), "Soup", workspace.RemoveOptions{}); err != nil {
				s.t.Fatal(err)
			}
		})
	}},
	{name: "pull of an undo", setup: func(s *space) verb {
		bread := s.new("Bread")
		said := s.say("a", "b")
		s.new("Soup")
		return pull(mirror.Changes{Undone: []mirror.Ref{{Session: bread, Message: said[1]}}})
	}},
	{name: "pull of origins", places: true, setup: func(s *space) verb {
		bread := s.new("Bread")
		take := pull(mirror.Changes{Origins: []provenance.Origin{{Session: bread, Owner: "Ada"}}})
		if err := take(s); err != nil {
			s.t.Fatal(err)
		}
		return pull(mirror.Changes{Origins: []provenance.Origin{{Session: bread, Owner: "Bo", Project: &project.Project{ID: "notes"}}}})
	}},
	{name: "map of a project", places: true, setup: func(s *space) verb {
		s.new("Bread")
		folder := s.t.TempDir()
		set := func(name string) verb {
			return func(s *space) error {
				_, err := s.MapProject(context.Background(), name, folder)
				return err
			}
		}
		if err := set("notes")(s); err != nil {
			s.t.Fatal(err)
		}
		return set("site")
	}},
	{name: "pull of states", apart: true, states: true, setup: func(s *space) verb {
		take := pulledStates(s)
		if err := take(1)(s); err != nil {
			s.t.Fatal(err)
		}
		return take(2)
	}},
	{name: "rename", setup: func(s *space) verb {
		id := s.new("Bread")
		s.say("a")
		return rename(id, "Rye")
	}},
	{name: "rm", setup: func(s *space) verb {
		s.new("Bread")
		s.say("a")
		s.new("Soup")
		return remove("Bread", workspace.RemoveOptions{})
	}},
	{name: "rm with the head", setup: func(s *space) verb {
		s.new("Bread")
		s.say("a")
		return remove("Bread", workspace.RemoveOptions{})
	}},
	{name: "rm of a continuation", limit: 3, setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b", "c")
		next := s.append(workspace.Append{Text: "d"})
		return remove(next.Session, workspace.RemoveOptions{})
	}},
	{name: "rm --force", setup: func(s *space) verb {
		id := s.new("Bread")
		s.say("a")
		s.checkpoint("Bread")
		return remove(id, workspace.RemoveOptions{Force: true})
	}},
	{name: "rm --line", limit: 2, setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b", "c", "d", "e")
		return remove("Bread", workspace.RemoveOptions{Line: true})
	}},
	{
		name:  "doctor --fix",
		limit: 2,
		mends: []string{doctor.LostHead, doctor.OneSidedLink},
		setup: func(s *space) verb {
			id := s.new("Bread")
			s.say("a", "b")
			before := s.read(session.FileName(id))
			s.say("c")
			s.write(session.FileName(id), before)
			s.write("head.json", `{"session_id":"gone","message_id":null}`)
			s.write("conversations/.session_index.json"+durable.TempSuffix, "{")
			return mend
		},
	},
	{name: "agent create", setup: func(s *space) verb {
		return func(s *space) error {
			_, err := s.Agent("ada").Create(context.Background(), agents.Options{System: "Be brief."})
			return err
		}
	}},
	{name: "agent switch", setup: func(s *space) verb {
		first := s.agent("ada").Trees[0].ID
		s.tree("ada", "rest")
		return func(s *space) error {
			_, err := s.Agent("ada").Switch(context.Background(), first, checkpoint.CutOptions{})
			return err
		}
	}},
	{name: "new tree", setup: func(s *space) verb {
		s.agent("ada")
		return func(s *space) error {
			_, err := s.Agent("ada").NewTree(context.Background(), "rest")
			return err
		}
	}},
	{name: "branch tree", limit: 2, setup: func(s *space) verb {
		s.agent("ada")
		s.new("Bread")
		ids := s.say("a", "b", "c")
		return func(s *space) error {
			_, err := s.Agent("ada").BranchTree(context.Background(), "Bread@"+ids[2], "", checkpoint.CutOptions{})
			return err
		}
	}},
	{name: "agent rm", setup: func(s *space) verb {
		s.agent("ada")
		return func(s *space) error {
			_, err := s.Agent("ada").Remove(context.Background())
			return err
		}
	}},
	{name: "rm of a tree", limit: 2, setup: func(s *space) verb {
		s.agent("ada")
		tree := s.tree("ada", "rest")
		for _, text := range []string{"a", "b", "c"} {
			s.append(workspace.Append{Session: tree, Text: text})
		}
		return remove(tree, workspace.RemoveOptions{Line: true, Force: true})
	}},
	{name: "agent set", setup: func(s *space) verb {
		s.agent("ada")
		return func(s *space) error {
			model := "command:cat"
			_, err := s.Agent("ada").Set(context.Background(), agents.Change{Model: &model})
			return err
		}
	}},
	{name: "agent archive", setup: func(s *space) verb {
		first := s.agent("ada").Trees[0].ID
		s.tree("ada", "rest")
		return func(s *space) error {
			_, err := s.Agent("ada").ArchiveTree(context.Background(), first)
			return err
		}
	}},
	{name: "agent delete", limit: 2, setup: func(s *space) verb {
		first := s.agent("ada").Trees[0].ID
		s.answer("ada", "a", "b", "c")
		s.tree("ada", "rest")
		return deleteTree(first)
	}},
	{name: "undo of agent delete", limit: 2, setup: func(s *space) verb {
		first := s.agent("ada").Trees[0].ID
		s.answer("ada", "a", "b", "c")
		s.tree("ada", "rest")
		if err := deleteTree(first)(s); err != nil {
			s.t.Fatal(err)
		}
		return undo
	}},
	{name: "undo of agent create", setup: func(s *space) verb {
		s.agent("ada")
		return undo
	}},
	{name: "undo of agent switch", setup: func(s *space) verb {
		first := s.agent("ada").Trees[0].ID
		s.tree("ada", "rest")
		if _, err := s.Agent("ada").Switch(context.Background(), first, checkpoint.CutOptions{}); err != nil {
			s.t.Fatal(err)
		}
		return undo
	}},
	{name: "undo of new", setup: func(s *space) verb {
		s.new("Bread")
		return undo
	}},
	{name: "undo of append", setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b")
		return undo
	}},
	{name: "undo of append that opened a continuation", limit: 2, setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b", "c")
		return undo
	}},
	{name: "undo of append below a full file", limit: 2, setup: func(s *space) verb {
		s.new("Bread")
		ids := s.say("a", "b", "c")
		s.append(workspace.Append{Session: "Bread", Parent: ids[0], Text: "x"})
		return undo
	}},
	{name: "undo of rm --line", limit: 2, setup: func(s *space) verb {
		id := s.new("Bread")
		s.say("a", "b", "c", "d", "e")
		if err := remove(id, workspace.RemoveOptions{Line: true})(s); err != nil {
			s.t.Fatal(err)
		}
		return undo
	}},
	{name: "redo of append that opens a continuation", limit: 2, setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b", "c")
		if err := undo(s); err != nil {
			s.t.Fatal(err)
		}
		return redo
	}},
	{name: "redo of rm --line", limit: 2, setup: func(s *space) verb {
		id := s.new("Bread")
		s.say("a", "b", "c")
		if err := remove(id, workspace.RemoveOptions{Line: true})(s); err != nil {
			s.t.Fatal(err)
		}
		if err := undo(s); err != nil {
			s.t.Fatal(err)
		}
		return redo
	}},
	{name: "prune", setup: func(s *space) verb {
		s.new("Bread")
		for i := range 3 {
			s.say(fmt.Sprint(i))
			if _, err := s.Checkpoint(s.t.Context(), "Bread", workspace.SnapshotOptions{Auto: true}); err != nil {
				s.t.Fatal(err)
			}
		}
		return func(s *space) error {
			w, err := workspace.Open(context.Background(), s.Dir(), &workspace.Options{
				Retention: checkpoint.Retention{Limit: 1},
				Now:       func() time.Time { return time.Date(2026, 5, 2, 15, 32, 2, 0, time.UTC) },
			})
			if err == nil {
				_, err = w.Prune(context.Background(), workspace.PruneOptions{})
			}
			return err
		}
	}},
	{name: "trash --purge", erases: "Bread", setup: func(s *space) verb {
		id := s.new("Bread")
		if err := remove(id, workspace.RemoveOptions{})(s); err != nil {
			s.t.Fatal(err)
		}
		return func(s *space) error {
			_, err := s.PurgeTrash(context.Background(), trash.PurgeOptions{})
			return err
		}
	}},
	{name: "forget", limit: 3, erases: "Bread", setup: func(s *space) verb {
		id := s.new("Bread")
		ids := s.say("a", "b", "c", "d")
		label(id+"@"+ids[0], "Bread")(s)
		if _, err := s.Branch(context.Background(), id, workspace.SnapshotOptions{Name: "Cake", KeepHead: true}); err != nil {
			s.t.Fatal(err)
		}
		old := s.new("Bread again")
		if err := remove(old, workspace.RemoveOptions{})(s); err != nil {
			s.t.Fatal(err)
		}
		if _, err := s.Forget(context.Background(), old, forget.Options{}); err != nil {
			s.t.Fatal(err)
		}
		return func(s *space) error {
			_, err := s.Forget(context.Background(), id, forget.Options{Copies: true})
			return err
		}
	}},
	{name: "forget of a packed checkpoint", limit: 9, erases: "Bread", setup: func(s *space) verb {
		id := s.new("Bread")
		ids := s.say("a", "b", "Bread")
		cp := s.packedAs(id, "Bread 2")
		b, err := s.Branch(context.Background(), id+"@"+ids[1], workspace.SnapshotOptions{Name: "Cake"})
		if err != nil {
			s.t.Fatal(err)
		}
		s.packedAs(b.ID, "Kept")
		if _, err := s.Forget(context.Background(), id, forget.Options{}); err != nil {
			s.t.Fatal(err)
		}
		return func(s *space) error {
			_, err := s.Forget(context.Background(), cp, forget.Options{})
			return err
		}
	}},
	{name: "doctor --fix of a damaged pack", mends: []string{doctor.DamagedPack}, setup: func(s *space) verb {
		_, _, _, _, pack := s.packs()
		s.write(pack, s.read(pack)+"P*M") // no checkpoint needs the damaged part
		return mend
	}},
	{name: "doctor --fix of a torn session", mends: []string{doctor.DamagedSession}, setup: func(s *space) verb {
		id := s.new("Bread")
		s.say("a", "b")
		s.new("Soup")
		text := s.read(session.FileName(id))
		s.write(session.FileName(id), text[:len(text)-100])
		return mend
	}},
	{name: "doctor --fix of a torn index", mends: []string{doctor.DamagedIndex}, setup: func(s *space) verb {
		s.new("Bread")
		s.say("a", "b")
		s.write(session.IndexPath, "{")
		return mend
	}},
	{name: "append in a folder of Penguin's", limit: 9, files: penguin(8, 4), setup: func(s *space) verb {
		return add(workspace.Append{Session: lastOf(8, 4), Text: "next"})
	}},
	{name: "append that opens a continuation of Penguin's", limit: 4, files: penguin(8, 4), setup: func(s *space) verb {
		return add(workspace.Append{Session: lastOf(8, 4), Text: "next"})
	}},
	{name: "branch in a folder of Penguin's", files: penguin(8, 4), setup: func(s *space) verb {
		return branchAt(lastOf(8, 4))
	}},
	{
		name: "rm in a folder of Penguin's",
		files: func(dir string) error {
			if err := penguin(8, 4)(dir); err != nil {
				return err
			}
			older := filepath.Join(dir, filepath.FromSlash(session.FileName(lastOf(8, 4))+".bak"))
			return os.WriteFile(older, []byte("{}\n"), 0o600)
		},
		setup: func(s *space) verb { return remove(lastOf(8, 4), workspace.RemoveOptions{}) },
	},
	{name: "append to a journal", most: 10, files: long, setup: func(s *space) verb {
		s.new("Bread")
		s.say("a")
		return add(workspace.Append{Text: "b"})
	}},
	{name: "append that begins a journal", most: 10, files: long, setup: func(s *space) verb {
		s.new("Bread")
		s.delete(session.IndexPath)
		s.say("a") // writes a whole index
		if _, err := os.Stat(filepath.Join(s.Dir(), filepath.FromSlash(index.JournalPath))); err == nil {
			s.t.Fatal("there is a journal already")
		}
		return add(workspace.Append{Text: "b"})
	}},
	{name: "append that folds the journal in", most: 5, files: long, setup: func(s *space) verb {
		s.new("Bread")
		s.say("a")
		if err := add(workspace.Append{Session: "long0", Text: "a"})(s); err != nil {
			s.t.Fatal(err)
		}
		return add(workspace.Append{Session: "long1", Text: "b"}) // too much for the journal, with both titles
	}},
	{name: "rm with a journal", most: 10, files: long, setup: func(s *space) verb {
		s.new("Bread")
		s.say("a")
		return remove("Bread", workspace.RemoveOptions{})
	}},
}

func begin(title string) verb {
	return func(s *space) error {
		_, err := s.New(context.Background(), title)
		return err
	}
}

func add(a workspace.Append) verb {
	return func(s *space) error {
		_, err := s.Append(context.Background(), a)
		return err
	}
}

// pick copies messages onto a REF.
func pick(onto string, refs ...string) verb {
	return func(s *space) error {
		_, err := s.Pick(context.Background(), rewrite.PickOptions{Refs: refs, Onto: onto})
		return err
	}
}

func branchAt(ref string) verb {
	return func(s *space) error {
		_, err := s.Branch(context.Background(), ref, workspace.SnapshotOptions{})
		return err
	}
}

func rename(name, title string) verb {
	return func(s *space) error {
		_, err := s.Rename(context.Background(), name, title)
		return err
	}
}

func label(ref, label string) verb {
	return func(s *space) error {
		_, err := s.Bookmark(context.Background(), ref, label, workspace.BookmarkOptions{})
		return err
	}
}

func remove(name string, o workspace.RemoveOptions) verb {
	return func(s *space) error {
		_, err := s.Remove(context.Background(), name, o)
		return err
	}
}

func deleteTree(tree string) verb {
	return func(s *space) error {
		_, err := s.Agent("ada").DeleteTree(context.Background(), tree, agents.DeleteTreeOptions{})
		return err
	}
}

func undo(s *space) error {
	_, err := s.Undo(context.Background(), history.UndoOptions{})
	return err
}

// several makes two sessions and adds to two others, one of which continues in another
// file, and makes a third session, as one group.
func several(s *space) verb {
	full := s.new("Bread")
	s.say("a", "b", "c")
	short := s.new("Soup")
	s.say("a")
	return func(s *space) error {
		_, err := s.WriteGroup(context.Background(), 0,
			workspace.Part{Title: "One"}, workspace.Part{Session: short, Text: "d"}, workspace.Part{Title: "Two"},
			workspace.Part{Session: full, Text: "d"}, workspace.Part{Title: "Three"})
		return err
	}
}

// pulled returns the verb that receives what another machine does.
func pulled(s *space, does func(other *machine, said []string)) verb {
	s.new("Bread")
	said := s.say("a", "b")
	s.new("Soup")
	s.say("c")
	here, other := &machine{space: s}, machines(s.t, s.limit, 1)[0]
	exchange(here, other)
	does(other, said)
	c := other.changes(other.facts(other.known()), here.facts(mirror.Known{}), here.base)
	return pull(c)
}

func pull(c mirror.Changes) verb {
	c.Remote = "home"
	return func(s *space) error {
		done, err := s.Mirror().Apply(context.Background(), c)
		if err == nil && len(done.Left) > 0 {
			err = fmt.Errorf("omitted: %+v", done.Left)
		}
		return err
	}
}

// pulledStates returns the verbs that receive the first n states that another machine took.
func pulledStates(s *space) func(n int) verb {
	s.new("Bread")
	s.say("a")
	ctx, other := context.Background(), machines(s.t, 0, 1)[0]
	exchange(&machine{space: s}, other)
	dir := s.t.TempDir()
	for _, text := range []string{"one", "two"} {
		err := os.WriteFile(filepath.Join(dir, "file"), []byte(text), 0o600)
		if err == nil {
			_, err = other.Folder(dir).Snap(ctx, "Bread", files.SnapOptions{})
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	all, err := other.Mirror().Files(ctx, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	all.Folders[0].Machine = "laptop"
	in := map[mirror.Object][]byte{}
	_, left, err := other.Mirror().SendFiles(ctx, []string{all.States[0].ID, all.States[1].ID}, func(mirror.Object) bool { return false }, func(pack []byte, objects []mirror.Object) error {
		for _, o := range objects {
			in[o] = bytes.Clone(pack)
		}
		return nil
	})
	if err != nil || len(left) > 0 {
		s.t.Fatal(left, err)
	}
	return func(n int) verb {
		c := mirror.Files{Folders: all.Folders, States: all.States[:n]}
		return func(s *space) error {
			done, err := s.Mirror().TakeFiles(ctx, c, func(o mirror.Object) (*mirror.Pack, error) {
				return &mirror.Pack{ReaderAt: bytes.NewReader(in[o]), Size: int64(len(in[o]))}, nil
			})
			if err == nil && len(done.Left) > 0 {
				err = fmt.Errorf("omitted: %+v", done.Left)
			}
			return err
		}
	}
}

func redo(s *space) error {
	_, err := s.Redo(context.Background(), history.UndoOptions{})
	return err
}

func mend(s *space) error {
	report, err := s.Doctor(context.Background(), doctor.Options{Fix: true})
	if err == nil && !report.OK {
		err = fmt.Errorf("doctor leaves %+v", report.Problems)
	}
	return err
}

func penguinFiles(messages, perFile int) []testchat.File {
	return testchat.Chat{Messages: messages, PerFile: perFile, Text: 20, Odd: true}.Files()
}

// penguin writes a conversation in Penguin's dialect.
func penguin(messages, perFile int) func(dir string) error {
	return func(dir string) error { return testchat.Write(dir, penguinFiles(messages, perFile)) }
}

// lastOf returns the last session of such a conversation.
func lastOf(messages, perFile int) string {
	files := penguinFiles(messages, perFile)
	return files[len(files)-1].ID
}

// long writes two sessions with titles so long that the index has a journal.
func long(dir string) error {
	dir = filepath.Join(dir, session.Dir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for i := range 2 {
		text := fmt.Sprintf(`{"messages":[{"id":"m","role":"user","content":"hello"}],"created_at":%q,"last_active":%[1]q,"metadata":{"title":"%[2]d %[3]s","continued_from":[],"continued_to":[]}}`, "2026-04-01T15:32:00.000000+00:00", i, strings.Repeat("long ", 120_000))
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("long%d.json", i)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// branched makes a conversation with a branch, and moves the head back to the conversation.
func branched(s *space) {
	s.new("Bread")
	s.say("a", "b")
	if _, err := s.Branch(context.Background(), "Bread", workspace.SnapshotOptions{Name: "Rye"}); err != nil {
		s.t.Fatal(err)
	}
	s.say("With rye?", "We go with rye.")
	if _, err := s.Rewind(context.Background(), "Bread", checkpoint.CutOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

func mergeBranch(o merge.Options) verb {
	return func(s *space) error {
		_, err := s.Merge(context.Background(), "Rye", o)
		return err
	}
}
