package mcp

import (
	"context"
	"slices"
	"strings"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxCompletions is the limit of the protocol.
const maxCompletions = 100

// complete completes an argument of a prompt or of a resource's URI.
func (s *Server) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	ref, name := req.Params.Ref, req.Params.Argument.Name
	known := false
	switch ref.Type {
	case "ref/prompt":
		for _, p := range prompts() {
			known = known || p.name == ref.Name && slices.ContainsFunc(p.args, func(a *sdk.PromptArgument) bool { return a.Name == name })
		}
	case "ref/resource":
		for _, k := range kinds() {
			known = known || scheme+k.pattern == ref.URI && strings.Contains(strings.ReplaceAll(k.pattern, "+", ""), "{"+name+"}")
		}
	}
	if !known {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no such prompt or resource template, or it has no such argument"}
	}
	values, err := s.values(ctx, name, req.Params.Argument.Value)
	if err != nil {
		return nil, protocolError(err, "")
	}
	total := len(values)
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{
		Values: append([]string{}, values[:min(total, maxCompletions)]...), Total: total, HasMore: total > maxCompletions,
	}}, nil
}

// values returns the values of an argument that begin with text, or whose
// conversation has it in the title.
func (s *Server) values(ctx context.Context, argument, text string) (list []string, err error) {
	folded := strings.ToLower(text)
	var kind session.Kind
	switch argument {
	case "agent":
		all, err := s.workspace.Agents(ctx)
		if err != nil {
			return nil, err
		}
		for _, a := range all.Agents {
			if strings.HasPrefix(a.Name, folded) {
				list = append(list, a.Name)
			}
		}
		return list, nil
	case "checkpoint":
		kind = session.Checkpoint
	case "session":
	case "ref", "branch":
		if strings.HasPrefix("head", folded) {
			list = append(list, head)
		}
		labels, err := s.workspace.Bookmarks(ctx, workspace.BookmarksOptions{})
		if err != nil {
			return nil, err
		}
		for _, b := range labels.Bookmarks {
			if strings.HasPrefix(strings.ToLower(b.Label), folded) {
				list = append(list, b.Label)
			}
		}
	default:
		return nil, nil
	}
	sessions, err := s.workspace.Sessions(ctx, workspace.ListOptions{Kind: kind})
	if err != nil {
		return nil, err
	}
	for _, e := range sessions.Sessions {
		if strings.HasPrefix(e.ID, text) || strings.Contains(strings.ToLower(e.Title), folded) {
			list = append(list, e.ID)
		}
	}
	return list, nil
}
