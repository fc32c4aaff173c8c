package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
)

// overHTTP serves the room over HTTP, and returns the transport of a client.
func (r *room) overHTTP() func() sdk.Transport {
	web := httptest.NewServer(r.server)
	r.t.Cleanup(func() {
		r.server.Close() // ends the streams, for which web.Close waits
		web.Close()
	})
	return func() sdk.Transport { return &sdk.StreamableClientTransport{Endpoint: web.URL} }
}

// told returns options of a client that receives the URIs of resources that
// changed.
func told() (*sdk.ClientOptions, chan string) {
	uris := make(chan string, 100)
	return &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, req *sdk.ResourceUpdatedNotificationRequest) {
		uris <- req.Params.URI
	}}, uris
}

// TestSubscribe: over both transports, each of two clients gets a notification of each
// change by another process to the resources that it subscribed to, and no others.
func TestSubscribe(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	r.speaks = established
	web := r.overHTTP()
	other, err := workspace.Open(t.Context(), r.w.Dir(), nil) // as another process has it
	if err != nil {
		t.Fatal(err)
	}
	second, err := other.New(t.Context(), "Another subject")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Agent("ada").Create(t.Context(), agents.Options{Model: "m"}); err != nil {
		t.Fatal(err)
	}
	oa, toldA := told()
	ob, toldB := told()
	a, b := r.connect(oa), r.connected(ob, web())
	subscribe := func(c *client, uri string) {
		t.Helper()
		if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
			t.Fatalf("subscribe to %s: %v", uri, err)
		}
	}
	one, two := "bough://sessions/"+r.first, "bough://paths/"+second.ID
	subscribe(a, one)
	subscribe(b, two)
	subscribe(b, one)
	subscribe(b, "bough://agents/ada/snapshot")
	add := func(session string) {
		t.Helper()
		if _, err := other.Append(t.Context(), workspace.Append{Session: session, Text: "New."}); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(uris chan string, want string) {
		t.Helper()
		if got := <-uris; got != want {
			t.Errorf("told of %s, want %s", got, want)
		}
	}
	add(r.first)
	expect(toldA, one)
	expect(toldB, one)
	add(second.ID)
	expect(toldB, two)
	tree, err := other.Agent("ada").NewTree(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	expect(toldB, "bough://agents/ada/snapshot")
	read, err := b.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "bough://agents/ada/snapshot"})
	if err != nil {
		t.Fatal(err)
	}
	if got := gjson.Get(read.Contents[0].Text, "session_id").String(); got != tree.Tree {
		t.Errorf("the snapshot has the tree %s, want %s", got, tree.Tree)
	}
	if err := b.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: one}); err != nil {
		t.Fatal(err)
	}
	add(r.first)
	expect(toldA, one) // the only one since the first
	add(second.ID)
	expect(toldB, two) // and not one, which came before
	if len(toldA) > 0 || len(toldB) > 0 {
		t.Error("a client got another notification")
	}
	for _, uri := range []string{"bough://sessions/nowhere", "bough://nothing", "file:///etc/passwd"} {
		if err := a.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err == nil {
			t.Errorf("subscribed to %s", uri)
		}
	}
}

// TestMovedPath: a subscriber to the path to HEAD gets a notification when the head moves
// to another conversation.
func TestMovedPath(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	r.speaks = established
	o, uris := told()
	c := r.connect(o)
	for _, uri := range []string{"bough://paths/HEAD", "bough://status"} {
		if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.w.New(t.Context(), "Another subject"); err != nil {
		t.Fatal(err)
	}
	got := []string{<-uris, <-uris}
	if slices.Sort(got); !slices.Equal(got, []string{"bough://paths/HEAD", "bough://status"}) {
		t.Errorf("told of %q", got)
	}
}

// TestManySubscriptions: the number of subscriptions of a client is limited, and those of
// another client do not count.
func TestManySubscriptions(t *testing.T) {
	t.Parallel()
	const most = 100
	r := newRoom(t, nil)
	r.speaks = established
	web := r.overHTTP()
	a, b := r.connect(nil), r.connected(nil, web())
	subscribe := func(c *client, uri string) error {
		return c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri})
	}
	uri := func(n int) string { // another one for each n, by which characters of the id are escaped
		text := "bough://sessions/"
		for i, b := range []byte(r.first) {
			if n>>min(i, 31)&1 == 1 {
				text += fmt.Sprintf("%%%02x", b)
			} else {
				text += string(b)
			}
		}
		return text
	}
	for n := range most {
		if err := subscribe(a, uri(n)); err != nil {
			t.Fatalf("%s: %v", uri(n), err)
		}
	}
	var wire *jsonrpc.Error
	err := subscribe(a, "bough://status")
	if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams || !strings.Contains(wire.Message, "at most 100 resources") {
		t.Errorf("one more: %v", err)
	}
	if err := subscribe(b, "bough://status"); err != nil {
		t.Errorf("another client: %v", err)
	}
	if err := a.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: uri(0)}); err != nil {
		t.Fatal(err)
	}
	if err := subscribe(a, "bough://status"); err != nil {
		t.Errorf("after one ended: %v", err)
	}
}

// TestListen: a client of the newest protocol, in which a subscription is a
// stream that begins some time after the request, gets notifications too.
func TestListen(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	o, uris := told()
	c := r.connect(o)
	if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "bough://sessions/" + r.first}); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		r.append(r.first, "user", "New.")
		select {
		case uri := <-uris:
			if uri != "bough://sessions/"+r.first {
				t.Errorf("told of %s", uri)
			}
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
	t.Error("the client is not told")
}

// TestResources: every kind of resource can be listed or is a template, and can
// be read, with a bounded size.
func TestResources(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	c := r.connect(nil)
	saved, err := r.w.Checkpoint(t.Context(), r.first, workspace.SnapshotOptions{Name: "Saved"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.w.Agent("ada").Create(t.Context(), agents.Options{Model: "m"}); err != nil {
		t.Fatal(err)
	}
	r.append(r.first, "user", strings.Repeat("long ", 50_000))
	last := r.append(r.first, "user", "The end.")
	var listed []string
	for res, err := range c.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, res.URI)
	}
	for uri, want := range map[string]string{
		"bough://status": `"head"`, "bough://sessions": r.first, "bough://checkpoints": saved.ID, "bough://agents": `"ada"`,
		"bough://sessions/" + r.first: "The end.", "bough://checkpoints/" + saved.ID: "One near the river.",
		"bough://agents/ada/snapshot": `"follow_up_queue":[]`,
	} {
		if !slices.Contains(listed, uri) {
			t.Errorf("%s is not listed", uri)
		}
		c.reads(uri, want)
	}
	c.reads("bough://agents/ada", `"model_id":"m"`)
	c.reads("bough://paths/"+r.first+"%40"+r.ids[1], "Lisbon, by train.")
	c.reads("bough://paths/"+r.first+"@"+last, "more bytes; show_conversation")
	c.reads("bough://sessions/Plan%20the%20trip", "The end.")
	templates := 0
	for tpl, err := range c.ResourceTemplates(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if templates++; tpl.Title == "" || tpl.Description == "" || tpl.MIMEType == "" {
			t.Errorf("the template %s lacks a title, description or type", tpl.URITemplate)
		}
	}
	if templates != 5 {
		t.Errorf("%d templates, want 5", templates)
	}
	for _, uri := range []string{"bough://sessions/nowhere", "bough://agents/..%2f..%2fx", "bough://nothing", "bough://sessions/a/b"} {
		_, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("reading %s: %v", uri, err)
		}
	}
}

func (c *client) reads(uri, want string) {
	c.t.Helper()
	res, err := c.ReadResource(c.t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		c.t.Errorf("%s: %v", uri, err)
		return
	}
	text := res.Contents[0].Text
	if !strings.Contains(text, want) || len(text) > 34<<10 {
		c.t.Errorf("%s has %d bytes, %.300s, want %q", uri, len(text), text, want)
	}
}

// TestPrompts: each prompt has text for its arguments, and one includes the
// conversation.
func TestPrompts(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	c := r.connect(nil)
	for p, err := range c.Prompts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: p.Name, Arguments: map[string]string{"nonsense": "x"}}); err == nil {
			t.Errorf("%s accepts an unknown argument", p.Name)
		}
		in := map[string]string{}
		for _, a := range p.Arguments {
			if a.Required {
				if _, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: p.Name, Arguments: in}); err == nil {
					t.Errorf("%s needs no %s", p.Name, a.Name)
				}
			}
			in[a.Name] = "Plan the trip"
		}
		res, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: p.Name, Arguments: in})
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		if text := res.Messages[0].Content.(*sdk.TextContent).Text; p.Name != "catch_up" && !strings.Contains(text, "Plan the trip") {
			t.Errorf("%s ignores its arguments: %s", p.Name, text)
		}
		if p.Name == "catch_up" {
			if embedded := res.Messages[1].Content.(*sdk.EmbeddedResource).Resource; !strings.Contains(embedded.Text, "One near the river.") {
				t.Errorf("catch_up includes %q", embedded.Text)
			}
		}
	}
}

// TestComplete: arguments of prompts and of URIs are completed.
func TestComplete(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	c := r.connect(nil)
	if _, err := r.w.Agent("ada").Create(t.Context(), agents.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.w.Bookmark(t.Context(), r.ids[1], "the train", workspace.BookmarkOptions{}); err != nil {
		t.Fatal(err)
	}
	resource := func(uri string) *sdk.CompleteReference { return &sdk.CompleteReference{Type: "ref/resource", URI: uri} }
	for _, e := range []struct {
		ref            *sdk.CompleteReference
		argument, text string
		want           string
	}{
		{resource("bough://sessions/{session}"), "session", "plan", r.first},
		{resource("bough://sessions/{session}"), "session", r.first[:12], r.first},
		{resource("bough://paths/{+ref}"), "ref", "the", "the train"},
		{resource("bough://agents/{agent}/snapshot"), "agent", "a", "ada"},
		{&sdk.CompleteReference{Type: "ref/prompt", Name: "try_another_way"}, "ref", "HE", "HEAD"},
	} {
		res, err := c.Complete(t.Context(), &sdk.CompleteParams{Ref: e.ref, Argument: sdk.CompleteParamsArgument{Name: e.argument, Value: e.text}})
		if err != nil || !slices.Contains(res.Completion.Values, e.want) {
			t.Errorf("%+v %s=%q completes to %+v, %v; want %q", e.ref, e.argument, e.text, res, err, e.want)
		}
	}
	if _, err := c.Complete(t.Context(), &sdk.CompleteParams{Ref: resource("bough://sessions/{session}"), Argument: sdk.CompleteParamsArgument{Name: "agent"}}); err == nil {
		t.Error("an argument that the template does not have is completed")
	}
}

// TestProgress: a client that asks for progress gets it, increasing.
func TestProgress(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	r.speaks = established
	var content strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&content, `,{"role":%q,"content":"No %d %s"}`, []string{"user", "assistant"}[i%2], i, strings.Repeat("x", 1500))
	}
	type report struct {
		tool     string
		progress float64
	}
	reports := make(chan report, 10_000)
	o := accepts("accept", nil)
	o.ProgressNotificationHandler = func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
		reports <- report{req.Params.ProgressToken.(string), req.Params.Progress}
	}
	c := r.connect(o)
	in := map[string]args{"import": {"content": "[" + content.String()[1:] + "]"}, "search": {"text": "river"}}
	for tool := range in {
		params := &sdk.CallToolParams{Name: tool, Arguments: in[tool]}
		params.SetProgressToken(tool)
		if res, err := c.CallTool(t.Context(), params); err != nil || res.IsError {
			t.Fatalf("%s: %v %v", tool, err, res)
		}
	}
	last := map[string]float64{}
	for len(last) < len(in) || len(reports) > 0 {
		r := <-reports
		if r.progress <= last[r.tool] {
			t.Errorf("%s: progress %v after %v", r.tool, r.progress, last[r.tool])
		}
		last[r.tool] = r.progress
	}
}

// TestCancel: a call that is cancelled while the user is asked changes nothing,
// and the connection can be used.
func TestCancel(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	r.speaks = established
	cancelled := make(chan bool, 100)
	r.server.Watch(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "tools/call" {
				defer context.AfterFunc(ctx, func() { cancelled <- true })()
			}
			return next(ctx, method, req)
		}
	})
	web := r.overHTTP()
	for name, over := range map[string]func() sdk.Transport{"lines": r.pipe, "http": web} {
		asked, answer := make(chan bool), make(chan bool)
		c := r.connected(&sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			asked <- true
			<-answer
			return &sdk.ElicitResult{Action: "accept"}, nil
		}}, over())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "undo"})
			done <- err
		}()
		<-asked
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		<-cancelled
		close(answer) // too late
		if got := c.call("show_conversation", args{"ref": r.first}); got.Get("total").Int() != 4 {
			t.Errorf("%s: after the cancelled undo there are %s messages", name, got.Get("total"))
		}
	}
}

// TestMisbehaving: whatever a client sends, it gets an error, and its
// connection stays open.
func TestMisbehaving(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- r.server.Serve(t.Context(), in, out) }()
	answers := bufio.NewReaderSize(fromServer, 1<<20)
	send := func(line string) {
		t.Helper()
		if _, err := io.WriteString(toServer, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(line string, code int64, id string) {
		t.Helper()
		send(line)
		text, err := answers.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		got := gjson.Parse(text)
		if got.Get("error.code").Int() != code || got.Get("id").Raw != id {
			t.Errorf("%.60s is answered with %.300s, want the code %d", line, text, code)
		}
	}
	expect(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 0, "1") // before initialize
	expect(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, 0, "2")
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	const parse, invalid, method, params = -32700, -32600, -32601, -32602
	expect(`nonsense`, parse, "null")
	expect(`{"jsonrpc":"2.0","id":3,"method":`, parse, "null")
	expect("\xff\xfe{}", parse, "null")
	expect(`{"id":3}`, invalid, "null")
	expect(`7`, invalid, "null")
	expect(`[]`, invalid, "null")
	expect(`["x"]`, invalid, "null")
	expect(`{"jsonrpc":"2.0","id":4,"method":"tools/shout"}`, method, "4")
	expect(`{"jsonrpc":"2.0","id":5,"method":"tools/call"}`, invalid, "5")
	expect(`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"shout"}}`, params, "6")
	expect(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"status","arguments":"x"}}`, params, "7")
	expect(`{"jsonrpc":"2.0","id":8,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`, params, "8")
	expect(`{"jsonrpc":"2.0","id":9,"method":"prompts/get","params":{"name":"x"}}`, params, "9")
	expect(`{"jsonrpc":"2.0","id":10,"method":"ping","params":"`+strings.Repeat("x", 33<<20)+`"}`, invalid, "null")
	send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":999}}`)
	send(`{"jsonrpc":"2.0","id":77,"result":{}}`) // an answer to no question
	send("")
	expect(`[{"jsonrpc":"2.0","id":11,"method":"ping"}]`, 0, "11") // a batch
	expect(`{"jsonrpc":"2.0","id":"last","method":"ping"}`, 0, `"last"`)
	toServer.Close()
	if err := <-done; err != nil {
		t.Errorf("Serve() = %v", err)
	}
}

// TestMisbehavingHTTP: input that is not a message of the protocol is refused with a
// status, and a client that behaves is answered meanwhile.
func TestMisbehavingHTTP(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	web := httptest.NewServer(r.server)
	t.Cleanup(func() {
		r.server.Close()
		web.Close()
	})
	good := r.connected(nil, &sdk.StreamableClientTransport{Endpoint: web.URL})
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	for _, c := range []struct {
		name, method, session, body string
		want                        int
	}{
		{"a first message", "POST", "", hello, http.StatusOK},
		{"no JSON", "POST", "", "nonsense", http.StatusBadRequest},
		{"half a message", "POST", "", `{"jsonrpc":"2.0","id":1,`, http.StatusBadRequest},
		{"no message", "POST", "", `{"id":7}`, http.StatusBadRequest},
		{"nothing", "POST", "", "", http.StatusBadRequest},
		{"a huge message", "POST", "", `{"jsonrpc":"2.0","id":1,"method":"ping","params":"` + strings.Repeat("x", 33<<20) + `"}`, http.StatusRequestEntityTooLarge},
		{"an unknown session", "POST", "nobody", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, http.StatusNotFound},
		{"a stream of an unknown session", "GET", "nobody", "", http.StatusNotFound},
		{"a stream of no session", "GET", "", "", http.StatusBadRequest},
		{"the end of an unknown session", "DELETE", "nobody", "", http.StatusNotFound},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, web.URL, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if c.session != "" {
			req.Header.Set("Mcp-Session-Id", c.session)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s: the status is %d, want %d", c.name, resp.StatusCode, c.want)
		}
		good.call("status", nil)
	}
}

// TestClosed: a closed server ends the sessions of its clients and accepts no
// others.
func TestClosed(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	web := r.overHTTP()
	o, _ := told()
	c := r.connected(o, web())
	if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "bough://status"}); err != nil {
		t.Fatal(err)
	}
	r.server.Close()
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "status"}); err == nil {
		t.Error("a closed server answers")
	}
	if _, err := sdk.NewClient(&sdk.Implementation{Name: "late"}, nil).Connect(t.Context(), web(), nil); err == nil {
		t.Error("a closed server accepts a client")
	}
}

// TestManyNotes: what the workspace notes during a call is in its result.
func TestManyNotes(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	c := r.connect(nil)
	if err := os.WriteFile(r.w.Dir()+"/conversations/session_20260101_000000_deadbeef.json", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_sessions"})
	if err != nil || res.IsError {
		t.Fatal(err, res)
	}
	if text := textOf(res); !strings.Contains(text, "\nNote: ") || !strings.Contains(text, "deadbeef") {
		t.Errorf("no note of the damaged file: %s", text)
	}
}

// TestManyClients: clients of one server call tools at the same time.
func TestManyClients(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil)
	web := r.overHTTP()
	done := make(chan bool)
	for i := range 4 {
		over := r.pipe
		if i%2 == 1 {
			over = web
		}
		c := r.connected(nil, over())
		go func() {
			defer func() { done <- true }()
			for n := range 5 {
				res, err := c.CallTool(context.Background(), &sdk.CallToolParams{Name: "append_message", Arguments: args{"session_id": r.first, "text": fmt.Sprintf("%d.%d", i, n)}})
				if err != nil || res.IsError {
					t.Errorf("client %d: %v %v", i, err, res)
				}
			}
		}()
	}
	for range 4 {
		<-done
	}
	data, err := json.Marshal(r.connect(nil).call("conversation_tree", args{"session_id": r.first}).Value())
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for _, run := range gjson.GetBytes(data, "nodes").Array() {
		n += run.Get("message_count").Int()
	}
	if n != 24 {
		t.Errorf("the conversation has %d messages, want 24", n)
	}
}

// TestLastUnsubscribes: a subscription that begins while the last other one ends is served.
func TestLastUnsubscribes(t *testing.T) {
	r := newRoom(t, nil)
	r.speaks = established
	sessions := make(chan *sdk.ServerSession, 1)
	updated := make(chan string, 10)
	r.server.OnUpdated(func(uri string) { updated <- uri })
	r.server.Watch(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "resources/subscribe" {
				sessions <- req.GetSession().(*sdk.ServerSession)
			}
			return next(ctx, method, req)
		}
	})
	c := r.connect(nil)
	if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "bough://status"}); err != nil {
		t.Fatal(err)
	}
	err := r.server.SubscribeDuring(<-sessions, func() {
		if err := c.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: "bough://status"}); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.w.New(t.Context(), "New"); err != nil {
		t.Fatal(err)
	}
	select {
	case uri := <-updated:
		if uri != "bough://sessions" {
			t.Errorf("%s was updated", uri)
		}
	case <-time.After(20 * time.Second):
		t.Error("the change of the sessions is not noticed")
	}
}
