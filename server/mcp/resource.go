package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	scheme   = "bough://"
	jsonType = "application/json"
	textType = "text/markdown"
)

// A kind is a kind of resource. Its URI is the scheme and the pattern, in which
// {NAME} is replaced by an argument.
type kind struct {
	pattern string
	name    string
	title   string
	about   string
	mime    string
	// conversation reports whether the resource changes only when a certain
	// conversation does, the one that its argument names.
	conversation bool
	read         func(ctx context.Context, w *workspace.Workspace, arg string) ([]byte, error)
}

// kinds returns all kinds of resources.
func kinds() []kind {
	return []kind{
		{"status", "status", "Where the workspace is", "The head, the last checkpoint before it, and the agents that run.", jsonType, false, readStatus},
		{"sessions", "sessions", "Conversations", "The conversations, last active first; not all if there are many.", jsonType, false, readSessions},
		{"checkpoints", "checkpoints", "Checkpoints", "The checkpoints, last active first; not all if there are many.", jsonType, false, readCheckpoints},
		{"agents", "agents", "Agents", "The agents of the workspace.", jsonType, false, readAgents},
		{"sessions/{session}", "session", "Conversation", "The path to the newest message of a conversation; its end if it is long.", textType, true, readPath},
		{"paths/{+ref}", "path", "Path", "The path to a message; its end if it is long.", textType, true, readPath},
		{"checkpoints/{checkpoint}", "checkpoint", "Checkpoint", "The messages of a checkpoint; the last ones if it is long.", textType, true, readPath},
		{"agents/{agent}", "agent", "Agent", "An agent, as its file has it.", jsonType, false, readAgent},
		{"agents/{agent}/snapshot", "agent_snapshot", "State of an agent", "active_branch_id, head_node_id, bookmarks, follow_up_queue, and the turn with what interrupted it.", jsonType, false, readSnapshot},
	}
}

// addResources registers the resources and their templates.
func (s *Server) addResources() {
	for _, k := range kinds() {
		read := func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return s.readResource(ctx, req.Params.URI)
		}
		if strings.Contains(k.pattern, "{") {
			s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{Name: k.name, Title: k.title, Description: k.about, MIMEType: k.mime, URITemplate: scheme + k.pattern}, read)
			continue
		}
		s.sdk.AddResource(&sdk.Resource{Name: k.name, Title: k.title, Description: k.about, MIMEType: k.mime, URI: scheme + k.pattern}, read)
	}
	s.sdk.AddReceivingMiddleware(s.listRecent)
}

// maxListed is the maximum number of conversations and of agents in the list of
// resources.
const maxListed = 50

// listRecent adds the conversations that were active last, and the agents, to
// the list of resources.
func (s *Server) listRecent(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, req)
		list, ok := res.(*sdk.ListResourcesResult)
		if err != nil || !ok {
			return res, err
		}
		recent, err := s.workspace.Sessions(ctx, workspace.ListOptions{Limit: maxListed})
		if err != nil {
			return nil, protocolError(err, "")
		}
		for _, e := range recent.Sessions {
			of, about := "sessions/", "conversation"
			if e.Kind == session.Checkpoint {
				of, about = "checkpoints/", "checkpoint"
			}
			list.Resources = append(list.Resources, &sdk.Resource{
				URI: scheme + of + escape(e.ID), Name: e.ID, Title: oneLine(e.Title, 200), MIMEType: textType,
				Description: fmt.Sprintf("%s, %d messages", about, e.MessageCount),
			})
		}
		agents, err := s.workspace.Agents(ctx)
		if err != nil {
			return nil, protocolError(err, "")
		}
		for _, a := range agents.Agents[:min(len(agents.Agents), maxListed)] {
			list.Resources = append(list.Resources, &sdk.Resource{
				URI: scheme + "agents/" + escape(a.Name) + "/snapshot", Name: a.Name, Title: "State of the agent " + a.Name, MIMEType: jsonType,
			})
		}
		return list, nil
	}
}

// parseURI returns the kind of a resource and its argument.
func parseURI(uri string) (k kind, arg string, ok bool) {
	rest, ok := strings.CutPrefix(uri, scheme)
	if !ok {
		return k, "", false
	}
	for _, k := range kinds() {
		before, after, hasArg := strings.Cut(k.pattern, "{")
		if !hasArg {
			if rest == k.pattern {
				return k, "", true
			}
			continue
		}
		_, after, _ = strings.Cut(after, "}")
		arg, isOf := strings.CutPrefix(rest, before)
		arg, ends := strings.CutSuffix(arg, after)
		if !isOf || !ends || arg == "" || strings.Contains(arg, "/") {
			continue
		}
		if arg, err := url.PathUnescape(arg); err == nil {
			return k, arg, true
		}
	}
	return k, "", false
}

// readResource returns the content of a resource.
func (s *Server) readResource(ctx context.Context, uri string) (*sdk.ReadResourceResult, error) {
	k, arg, ok := parseURI(uri)
	if !ok {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	data, err := k.read(ctx, s.workspace, arg)
	if err != nil {
		if errors.Is(err, fault.Failed) {
			s.opts.Log(fmt.Sprintf("the resource %q: %v", uri, err))
		}
		return nil, protocolError(err, uri)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: k.mime, Text: string(data)}}}, nil
}

// protocolError returns an error as one of the protocol.
func protocolError(err error, uri string) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	e := workspace.Explain(err)
	text := string(e.Code) + ": " + shortText(e.Message, maxError)
	if h := hint(e); h != "" {
		text += "; " + h
	}
	switch e.Code {
	case fault.NotFound:
		if uri != "" {
			return sdk.ResourceNotFoundError(uri)
		}
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
	case fault.Usage, fault.Ambiguous, fault.Refused:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: text}
}

func readStatus(ctx context.Context, w *workspace.Workspace, _ string) ([]byte, error) {
	v, err := w.Status(ctx)
	return bounded(v, "", err)
}

func readSessions(ctx context.Context, w *workspace.Workspace, _ string) ([]byte, error) {
	v, err := w.Sessions(ctx, workspace.ListOptions{})
	return bounded(v, "sessions", err)
}

func readCheckpoints(ctx context.Context, w *workspace.Workspace, _ string) ([]byte, error) {
	v, err := w.Sessions(ctx, workspace.ListOptions{Kind: session.Checkpoint})
	return bounded(v, "sessions", err)
}

func readAgents(ctx context.Context, w *workspace.Workspace, _ string) ([]byte, error) {
	v, err := w.Agents(ctx)
	return bounded(v, "agents", err)
}

func readAgent(ctx context.Context, w *workspace.Workspace, name string) ([]byte, error) {
	v, err := w.Agent(name).Info(ctx)
	return bounded(v, "", err)
}

func readSnapshot(ctx context.Context, w *workspace.Workspace, name string) ([]byte, error) {
	v, err := w.Agent(name).Snapshot(ctx)
	return bounded(v, "", err)
}

// bounded returns the JSON of v with the first elements of its list, a member,
// as many as an answer may have.
func bounded(v any, list string, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	doc := api.Encode(v)
	if list != "" {
		if doc, err = page(doc, list, cursor{}, false); err != nil {
			return nil, err
		}
	}
	return shortened(doc), nil
}

// readPath returns the last messages of the path to ref.
func readPath(ctx context.Context, w *workspace.Workspace, ref string) ([]byte, error) {
	conv, err := w.Show(ctx, ref, session.ReadOptions{})
	if err != nil {
		return nil, err
	}
	v := newShown(conv)
	from := max(0, v.Total-maxMessages)
	texts := renderer{}.texts(conv.Messages, from, v.Total)
	size, first := 0, v.Total
	for ; first > from; first-- {
		if size += min(len(texts[first-1]), maxMessage) + 150; size > maxAnswer && first < v.Total {
			break
		}
	}
	for i := first; i < v.Total; i++ {
		v.Messages = append(v.Messages, shown(i, conv.Messages[i], conv.Refs[i], texts[i], maxMessage))
	}
	text := v.text()
	if first > 0 {
		text += fmt.Sprintf("\n(messages 0 to %d are not shown; show_conversation with {\"ref\": %q} reads them)\n", first-1, ref)
	}
	return []byte(text), nil
}

// pathURI returns the URI of the path to ref.
func pathURI(ref string) string { return scheme + "paths/" + escape(ref) }

// escape escapes an argument for a URI, with all characters that a template
// does not match.
func escape(arg string) string { return strings.ReplaceAll(url.QueryEscape(arg), "+", "%20") }
