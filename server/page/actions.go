package page

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/rewrite"
)

// An action is a verb that the page may call.
type action struct {
	// to returns the path of the result. If nil, or if it returns "", the browser stays.
	to func(result any, in url.Values) string
	// empty keeps empty fields: an empty text removes a setting.
	empty bool
	// wait is how long the form waits for the verb, which then continues. Zero means until it
	// ends or, if it runs turns, until the first one has begun.
	wait time.Duration
	// ops are the verbs of its operation in the log, if that is not the verb itself.
	ops []string
	// unlogged is set if no operation has the name of the action.
	unlogged bool
}

// operations returns the verbs that the operation of an action can have in the log.
func (a action) operations(name string) []string {
	if a.unlogged {
		return a.ops
	}
	return append(slices.Clip(a.ops), strings.ReplaceAll(name, "/", " "))
}

// actions returns the verbs that the page may call, by name. None deletes anything for good.
func actions() map[string]action {
	agent := action{to: toAgent}
	turn := action{to: toAgent, ops: []string{"append"}}
	return map[string]action{
		"new":                 {to: toSession},
		"append":              {to: toMessage},
		"checkpoint":          {to: toSession},
		"branch":              {to: toSession},
		"restore":             {to: toHead},
		"rewind":              {to: toHead},
		"pick":                {to: toPicked},
		"merge":               {to: toMerged},
		"edit":                {to: toEdited, ops: []string{"append", "agent branch"}},
		"prune-context":       {to: toPruned},
		"compare":             {to: toCompared, unlogged: true},
		"replay":              {unlogged: true},
		"replay/cancel":       {unlogged: true},
		"rewind/files":        {to: toRestored, ops: []string{"restore files"}},
		"rewind/both":         {to: toHeadOrKept, ops: []string{"rewind"}},
		"files/turn/undo":     {to: toRestored, ops: []string{"files turn"}},
		"rename":              {},
		"rm":                  {},
		"bookmark":            {},
		"bookmark/rm":         {ops: []string{"bookmark --rm"}},
		"undo":                {},
		"redo":                {},
		"trash/restore":       {ops: []string{"undo"}},
		"import":              {wait: importWait},
		"push":                {to: toRemotes, wait: exchangeWait, unlogged: true},
		"pull":                {to: toRemotes, wait: exchangeWait},
		"sync":                {to: toRemotes, wait: exchangeWait, ops: []string{"pull"}, unlogged: true},
		"sync/cancel":         {to: toRemotes, unlogged: true},
		"ls/remote":           {to: toRemotes, wait: exchangeWait, unlogged: true},
		"agent/create":        {to: toNewAgent},
		"agent/set":           {to: toAgent, empty: true},
		"agent/rm":            {},
		"agent/switch":        agent,
		"agent/rewind":        agent,
		"agent/archive":       agent,
		"agent/restore":       agent,
		"agent/delete":        agent,
		"agent/chat":          turn,
		"agent/branch":        turn,
		"steer":               turn,
		"follow-up":           turn,
		"queue/drop":          agent,
		"queue/resume":        turn,
		"explore":             {to: toExploration},
		"explore/evaluate":    {to: toExploration, ops: []string{"append", "explore"}},
		"explore/adopt":       {to: toExploration, ops: []string{"rewind", "agent rewind"}},
		"explore/adopt/files": {to: toAdopted, ops: []string{"explore adopt", "agent rewind"}},
		"explore/cancel":      {to: toExploration, ops: []string{"explore"}},
		"explore/rm":          {},
	}
}

// importWait is how long a form waits for an import.
const importWait = 5 * time.Second

// exchangeWait is how long a form waits for an exchange with a remote, whose page then shows how far it
// is.
const exchangeWait = 2 * time.Second

func toRemotes(any, url.Values) string { return "/remotes" }

func toSession(result any, _ url.Values) string {
	switch r := result.(type) {
	case *workspace.Entry:
		return sessionPath(r.ID, "")
	case *workspace.Snapshot:
		if r.Kind == session.Checkpoint {
			return "/k/" + url.PathEscape(r.ID)
		}
		return sessionPath(r.ID, "")
	}
	return ""
}

func toMessage(result any, _ url.Values) string {
	if r, ok := result.(*workspace.AppendResult); ok {
		return sessionPath(r.Session, r.Message)
	}
	return ""
}

func toPicked(result any, _ url.Values) string {
	r, ok := result.(*rewrite.Pick)
	if !ok {
		return ""
	}
	return sessionPath(r.Session, string(r.Messages[len(r.Messages)-1].Message))
}

func toEdited(result any, _ url.Values) string {
	switch r := result.(type) {
	case *rewrite.Edited:
		if !r.Unchanged {
			return sessionPath(r.Session, string(r.Message))
		}
	case events.Event: // of the message, which is being answered
		return sessionPath(string(r.Session), "")
	}
	return ""
}

func toPruned(result any, _ url.Values) string {
	if r, ok := result.(*rewrite.Pruned); ok {
		return sessionPath(string(r.Session), "")
	}
	return ""
}

func toHead(result any, _ url.Values) string {
	r, ok := result.(*lines.Position)
	switch {
	case !ok:
		return ""
	case r.ReadOnly:
		return "/k/" + url.PathEscape(r.Head.Session)
	}
	return sessionPath(r.Head.Session, string(r.Head.Message))
}

func toAgent(_ any, in url.Values) string { return "/agents/" + url.PathEscape(in.Get("agent")) }

func toNewAgent(_ any, in url.Values) string { return "/agents/" + url.PathEscape(in.Get("name")) }

func toExploration(_ any, in url.Values) string { return "/explore/" + url.PathEscape(in.Get("id")) }

// sessionPath returns the path of the page of a message, or of the newest one for "".
func sessionPath(session, message string) string {
	path := "/c/" + url.PathEscape(session)
	if message != "" {
		path += "?leaf=" + url.QueryEscape(message) + "#m-" + url.PathEscape(message)
	}
	return path
}
