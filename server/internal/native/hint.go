package native

import (
	"fmt"
	"strings"

	"github.com/bough-dev/bough/internal/printable"
	"github.com/bough-dev/bough/workspace/fault"
)

// phrase returns the text for a step after an error, "" if no request does it.
func phrase(a fault.Action) string {
	switch a {
	case fault.AppendMessage:
		return "POST /v1/append adds a message"
	case fault.BranchInstead:
		return "POST /v1/branch copies a path of any length"
	case fault.BranchSession:
		return "POST /v1/branch with the ref %q creates a session from it"
	case fault.BranchToContinue:
		return "POST /v1/branch with the ref %q creates a session that can be continued"
	case fault.ChatWithAgent:
		return "POST /v1/agent/chat with the agent %s sends it a message"
	case fault.CloseClarifications:
		return "the kind clarification_closed closes it"
	case fault.ContinueTurn:
		return "POST /v1/agent/chat with the agent %s and retry continues the turn"
	case fault.ContinueUndo:
		return "POST /v1/%s continues"
	case fault.DeleteTreeFirst:
		return "POST /v1/agent/delete for the agent %[1]s moves a tree to the trash"
	case fault.Examine:
		return "GET /v1/doctor lists all problems"
	case fault.FindFile:
		return "dir names the folder that has it, at a state that has it; GET /v1/files/ls lists the states"
	case fault.FindSession:
		return "GET /v1/ls lists the sessions, GET /v1/search finds messages"
	case fault.ForceRemoval:
		return "force removes it, from the agent too"
	case fault.GiveText:
		return "text must have more than white space"
	case fault.ListAgents:
		return "GET /v1/agent/ls lists them"
	case fault.ListBookmarks:
		return "GET /v1/bookmarks lists them"
	case fault.ListExplorations:
		return "GET /v1/explore/ls lists them"
	case fault.ListOperations:
		return "GET /v1/log lists the operations"
	case fault.ListQueue:
		return "it may have been delivered; GET /v1/queue?agent=%s lists the queue"
	case fault.ListRemote:
		return "GET /v1/ls/remote?remote=%s lists them"
	case fault.ListRemotes:
		return "GET /v1/remote/ls lists them"
	case fault.ListStates:
		return "GET /v1/files/ls lists the states"
	case fault.ListTrash:
		return "GET /v1/trash lists removed files"
	case fault.ListTrees:
		return "GET /v1/agent/trees?agent=%s&all=true lists them"
	case fault.MoveAgent:
		return "POST /v1/agent/rewind moves the head of the agent %s"
	case fault.MoveBookmark:
		return "move moves it"
	case fault.NameBranch:
		return "omit tree and give the last message of a branch; GET /v1/branches lists these"
	case fault.NameSession:
		return "give a session_id, or create a session with POST /v1/new"
	case fault.OpenClarifications:
		return "the kind clarification_opened opens one"
	case fault.PackNew:
		return "POST /v1/checkpoint with packed packs a new checkpoint"
	case fault.ReadPartial:
		return "partial uses the messages that can be read"
	case fault.RemoveAgent:
		return "POST /v1/agent/rm with the agent %s removes the agent and keeps the tree"
	case fault.RemoveAnyway:
		return "force removes it anyway"
	case fault.RemoveLine:
		return "line removes the whole line"
	case fault.RestoreOrDeleteTree:
		return "restore it with POST /v1/undo, or remove it from its agent with POST /v1/agent/delete and force"
	case fault.RestoreRemoved:
		return "POST /v1/undo restores the last removed one; GET /v1/trash lists removed files"
	case fault.ResumeReplay:
		return "POST /v1/replay with resume %s continues"
	case fault.RetryTurn:
		return "POST /v1/agent/chat with the agent %s and retry repeats the turn"
	case fault.RetryTurnOrQueue:
		return "POST /v1/agent/chat with the agent %s and retry repeats the turn; POST /v1/queue/resume delivers %s"
	case fault.RewindAgent:
		return "POST /v1/agent/rewind with the agent %s and the node_id %s moves it back"
	case fault.RewriteLinks:
		return "POST /v1/doctor/fix with the dialect %s rewrites their links"
	case fault.SetHead:
		return "POST /v1/rewind moves the head"
	case fault.SetHeadAnywhere:
		return "POST /v1/rewind moves the head into any session"
	case fault.SetInShell:
		return "a person can run this in a shell: bough -w %s config %s VALUE"
	case fault.SetModel:
		return "POST /v1/agent/set sets one"
	case fault.ShowPath:
		return "GET /v1/show?ref=%s shows its messages"
	case fault.SolveConflicts:
		return "conflicts says what happens to them: keep, take or merge"
	case fault.SpeakMeanwhile:
		return "POST /v1/steer sends a message to read now, POST /v1/follow-up one to read after the turn"
	case fault.SwitchTree:
		return "first switch the agent %s to another tree with POST /v1/agent/switch"
	case fault.UndoInSession:
		return "POST /v1/undo with in undoes changes of one session"
	case fault.WatchExploration:
		return "GET /v1/explore/show?id=%[1]s shows its progress, POST /v1/explore/cancel ends it"
	}
	return ""
}

// hint returns the hint for an error: its helpful fact, and the request to make next.
func hint(e *fault.Error) string {
	text := phrase(e.Next.Do)
	if text == "" {
		return e.Hint
	}
	if strings.Contains(text, "%") {
		args := make([]any, len(e.Next.Args))
		for i, a := range e.Next.Args {
			args[i] = a
			if e.Next.Do == fault.SetInShell {
				args[i] = printable.ShellWord(a)
			}
		}
		text = fmt.Sprintf(text, args...)
	}
	if e.Hint == "" {
		return text
	}
	return e.Hint + "; " + text
}
