package main

import (
	"fmt"

	"github.com/bough-dev/bough/workspace/fault"
)

// phrases returns what the command says of the steps after an error.
func phrases() map[fault.Action]string {
	return map[fault.Action]string{
		fault.AppendMessage:       "'bough append' adds one",
		fault.BranchInstead:       "'bough branch' takes a path of any length",
		fault.BranchSession:       "'bough branch %s' makes a session of it",
		fault.BranchToContinue:    "'bough branch %s' makes a session of it to go on in",
		fault.ChatWithAgent:       "'bough agent chat %s TEXT' says something to it",
		fault.ChooseWorkspace:     "name one with -w, or begin one with 'bough new' or 'bough import'",
		fault.CloseClarifications: "--kind clarification_closed closes it",
		fault.ContinueTurn:        "'bough agent chat %s --retry' has it go on",
		fault.ContinueUndo:        "'bough %s' continues",
		fault.DeleteTreeFirst:     "'bough agent delete %s' moves a tree to the trash, and 'bough forget %s' forgets it then",
		fault.Examine:             "'bough doctor' lists everything that is wrong",
		fault.FindSession:         "'bough ls' lists the sessions, 'bough search WORDS' and 'bough choose' find one",
		fault.ForceRemoval:        "--force removes it all the same; the tree leaves the agent then",
		fault.ForceReplace:        "--force replaces it",
		fault.ListAgents:          "'bough agent ls' lists them",
		fault.ListBookmarks:       "'bough bookmarks' lists them",
		fault.ListExplorations:    "'bough explore ls' lists them",
		fault.ListOperations:      "'bough log' lists what was done",
		fault.ListQueue:           "'bough queue %s' lists what is; it may be delivered by now",
		fault.ListTrash:           "'bough trash' lists what was removed",
		fault.ListTrees:           "'bough agent trees %s --all' lists them",
		fault.MoveAgent:           "'bough agent rewind %s NODE' moves it to another one",
		fault.MoveBookmark:        "--move takes it from there",
		fault.NameBranch:          "leave --tree out, and name the end of the branch that you want; 'bough branches' lists them",
		fault.NameSession:         "name a session, or begin one with 'bough new'",
		fault.OpenClarifications:  "--kind clarification_opened opens one",
		fault.ReadPartial:         "--partial reads and branches what can be read",
		fault.RemoveAgent:         "'bough agent rm %s' removes the agent and leaves the tree",
		fault.RestoreOrDeleteTree: "bring it back, with 'bough undo' or from the trash, or have its agent forget it, with 'bough agent delete --force'",
		fault.RestoreRemoved:      "'bough undo' brings back what was removed last; 'bough trash' lists what was",
		fault.RetryTurn:           "'bough agent chat %s --retry' asks again",
		fault.RetryTurnOrQueue:    "'bough agent chat %[1]s --retry' asks again; 'bough queue %[1]s --resume' delivers what waits: %[2]s",
		fault.RewindAgent:         "'bough agent rewind %s %s' moves it back",
		fault.RewriteLinks:        "'bough doctor --fix --dialect %s' rewrites their links",
		fault.SetHead:             "'bough rewind REF' moves the head",
		fault.SetHeadAnywhere:     "'bough rewind REF' moves the head into any session",
		fault.SetModel:            "name one with --model, or give it one with 'bough agent set'",
		fault.SpeakMeanwhile:      "'bough steer %[1]s TEXT' tells it something now, 'bough follow-up %[1]s TEXT' when it has finished",
		fault.SwitchTree:          "'bough agent switch %s TREE' moves it to another one first",
		fault.UndoInSession:       "'bough undo --in SESSION' looks at one session only",
		fault.WatchExploration:    "'bough explore show %[1]s' says how far it is, 'bough explore cancel %[1]s' ends it",
	}
}

// hint returns what the command says after an error: the fact that helps, and what to type
// next.
func hint(e *fault.Error) string {
	phrase, ok := phrases()[e.Next.Do]
	if !ok {
		return e.Hint
	}
	args := make([]any, len(e.Next.Args))
	for i, a := range e.Next.Args {
		args[i] = a
	}
	if len(args) > 0 {
		phrase = fmt.Sprintf(phrase, args...)
	}
	if e.Hint == "" {
		return phrase
	}
	return e.Hint + "; " + phrase
}
