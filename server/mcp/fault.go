package mcp

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/restores"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// errorMeta is the member of a result's metadata that has the error in the form
// of docs/json.md, for programs.
const errorMeta = "io.github.bough-dev/error"

// failed returns the result of a call that failed.
func failed(err error) *sdk.CallToolResult {
	e := workspace.Explain(err)
	type details struct {
		Code       fault.Code          `json:"code"`
		Message    string              `json:"message"`
		Hint       string              `json:"hint"`
		Candidates []fault.Candidate   `json:"candidates,omitempty"`
		Conflicts  []restores.Conflict `json:"conflicts,omitempty"`
	}
	d := details{Code: e.Code, Message: shortText(e.Message, maxError), Hint: hint(e)}
	var several *fault.AmbiguousError
	var unknown *fault.UnknownError
	if errors.As(err, &unknown) {
		d.Hint = joined(d.Hint, unknown.What+"s are "+strings.Join(unknown.Choices, ", "))
	}
	d.Hint = shortText(d.Hint, maxError)
	text := fmt.Sprintf("%s: %s", d.Code, d.Message)
	if d.Hint != "" {
		text += "\n" + d.Hint
	}
	if errors.As(err, &several) {
		for _, k := range several.Candidates {
			text += "\n" + candidate(k)
			k.Title, k.Text = shortText(k.Title, maxName), shortText(k.Text, maxName)
			d.Candidates = append(d.Candidates, k)
		}
	}
	var clashes *restores.ConflictError
	if errors.As(err, &clashes) {
		omitted := 0
		d.Conflicts = fitting(clashes.Conflicts, &omitted, conflictSize)
		for _, c := range d.Conflicts {
			text += "\n- " + oneLine(c.Path, 200)
		}
		if omitted > 0 {
			text += fmt.Sprintf("\n… and %d more", omitted)
		}
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}, Meta: sdk.Meta{errorMeta: d}}
}

// candidate returns one thing that an ambiguous name may mean.
func candidate(k fault.Candidate) string {
	ref := string(k.Session)
	if k.Message != "" {
		ref = strings.TrimPrefix(ref+"@"+string(k.Message), "@")
	}
	words := []string{"-", ref, oneLine(k.Kind, 40)}
	if k.Time != "" {
		words = append(words, k.Time)
	}
	for _, text := range []string{k.Title, k.Text} {
		if text != "" {
			words = append(words, fmt.Sprintf("%q", oneLine(text, 100)))
		}
	}
	return strings.Join(words, " ")
}

// hint returns the helpful fact of an error, and the next step where a tool
// does it.
func hint(e *fault.Error) string { return joined(e.Hint, steps()[e.Next.Do]) }

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// steps returns the text for each step after an error that a tool can do.
func steps() map[fault.Action]string {
	return map[fault.Action]string{
		fault.AddRemote:        "the user can add one in a shell, with the verb remote add of bough's command",
		fault.AppendMessage:    "append_message adds a message",
		fault.BranchInstead:    "branch_from copies a path of any length",
		fault.BranchSession:    "branch_from creates a session from it",
		fault.BranchToContinue: "branch_from creates a session that can be continued",
		fault.Examine:          "the verb doctor of bough's command lists all problems; the user can run it in a shell",
		fault.FindFile:         "at names a state that has it; list_states lists the states",
		fault.FindSession:      "list_sessions lists the sessions, and search finds one by its words",
		fault.GiveText:         "text must have more than white space",
		fault.ListAgents:       "the resource bough://agents lists them",
		fault.ListBookmarks:    "conversation_tree shows the bookmarks of a conversation",
		fault.ListOperations:   "log lists the operations",
		fault.ListQueue:        "it may have been delivered; agent_snapshot shows the queue",
		fault.ListStates:       "list_states lists the states",
		fault.MoveBookmark:     "bookmark with move moves it",
		fault.NameBranch:       "give the last message of a branch; conversation_tree shows them",
		fault.NameSession:      "give a session_id",
		fault.SetHead:          "rewind moves the head",
		fault.SetHeadAnywhere:  "rewind moves the head into any session",
		fault.ShowPath:         "show_conversation shows the messages of a path",
		fault.SolveConflicts:   "conflicts says what happens to them: keep, take or merge",
		fault.SpeakMeanwhile:   "steer sends a message to read now, follow_up one to read after the turn",
		fault.UndoInSession:    "undo with in undoes changes of one session",
	}
}
