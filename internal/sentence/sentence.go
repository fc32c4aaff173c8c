// Package sentence says in a sentence what an operation of the log did.
package sentence

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/workspace/history"
)

// Describe returns what an operation did, or size operations of a group like it. log is the
// log from the operation on.
func Describe(op history.Operation, log []history.Operation, titles map[string]string, size int) string {
	if op.Verb == "external" {
		for _, id := range op.Sessions {
			if titles[id] != "" {
				return "Another program changed " + quoted(titles[id])
			}
		}
		return "Another program changed the workspace"
	}
	if op.Undoes == 0 {
		text := Of(op, titles, size)
		if op.Verb == "restore" {
			text += "; the next message creates a branch"
		}
		return text
	}
	of, did := original(log, op)
	text := Of(of, titles, size)
	return did + ": " + strings.ToLower(text[:1]) + text[1:]
}

// original returns the operation that an undo undid or a redo repeated, and which it was.
func original(log []history.Operation, op history.Operation) (of history.Operation, did string) {
	did = "Undid"
	if op.Verb == "redo" {
		did = "Redid"
	}
	verb, _ := op.Args["verb"].(string)
	of = history.Operation{Seq: op.Undoes, Verb: verb, Sessions: op.Sessions, Args: map[string]any{}}
	for _, o := range log { // newest first
		if o.Seq != op.Undoes {
			continue
		}
		if o.Undoes == 0 {
			return o, did
		}
		op = o
	}
	return of, did
}

// Of describes an operation, or size operations of a group like it. titles are those
// of the sessions by id.
func Of(op history.Operation, titles map[string]string, size int) string {
	text := func(names ...string) string {
		for _, name := range names {
			if s, _ := op.Args[name].(string); s != "" {
				return quoted(s)
			}
		}
		return ""
	}
	in, known := "a conversation", false
	for _, id := range op.Sessions {
		if titles[id] != "" {
			in, known = quoted(titles[id]), true
			break
		}
	}
	named := func(names ...string) string {
		if s := text(names...); s != "" {
			return s
		}
		return in
	}
	if op.Args["for"] == "edit" && op.Group != 0 {
		return "Edited a message of " + in + ", with a new answer"
	}
	agent := named("agent")
	switch op.Verb {
	case "new":
		return "Created " + named("title")
	case "append":
		if agent := text("agent"); agent != "" {
			switch op.Args["role"] {
			case "assistant":
				return "Agent " + agent + " answered"
			case "tool":
				return "Agent " + agent + " used a tool"
			}
			return "Sent to agent " + agent
		}
		return "Added a message to " + in
	case "checkpoint":
		if text("name") == "" && !known {
			return "Saved a checkpoint"
		}
		return "Saved checkpoint " + named("name")
	case "branch":
		if text("name") == "" && !known {
			return "Created a branch"
		}
		return "Created branch " + named("name")
	case "merge":
		if from, _ := op.Args["from"].(string); titles[from] != "" && quoted(titles[from]) != in {
			return "Merged " + quoted(titles[from]) + " into " + in + withFiles(op)
		}
		return "Merged a branch into " + in + withFiles(op)
	case "pick":
		return "Copied messages to " + in
	case "edit":
		return "Edited a message of " + in
	case "prune-context":
		return "Created a branch without some messages"
	case "prune":
		return "Moved old automatic checkpoints to the trash"
	case "restore":
		return "Restored " + in + withFiles(op)
	case "restore files", "files turn", "files apply":
		if dir, _ := op.Args["dir"].(string); dir != "" {
			in = quoted(filepath.Base(dir))
		}
		switch op.Verb {
		case "files turn":
			return "Took back a turn in " + in
		case "files apply":
			return "Brought files of a branch to " + in
		}
		return "Restored files of " + in
	case "rewind":
		return "Continuing from here in " + in + withFiles(op)
	case "rename":
		return "Renamed to " + named("title")
	case "rm":
		return "Moved " + named("title") + " to the trash"
	case "bookmark":
		return "Added bookmark " + named("label")
	case "bookmark --rm":
		return "Removed bookmark " + named("label")
	case "import":
		if size == 1 {
			return "Imported " + in
		}
		return "Imported " + plural.Of(size, "conversation")
	case "pull":
		if remote := text("remote"); remote != "" {
			return "Pulled changes from " + remote
		}
		return "Pulled changes"
	case "agent chat":
		return "Agent " + agent + " continued its turn"
	case "agent create":
		return "Created agent " + agent
	case "agent set":
		return "Changed agent " + agent
	case "agent rm":
		return "Moved agent " + agent + " to the trash"
	case "agent delete":
		return "Moved a tree to the trash"
	case "agent archive":
		return "Archived a tree"
	case "agent restore":
		return "Restored a tree"
	case "agent rewind", "agent switch":
		return "Moved the head of agent " + agent
	case "agent branch", "agent fresh":
		return "Created a tree of agent " + agent
	case "explore":
		return "Changed an exploration"
	case "explore adopt":
		return "Adopted an outcome" + withFiles(op)
	case "explore rm":
		return "Moved an exploration to the trash"
	case "steer":
		return "Steering agent " + agent
	case "follow-up":
		return "Queued for agent " + agent
	case "queue drop":
		return "Dropped a queued message"
	case "queue resume":
		return "Resumed the queue"
	}
	if size > 1 {
		return fmt.Sprintf("Changed %s: %s", plural.Of(size, "conversation"), op.Verb)
	}
	return "Done: " + op.Verb
}

// withFiles says that an operation on the head restored files too, "" if it did not.
func withFiles(op history.Operation) string {
	if dir, _ := op.Args["dir"].(string); dir != "" {
		return ", with the files"
	}
	return ""
}

// quoted returns the beginning of a name in quotation marks.
func quoted(s string) string {
	const most = 60
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		s = strings.TrimSpace(string(r[:most])) + "…"
	}
	return "“" + s + "”"
}
