package main

import (
	"fmt"

	"github.com/bough-dev/bough/workspace/fault"
)

// phrases returns the text for each step after an error.
func phrases() map[fault.Action]string {
	return map[fault.Action]string{
		fault.AddRemote:           "'bough remote add NAME URL' adds one",
		fault.AppendMessage:       "'bough append' adds a message",
		fault.BranchInstead:       "'bough branch' copies a path of any length",
		fault.BranchSession:       "'bough branch %s' creates a session from it",
		fault.BranchToContinue:    "'bough branch %s' creates a session that can be continued",
		fault.ChatWithAgent:       "'bough agent chat %s TEXT' sends it a message",
		fault.ChooseEnds:          "--good and --bad choose other ends",
		fault.ChooseFolder:        "give a project folder, with --dir or by going there",
		fault.ChooseWorkspace:     "select one with -w, or create one with 'bough new' or 'bough import'",
		fault.CloseClarifications: "--kind clarification_closed closes it",
		fault.CompleteElsewhere:   "'bough -w %s doctor --fix' completes it",
		fault.CompleteRestore:     "the next command that changes the workspace completes it, and so does 'bough doctor --fix'",
		fault.ContinueTurn:        "'bough agent chat %s --retry' continues the turn",
		fault.ContinueUndo:        "'bough %s' continues",
		fault.DeleteTreeFirst:     "'bough agent delete %s' moves a tree to the trash; then 'bough forget %s' deletes it",
		fault.Examine:             "'bough doctor' lists all problems",
		fault.FindFile:            "--dir D names the folder that has it, --at STATE a state that has it; 'bough files ls' lists the states",
		fault.FindSession:         "'bough ls' lists the sessions, 'bough search WORDS' and 'bough choose' find one",
		fault.ForceRemoval:        "--force removes it, from the agent too",
		fault.ForceReplace:        "--force replaces it",
		fault.GiveText:            "give it as an argument or on standard input",
		fault.ListAgents:          "'bough agent ls' lists them",
		fault.ListBookmarks:       "'bough bookmarks' lists them",
		fault.ListExplorations:    "'bough explore ls' lists them",
		fault.ListOperations:      "'bough log' lists the operations",
		fault.ListQueue:           "it may have been delivered; 'bough queue %s' lists the queue",
		fault.ListRemote:          "'bough ls --remote %s' lists them",
		fault.ListRemotes:         "'bough remote ls' lists them",
		fault.ListStates:          "'bough files ls' lists the states",
		fault.ListTrash:           "'bough trash' lists removed files",
		fault.ListTrees:           "'bough agent trees %s --all' lists them",
		fault.MoveAgent:           "'bough agent rewind %s NODE' moves its head",
		fault.MoveBookmark:        "--move moves it",
		fault.NameFolder:          "--dir D names the folder here that it is for, 'bough remote map PROJECT D' sets it for the project",
		fault.NameBranch:          "omit --tree and give the last message of a branch; 'bough branches' lists these",
		fault.NameSession:         "give a SESSION, or create one with 'bough new'",
		fault.OpenClarifications:  "--kind clarification_opened opens one",
		fault.PackNew:             "'bough checkpoint --packed' packs a new checkpoint",
		fault.ReadPartial:         "--partial uses the messages that can be read",
		fault.RemoveAgent:         "'bough agent rm %s' removes the agent and keeps the tree",
		fault.RemoveAnyway:        "--force removes it anyway",
		fault.RemoveLine:          "--line removes the whole line",
		fault.RestoreOrDeleteTree: "restore it with 'bough undo' or from the trash, or remove it from its agent with 'bough agent delete --force'",
		fault.RestoreRemoved:      "'bough undo' restores the last removed one; 'bough trash' lists removed files",
		fault.ResumeReplay:        "'bough replay --resume %s' continues",
		fault.RetryTurn:           "'bough agent chat %s --retry' repeats the turn",
		fault.RetryTurnOrQueue:    "'bough agent chat %[1]s --retry' repeats the turn; 'bough queue %[1]s --resume' delivers %[2]s",
		fault.RewindAgent:         "'bough agent rewind %s %s' moves it back",
		fault.RewriteLinks:        "'bough doctor --fix --dialect %s' rewrites their links",
		fault.SetHead:             "'bough rewind REF' moves the head",
		fault.SetHeadAnywhere:     "'bough rewind REF' moves the head into any session",
		fault.SetInShell:          "'bough -w %s config %s VALUE' sets it",
		fault.SetModel:            "give one with --model, or set it with 'bough agent set'",
		fault.ShowPath:            "'bough show %s --oneline' lists its messages",
		fault.SnapFolder:          "'bough files snap' takes a state",
		fault.SolveConflicts:      "--keep leaves these paths as they are, --take overwrites them, --merge merges their lines",
		fault.SpeakMeanwhile:      "'bough steer %[1]s TEXT' sends a message to read now, 'bough follow-up %[1]s TEXT' one to read after the turn",
		fault.SwitchTree:          "first switch to another tree with 'bough agent switch %s TREE'",
		fault.UndoInSession:       "'bough undo --in SESSION' undoes changes of one session",
		fault.WatchExploration:    "'bough explore show %[1]s' shows its progress, 'bough explore cancel %[1]s' ends it",
	}
}

// hint returns the hint for an error: its helpful fact, and the step to take
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
