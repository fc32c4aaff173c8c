package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/server/internal/exchange"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/tidwall/gjson"
)

// maxForm is the maximum size of a form. A transcript that is imported is one field.
const maxForm = 32 << 20

// Fields of the page's own, beside the arguments of verbs.
const (
	backField    = "back"    // the path of the form
	seqField     = "seq"     // of undo and redo: the operation that is to be undone or repeated
	contentField = "content" // the text of a message, under one name for all verbs that send one

	strategiesField = "strategies" // of explore: a strategy on each line
)

// A done is what a form did.
type done struct {
	Said string      `json:"said"`
	Undo *events.Seq `json:"undo"` // the operation that an undo would undo
	Redo bool        `json:"redo"`
	To   string      `json:"to"`
}

// do calls a verb with the fields of a form.
func (p *Page) do(w http.ResponseWriter, r *http.Request) {
	defer p.recover(&request{Page: p, w: w, r: r})
	fields, err := formFields(w, r)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	back := backPath(r, fields)
	before, err := p.workspace.Position(r.Context())
	if err != nil {
		p.fail(w, r, err)
		return
	}
	name := r.PathValue("verb")
	a, ok := actions()[name]
	if !ok {
		p.fail(w, r, &failure{status: http.StatusNotFound, message: fmt.Sprintf("The page has no action %q", name)})
		return
	}
	if name == "undo" && fields.Get(seqField) == "" {
		asked, err := p.askUndo(r.Context())
		if err != nil {
			p.fail(w, r, err)
			return
		}
		asked.To = back
		p.answer(w, r, asked, *asked.Undo)
		return
	}
	to, continues, err := p.act(r.Context(), name, a, fields)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	d := &done{To: to}
	if to == "" {
		d.To = p.existing(r.Context(), back)
	}
	op, err := p.madeBy(context.WithoutCancel(r.Context()), a.operations(name), before)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	var seq events.Seq
	switch {
	case op != nil:
		seq = op.Seq
		s := p.saidOf(r.Context(), *op)
		d.Said, d.Redo = s.Text, s.Redo != 0
		if s.Undo != 0 {
			d.Undo = &s.Undo
		}
	case continues && slices.Contains([]string{"explore", "replay", "replay/cancel"}, name), continues && to == "/remotes": // its page shows how far it is
	case continues:
		d.Said = "This continues in the background"
	default:
		d.Said = "Nothing has changed"
	}
	p.answer(w, r, d, seq)
}

// answer answers a form. A page without scripts says what the operation seq did; 0 means none.
func (p *Page) answer(w http.ResponseWriter, r *http.Request, d *done, seq events.Seq) {
	if wantsJSON(r) {
		sendJSON(w, http.StatusOK, d)
		return
	}
	if seq != 0 {
		d.To = withSaid(d.To, seq)
	}
	redirect(w, r, d.To)
}

// backPath returns the path of a form: its field or, for the many forms of a conversation, the
// address that the browser sends.
func backPath(r *http.Request, fields url.Values) string {
	if back := fields.Get(backField); back != "" {
		return localPath(back)
	}
	u, err := url.Parse(r.Referer())
	if err != nil || u.Host != r.Host || strings.HasPrefix(u.Path, "/do/") {
		return "/"
	}
	return withoutSaid(u)
}

// act does an action, and returns the path of the result, "" if the browser stays. continues
// reports whether the verb has not ended.
func (p *Page) act(ctx context.Context, name string, a action, fields url.Values) (to string, continues bool, err error) {
	switch name {
	case "undo":
		return "", false, p.undo(ctx, fields)
	case "redo":
		return "", false, p.redo(ctx, fields)
	case "explore":
		to, err := p.explore(ctx, fields)
		return to, true, err
	case "replay":
		to, err := p.replay(ctx, a, fields)
		return to, true, err
	case "replay/cancel":
		session := fields.Get("session_id")
		return replayAddress(session), true, p.replays.cancel(session)
	case "sync/cancel":
		return "/remotes", true, p.exchanges.cancel(fields.Get("remote"))
	case "trash/restore":
		return "", false, p.restoreRemoved(ctx, fields.Get("session_id"))
	}
	v, ok := api.Find(name)
	if !ok {
		panic("page: no verb " + name)
	}
	if name == "append" {
		if fields, err = p.atRestored(ctx, fields); err != nil {
			return "", false, err
		}
	}
	in, err := v.Parse(arguments(v, a, fields))
	if err != nil {
		return "", false, err
	}
	result, continues, err := p.call(ctx, v, a.wait, in)
	if err == nil {
		p.kept.add(restoredBy(result))
		p.summaries.add(result)
	}
	if err != nil || a.to == nil {
		return "", continues, err
	}
	if v.Remote { // its page says what was exchanged
		return a.to(result, fields), true, nil
	}
	return a.to(result, fields), continues, nil
}

// atRestored returns the fields of a message. One to the checkpoint that was restored is one to
// the head, which moves to the branch that the message creates.
func (p *Page) atRestored(ctx context.Context, fields url.Values) (url.Values, error) {
	head, err := p.workspace.Head(ctx)
	if err != nil || head == nil || !head.ReadOnly || fields.Get("session_id") != head.Head.Session {
		return fields, err
	}
	fields = maps.Clone(fields)
	fields.Del("session_id")
	return fields, nil
}

// arguments returns the fields of a form that are arguments of a verb. Those that are empty
// are omitted, unless the verb needs them.
func arguments(v *api.Verb, a action, fields url.Values) url.Values {
	schema := v.In()
	in := url.Values{}
	for name, values := range fields {
		if name == backField {
			continue
		}
		if name == contentField && schema.Properties[contentField] == nil {
			for _, other := range []string{"text", "prompt"} {
				if schema.Properties[other] != nil {
					name = other
				}
			}
		}
		if len(values) == 1 && values[0] == "" && !a.empty && !slices.Contains(schema.Required, name) {
			continue
		}
		in[name] = values
	}
	return in
}

// call calls a verb. It returns when the verb has ended, the first turn of it has begun, or
// wait is over, and reports whether the verb continues. If a turn has begun, the result is its first
// event.
func (p *Page) call(ctx context.Context, v *api.Verb, wait time.Duration, in json.RawMessage) (result any, continues bool, err error) {
	env := api.Env{Workspace: p.workspace, Models: p.opts.Models, Machine: p.opts.Machine, Remotes: p.opts.Remotes}
	if !v.Turns && wait == 0 {
		result, err = v.Call(ctx, env, in)
		return result, false, err
	}
	type outcome struct {
		result any
		err    error
	}
	var once sync.Once
	begun, ended := make(chan struct{}), make(chan outcome, 1)
	var first events.Event
	env.OnEvent = func(e events.Event) {
		once.Do(func() {
			first = e
			close(begun)
		})
	}
	var x *remoteExchange
	if err := p.background(func(ctx context.Context) {
		if v.Remote {
			var err error
			if x, ctx, err = p.exchanges.begin(ctx, p.remoteName(in), v.Name); err != nil {
				ended <- outcome{nil, err}
				return
			}
			env.OnProgress = x.progress
		}
		result, err := v.Call(ctx, env, in)
		if v.Remote {
			x.ended(err)
		}
		ended <- outcome{result, err}
	}); err != nil {
		return nil, false, err
	}
	var over <-chan time.Time
	if wait > 0 {
		over = time.After(wait)
	}
	select {
	case o := <-ended:
		return o.result, false, o.err
	case <-begun:
		result = first
	case <-over:
	case <-ctx.Done():
	}
	go func() { // the events have the error of a turn too
		if o := <-ended; o.err != nil {
			p.opts.Log(fmt.Sprintf("%s: %v", v.Name, o.err))
		}
	}()
	return result, true, nil
}

// remoteName returns the name of the remote in the arguments of a verb, or of the default one.
func (p *Page) remoteName(in json.RawMessage) string {
	info, err := remote.Find(p.workspace, gjson.GetBytes(in, "remote").Str)
	if err != nil {
		return "" // which the verb says too
	}
	return info.Name
}

// recent is how many operations are searched for one of a form.
const recent = 100

// madeBy returns the first operation after a position that has one of the verbs, nil if there
// is none. Later ones can be those of a turn that continues.
func (p *Page) madeBy(ctx context.Context, verbs []string, after events.Position) (made *history.Operation, err error) {
	log, err := p.workspace.Log(ctx, history.LogOptions{Limit: recent})
	if err != nil {
		return nil, err
	}
	for _, op := range log.Operations { // newest first
		if op.Seq <= after.Seq {
			break
		}
		if op.Args["auto"] != true && slices.Contains(verbs, op.Verb) {
			made = &op
		}
	}
	return made, nil
}

// existing returns a path of the page, without what no longer exists after a change: "/" if
// its session is gone, and the end of the conversation if its message is.
func (p *Page) existing(ctx context.Context, back string) string {
	u, err := url.Parse(back)
	if err != nil {
		return "/"
	}
	list, name, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	if list != "c" && list != "k" && list != "tree" || name == "" {
		return back
	}
	name = strings.TrimSuffix(name, ".svg")
	if _, err := p.workspace.Lineage(ctx, name, session.ReadOptions{Partial: true}); errors.Is(workspaceError(err), fault.NotFound) {
		return "/"
	}
	if leaf := u.Query().Get("leaf"); leaf != "" {
		_, err := p.workspace.Line(name).Path(ctx, leaf, session.ReadOptions{Partial: true})
		if errors.Is(workspaceError(err), fault.NotFound) {
			return sessionPath(name, "")
		}
	}
	return back
}

// workspaceError returns err as an error with a code.
func workspaceError(err error) error {
	if err == nil {
		return nil
	}
	return workspace.Explain(err)
}

// saidField is the parameter of an address with the operation that the page reports.
const saidField = "said"

// withSaid returns a path whose page says what an operation did.
func withSaid(to string, seq events.Seq) string {
	u, err := url.Parse(to)
	if err != nil {
		return to
	}
	q := u.Query()
	q.Set(saidField, strconv.FormatInt(int64(seq), 10))
	u.RawQuery = q.Encode()
	return u.String()
}

// formFields returns the fields of a form. Line breaks are those of Unix: browsers send
// others.
func formFields(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if r.ContentLength > maxForm {
		return nil, tooLarge()
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err != nil && r.ContentLength == 0:
		return url.Values{}, nil
	case kind == "multipart/form-data":
		err = r.ParseMultipartForm(maxForm)
	case kind == "application/x-www-form-urlencoded":
		err = r.ParseForm()
	default:
		return nil, &failure{status: http.StatusUnsupportedMediaType, message: "The request is not a form"}
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, tooLarge()
	case err != nil:
		return nil, &failure{status: http.StatusBadRequest, message: "The form is invalid"}
	}
	for _, values := range r.PostForm {
		for i, v := range values {
			values[i] = strings.ReplaceAll(v, "\r\n", "\n")
		}
	}
	return r.PostForm, nil
}

func tooLarge() error {
	return &failure{status: http.StatusRequestEntityTooLarge, message: fmt.Sprintf("The text is too large; at most %d MB are accepted", maxForm>>20)}
}

// A typed is a field of a form that was refused, as the answer shows it again.
type typed struct {
	Name, Value string
	Label       string // "" if a person does not type it: it is hidden
	Long        bool   // it may have several lines
}

// typedIn returns the fields of a form that a person typed something into, nil if nothing was
// typed.
func typedIn(fields url.Values) (list []typed) {
	labels := map[string]string{
		contentField: "Message", strategiesField: "Strategies", "title": "Title", "name": "Name", "label": "Label", "model": "Model", "command": "Command", "system": "Instructions", "summary": "Summary", "text": "Message",
	}
	written := false
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		for _, value := range fields[name] {
			f := typed{name, value, labels[name], slices.Contains([]string{contentField, strategiesField, "system", "summary", "text"}, name)}
			written = written || f.Label != "" && value != ""
			list = append(list, f)
		}
	}
	if !written {
		return nil
	}
	return list
}

// failJSON answers with an error as JSON.
func (p *Page) failJSON(w http.ResponseWriter, r *http.Request, err error) {
	f, data := explain(err)
	if f.status == http.StatusInternalServerError {
		p.opts.Log(fmt.Sprintf("%s: %v", r.Pattern, err))
	}
	code := exchange.CodeOf(f.status)
	var own *failure
	if !errors.As(err, &own) {
		code = workspace.Explain(err).Code
	}
	sendJSON(w, f.status, map[string]any{"error": map[string]string{
		"code": string(code), "message": data.Message, "hint": data.Hint,
	}})
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	data := rawjson.Compact(v)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	w.Write(data)
}
