package mcp

import (
	"context"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/restores"
)

// head is the ref that a tool uses if it gets none.
const head = "HEAD"

func orHead(ref string) string {
	if ref == "" {
		return head
	}
	return ref
}

// tools returns all tools of the server, in the order of the documentation.
func tools() []*tool {
	return []*tool{
		ofVerb("ls", tool{
			name: "list_sessions", title: "List conversations", list: "sessions",
			about: "Lists the conversations of the workspace, last active first: roots, branches, checkpoints and continuations.",
		}),
		define(tool{
			name: "show_conversation", title: "Read a conversation",
			about: "Reads the messages on the path from the beginning of a conversation to a message, oldest first, in pages. Long messages are cut; only returns one message whole.",
		}, showConversation),
		define(tool{
			name: "conversation_tree", title: "Show a conversation's branches", list: "nodes",
			about: "Shows how a conversation branches: its messages as runs without a fork, each after its parent. Without a session_id it shows the sessions of the workspace, each after the one that it was copied from or continues.",
		}, showTree),
		ofVerb("search", tool{
			name: "search", title: "Search conversations", list: "matches",
			about: "Finds messages in all conversations, with all their branches. Each match has a ref that other tools take.",
		}),
		ofVerb("checkpoint", tool{
			name: "create_checkpoint", title: "Save a checkpoint",
			about: "Saves a read-only copy of the path to a message, to come back to later. It needs no other file and costs little: take one before anything risky.",
		}),
		define(tool{
			name: "list_checkpoints", title: "List checkpoints", list: "sessions",
			about: "Lists the checkpoints, last active first.",
		}, listCheckpoints),
		ofVerb("branch", tool{
			name: "branch_from", title: "Branch from a message",
			about: "Copies the path to a message into a new conversation, and moves the head of the workspace to its end. The original does not change.",
		}),
		ofVerb("restore", tool{
			name: "restore_checkpoint", title: "Restore a checkpoint", again: true,
			about: "Moves the head of the workspace to a checkpoint. Nothing is lost or overwritten; the next message begins a branch of the checkpoint.",
		}),
		ofVerb("rewind", tool{
			name: "rewind", title: "Continue from an earlier message", again: true,
			about: "Moves the head of the workspace to a message, so that the next message answers it. The messages after it stay, as another branch.",
		}),
		define(tool{
			name: "compare_branches", title: "Compare two branches",
			about: "Shows where two paths part, and the messages that only the one or the other has. Use it to learn what another branch found.",
		}, compareBranches),
		define(tool{
			name: "compare_outcomes", title: "Compare the content of branches",
			about: "Shows what each of several paths added since they parted: turns, authors, the outcome of an exploration, changed files, and its last messages.",
		}, compareOutcomes),
		define(tool{
			name: "merge_branch", title: "Merge a branch", effect: api.Changes,
			about: "Adds one message with the content of a branch since the last message that both paths have or since its last merge there: your summary, or a digest. The branch stays as it is, and undo removes the merge. If it has nothing new, nothing changes.",
		}, mergeBranch),
		ofVerb("suggest", tool{
			name: "suggest_branches", title: "Branches worth comparing", list: "suggestions",
			about: "Lists branches that end with an answer that was neither merged nor picked, or were continued far and never merged, and explorations without an adopted result, with reasons, the most valuable first. Compare main with the suggested message before you recommend one.",
		}),
		ofVerb("pick", tool{
			name: "pick_messages", title: "Copy messages", list: "messages",
			about: "Copies messages of any conversation below another message, a tool call together with its results. The originals stay.",
		}),
		ofVerb("edit", tool{
			name: "edit_message", title: "Edit a message", open: true, models: true, ask: askEdit,
			about: "Adds a changed copy of a message of the user beside the original, which stays with all that follows it. With answer, a model answers it; the user is asked first.",
		}),
		ofVerb("prune-context", tool{
			name: "prune_context", title: "Remove messages from the context", list: "messages",
			about: "Makes a branch of a conversation without some of its messages, or with a summary, which you write, in their place. The original stays. Use it if a conversation has become too long, or a part of it misleads.",
		}),
		ofVerb("replay", tool{
			name: "replay_messages", title: "Replay messages", list: "turns", open: true, models: true, ask: askReplay,
			about: "Sends the messages of the user on a path again in a new branch, and lets a model answer each: another model, another system prompt, or after an edit. The user is asked first, with about how many tokens it takes. It stops where an answer asks something back.",
		}),
		ofVerb("files/ls", tool{
			name: "list_states", title: "List states of files", list: "states", trim: trimStates,
			about: "Lists the states that the workspace has of folders of files, oldest first: what a folder held at a moment, with the message that was the newest then.",
		}),
		ofVerb("files/diff", tool{
			name: "compare_states", title: "Compare states of files", list: "changes", trim: trimSides,
			about: "Lists the files that differ between two states, or between a state and the present files of its folder. With patch, the lines that differ too; long ones are cut.",
		}),
		define(tool{
			name: "show_file", title: "Read a file of a state",
			about: "Returns what a state has at a path: the text of a file in pages, or the names in a folder. The file is as it was then, not as it is now.",
		}, showFile),
		ofVerb("blame", tool{
			name: "blame", title: "Who wrote each line", list: "lines",
			about: "Shows which turn of which conversation wrote each line of a file in a folder that has states. The index turn of a line is that in turns. Use first and last for a part of a file.",
		}),
		ofVerb("bisect", tool{
			name: "bisect_steps", title: "Steps of a bisection", list: "steps",
			about: "Lists the messages of a path with a state of the files of their own, oldest first, between which to look for the turn that made something go wrong. next is the index of the step to test next: read its files, and call this again with its message in good, bad or skip. If next is null, the last step made it go wrong. No command is run.",
		}),
		ofVerb("files/log", tool{
			name: "file_history", title: "What changed a file", list: "changes",
			about: "Lists the turns that changed a file or a folder, newest first, with the numbers of lines. With patch, the lines that differ too; long ones are cut.",
		}),
		define(tool{
			name: "restore_files", title: "Restore files", effect: api.Destroys,
			about: "Brings the files of a folder back to the state at a message, and with conversation the head too. Only what the conversation changed is reverted; what others changed stays, and what both changed is refused unless conflicts says more. The user is asked first, with what would change, and undo reverts it.",
			enums: conflictChoices,
		}, restoreFiles),
		ofVerb("append", tool{
			name: "append_message", title: "Add a message",
			about: "Adds a message to a conversation: at the head, or below any message. A message to a checkpoint goes to a new branch of it.",
		}),
		ofVerb("bookmark", tool{
			name: "bookmark", title: "Bookmark a message", again: true,
			about: "Gives a message a label, which other tools take as a ref.",
		}),
		ofVerb("undo", tool{
			name: "undo", title: "Undo changes", list: "operations", ask: askUndo,
			about: "Undoes the newest change of the workspace, whoever made it, or several. The user is asked first. An undo is a change itself.",
		}),
		ofVerb("log", tool{
			name: "log", title: "List changes", list: "operations",
			about: "Lists the changes of the workspace, newest first.",
		}),
		ofVerb("status", tool{
			name: "status", title: "Show where the workspace is",
			about: "Shows the head of the workspace, where the next message goes, the last checkpoint before it, and the agents that run.",
		}),
		ofVerb("agent/snapshot", tool{
			name: "agent_snapshot", title: "Show the state of an agent",
			about: "Shows an agent of the workspace: its head and branch, bookmarks, queued messages, and its turn with what interrupted it.",
		}),
		ofVerb("steer", tool{
			name: "steer", title: "Interrupt a running agent",
			about: "Sends a message to an agent that runs a turn, to be read now: after the running tool call or message. An idle agent is not started.",
		}),
		ofVerb("follow-up", tool{
			name: "follow_up", title: "Queue a message for an agent",
			about: "Sends a message to an agent that runs a turn, to be read after it. An idle agent is not started.",
		}),
		define(tool{
			name: exploring, title: "Try several strategies", effect: api.Changes, open: true,
			about: "Tries several strategies side by side, each in a branch from a message, with a command that the user configured and approved, and evaluates the results. The head does not move; adopt does that. Without an approved command it is refused.",
			enums: func() map[string][]string { return map[string][]string{"evaluate": {"best", "consensus"}} },
		}, exploreStrategies),
		define(tool{
			name: "adopt", title: "Adopt the outcome of an exploration", effect: api.Destroys,
			about: "Moves the head to the outcome of an exploration, or to the result of one of its branches. With files, what the branch changed in its folder comes into the explored one; what changed in both is refused unless conflicts says more. The user is asked first, with what would change, and undo reverts it.",
			enums: conflictChoices,
		}, adopt),
		define(tool{
			name: "import", title: "Import conversations", again: true, list: "imported", effect: api.Changes,
			about: "Imports a transcript, given as text, or the conversations that another assistant keeps on this machine. Known conversations get their new messages. The user is asked first, unless it is a dry run of text.",
			enums: func() map[string][]string {
				return map[string][]string{"format": formatNames((*convert.Format).Reads), "tool": formatNames(keepsFiles)}
			},
		}, importConversations),
		ofVerb("ls/remote", tool{
			name: "list_remote", title: "List conversations of other machines", list: "sessions", open: true,
			about: "Lists the conversations in a remote, through which the user's machines meet. here says whether this workspace has one; sync gets the others.",
		}),
		define(tool{
			name: "sync", title: "Exchange with other machines", effect: api.Changes, open: true,
			about: "Sends the conversations to a remote that the user added, and gets what other machines sent there. Nothing is lost: conflicts keep both sides. The user is asked first, unless it is a dry run, and undo takes a pull back.",
			enums: func() map[string][]string { return map[string][]string{"direction": {"pull", "push"}} },
		}, syncRemote),
		define(tool{
			name: "export", title: "Export a conversation",
			about: "Returns the path to a message, or all branches of its conversation, as a transcript in the format of another program, in pages.",
			enums: func() map[string][]string {
				return map[string][]string{"to": formatNames((*convert.Format).Writes)}
			},
		}, export),
	}
}

// conflictChoices returns what may happen to paths that others changed too.
func conflictChoices() map[string][]string {
	return map[string][]string{"conflicts": {restores.Keep, restores.Take, restores.Merge}}
}

// formatNames returns the names of the formats for which a property holds.
func formatNames(holds func(*convert.Format) bool) (names []string) {
	for _, f := range convert.Formats {
		if holds(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// keepsFiles reports whether the program of a format keeps its conversations in
// files.
func keepsFiles(f *convert.Format) bool {
	return f.Reads() && f.Roots(transcript.Machine{Home: "/", Dir: "/", Env: func(string) string { return "" }, Read: noFile}) != nil
}

type checkpointsInput struct {
	Title string `json:"title,omitempty" jsonschema:"only checkpoints with this text in their title, ignoring case"`
	Limit int    `json:"limit,omitempty" jsonschema:"the maximum number of checkpoints, by default all"`
}

func listCheckpoints(ctx context.Context, c *call, in checkpointsInput) (*workspace.Listing, error) {
	return c.w.Sessions(ctx, workspace.ListOptions{Kind: session.Checkpoint, Title: in.Title, Limit: in.Limit})
}
