package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bough-dev/bough/internal/printable"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A question is asked before a call continues. It is an error so that a tool can
// return it; the SDK asks the user, and calls the tool again with the answer.
type question struct {
	message string
	state   string // what the answer is about
}

func (q *question) Error() string { return q.message }

// confirmation is the key of the question in the result of a tool.
const confirmation = "confirm"

func (q *question) result() *sdk.CallToolResult {
	return &sdk.CallToolResult{
		InputRequests: sdk.InputRequestMap{confirmation: &sdk.ElicitParams{
			Mode: "form", Message: q.message,
			RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
		}},
		RequestState: q.state,
	}
}

// confirm returns nil if the user confirmed the call, and else the question to
// ask or why the call is refused. state is what the question is about: if it
// changed since the user was asked, the call is refused. command is what a
// person types in a shell for the same.
func (c *call) confirm(message, state string, command ...string) error {
	answer, asked := c.req.Params.InputResponses[confirmation].(*sdk.ElicitResult)
	switch {
	case !asked && !c.canAsk():
		return &fault.Error{
			Code: fault.Refused, Message: "this needs the user's consent, and this assistant cannot ask for it",
			Hint: "the user can run this in a shell: " + c.commandLine(command),
		}
	case !asked:
		return &question{message, state}
	case answer.Action != "accept":
		return &fault.Error{Code: fault.Refused, Message: "the user declined; nothing was changed"}
	case c.req.Params.RequestState != state:
		return &fault.Error{Code: fault.Refused, Message: "the workspace changed after the user was asked; nothing was changed", Hint: "call the tool again"}
	}
	return nil
}

// canAsk reports whether the client can ask the user for consent.
func (c *call) canAsk() bool {
	caps := c.req.ClientCapabilities()
	if caps == nil || caps.Elicitation == nil {
		return false
	}
	return caps.Elicitation.Form != nil || caps.Elicitation.URL == nil
}

// commandLine returns a command of bough as it is typed in a shell.
func (s *Server) commandLine(args []string) string {
	line := "bough -w " + printable.ShellWord(s.workspace.Dir())
	for _, a := range args {
		line += " " + printable.ShellWord(a)
	}
	return line
}

// askUndo asks whether to undo the changes that are to be undone now.
func askUndo(ctx context.Context, c *call) error {
	var in struct {
		In        string     `json:"in"`
		Limit     int        `json:"limit"`
		To        events.Seq `json:"to"`
		Conflicts string     `json:"conflicts"`
	}
	if err := json.Unmarshal(c.args, &in); err != nil {
		return badArguments(err)
	}
	if in.Limit < 0 || in.To < 0 || in.Limit > 0 && in.To > 0 {
		return nil // the verb reports it
	}
	plan, err := c.w.Undo(ctx, history.UndoOptions{In: in.In, Count: in.Limit, To: in.To, DryRun: true})
	if err != nil {
		return err
	}
	message := "Undo in " + oneLine(c.w.Dir(), 300) + "?"
	const most = 5
	n := len(plan.Operations)
	for i, op := range plan.Operations[:min(n, most)] {
		message += fmt.Sprintf("\noperation %d: %s, %s", op.Seq, oneLine(op.Verb, 60), op.Time.UTC().Format("2006-01-02 15:04"))
		if i == most-1 && n > most {
			message += fmt.Sprintf("\n… and %d more", n-most)
		}
	}
	command := []string{"undo"}
	if in.In != "" {
		command = append(command, "--in", in.In)
	}
	if in.Limit > 1 {
		command = append(command, "--limit", fmt.Sprint(in.Limit))
	}
	if in.To > 0 {
		command = append(command, "--to", fmt.Sprint(in.To))
	}
	if in.Conflicts != "" {
		message += "\nfiles that were changed since: " + oneLine(in.Conflicts, 20)
		command = append(command, "--"+in.Conflicts)
	}
	return c.confirm(message, fmt.Sprintf("%d operations, %d to %d", n, plan.Operations[n-1].Seq, plan.Operations[0].Seq), command...)
}
