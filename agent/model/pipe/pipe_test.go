package pipe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/agent"
)

// asCompanion is set in the environment of a test program that is to be a companion.
const asCompanion = "TEST_AS_COMPANION"

func TestMain(m *testing.M) {
	switch how := os.Getenv(asCompanion); how {
	case "":
		os.Exit(m.Run())
	case "serve":
		if err := Serve(context.Background(), os.Stdin, os.Stdout, wiring); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "die":
		fmt.Fprintln(os.Stderr, "no memory")
		os.Exit(7)
	case "hang":
		time.Sleep(time.Hour)
	default:
		fmt.Print(how)
		time.Sleep(time.Hour)
	}
}

var wiring = &Wiring{
	Version: "1.2.3",
	Model: func(name string) (agent.Model, error) {
		if strings.HasPrefix(name, "test:") {
			return testModel(strings.TrimPrefix(name, "test:")), nil
		}
		return nil, fmt.Errorf("there is no model %q", name)
	},
	Open: func(_ context.Context, config []byte) (Tools, error) {
		if len(config) == 0 {
			return nil, errors.New("there is no configuration")
		}
		return &testTools{string(config)}, nil
	},
}

// A testModel does what its name says.
type testModel string

func (m testModel) Ask(ctx context.Context, r *agent.Request, stream func(string)) (*agent.Reply, error) {
	switch m {
	case "whole":
		data, err := json.Marshal(r)
		return &agent.Reply{Text: string(data), Calls: []agent.Call{{ID: "1", Name: "a", Arguments: "{\xff"}}}, err
	case "pieces":
		for _, piece := range []string{"a", "", "<ü>", "\n"} {
			stream(piece)
		}
		return &agent.Reply{Text: "a<ü>\n"}, nil
	case "size":
		return &agent.Reply{Text: fmt.Sprint(len(r.Messages[0].Content))}, nil
	case "fails":
		stream("half")
		return nil, errors.New("out of tokens")
	case "waits":
		stream("waiting")
		<-ctx.Done()
		return nil, ctx.Err()
	case "sleeps":
		stream("sleeping")
		time.Sleep(time.Hour)
	case "dies":
		stream("half")
		fmt.Fprintln(os.Stderr, "panic: nil map")
		os.Exit(7)
	case "babbles":
		fmt.Println("hello")
		<-ctx.Done()
	}
	return &agent.Reply{}, nil
}

type testTools struct{ config string }

func (t *testTools) List(context.Context) ([]agent.Tool, error) {
	return []agent.Tool{
		{Name: "w", Description: t.config, Schema: json.RawMessage(`{"type":"object"}`), Writes: true},
		{Name: "r", Schema: json.RawMessage(`{}`)},
	}, nil
}

func (t *testTools) Call(ctx context.Context, c agent.Call) (agent.Result, error) {
	switch c.Name {
	case "waits":
		<-ctx.Done()
		return agent.Result{}, ctx.Err()
	case "no":
		return agent.Result{}, errors.New("there is no tool")
	}
	return agent.Result{Text: c.ID + c.Arguments, Failed: c.Name == "fails"}, nil
}

// Close says so, since nobody else is there any more.
func (t *testTools) Close() error {
	if file, ok := strings.CutPrefix(t.config, "note:"); ok {
		return os.WriteFile(file, []byte("closed"), 0o600)
	}
	return nil
}

func companion(how string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asCompanion+"="+how)
	return cmd
}

func start(t *testing.T, o Options) *Client {
	t.Helper()
	o.Version = wiring.Version
	c, err := Start(t.Context(), companion("serve"), &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func ask(ctx context.Context, t *testing.T, c *Client, name string, r *agent.Request, stream func(string)) (*agent.Reply, error) {
	t.Helper()
	m, err := c.Model(t.Context(), "test:"+name)
	if err != nil {
		t.Fatal(err)
	}
	if stream == nil {
		stream = func(string) {}
	}
	return m.Ask(ctx, r, stream)
}

// wrong makes sure that an error says all of these.
func wrong(t *testing.T, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("the error is %q, which does not say %q", err, s)
		}
	}
}

func TestModel(t *testing.T) {
	c := start(t, Options{})
	r := &agent.Request{
		Agent: "ada", ModelID: "m", System: "be <kind>",
		Messages: []agent.Message{
			{ID: "1", Role: "user", Content: json.RawMessage(`"NaN \" NaN"`), Metadata: json.RawMessage(`{"a":[NaN,-Infinity,Infinity],"NaN":"\ud83d"}`)},
			{ID: "2", Role: "assistant", Content: json.RawMessage(`12345678901234567890`)},
		},
		Tools: []agent.Tool{{Name: "t", Schema: json.RawMessage(`{}`)}},
	}
	got, err := ask(t.Context(), t, c, "whole", r, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"agent":"ada","model_id":"m","system":"be \u003ckind\u003e","messages":[` +
		`{"id":"1","role":"user","content":"NaN \" NaN","metadata":{"a":[null,null,null],"NaN":"\ud83d"}},` +
		`{"id":"2","role":"assistant","content":12345678901234567890,"metadata":null}],"tools":[{"name":"t","description":"","schema":{}}]}`
	if got.Text != want {
		t.Errorf("the model was asked\n%s\nwant\n%s", got.Text, want)
	}
	if calls := []agent.Call{{ID: "1", Name: "a", Arguments: "{\uFFFD"}}; !slices.Equal(got.Calls, calls) {
		t.Errorf("the calls are %q", got.Calls)
	}
	var pieces []string
	got, err = ask(t.Context(), t, c, "pieces", r, func(s string) { pieces = append(pieces, s) })
	if err != nil || got.Text != "a<ü>\n" || !slices.Equal(pieces, []string{"a", "<ü>", "\n"}) {
		t.Errorf("got %+v, %v after %q", got, err, pieces)
	}
	pieces = nil
	_, err = ask(t.Context(), t, c, "fails", r, func(s string) { pieces = append(pieces, s) })
	if err == nil || err.Error() != "out of tokens" || !slices.Equal(pieces, []string{"half"}) {
		t.Errorf("got %v after %q", err, pieces)
	}
	_, err = c.Model(t.Context(), "other")
	wrong(t, err, `there is no model "other"`)
	r.Messages[0].Content = json.RawMessage(`{"a":`)
	_, err = ask(t.Context(), t, c, "whole", r, nil)
	wrong(t, err, `the message "1" is no JSON`)
}

// A request may be as long as conversations get.
func TestLong(t *testing.T) {
	c := start(t, Options{})
	const size = 40 << 20
	content := json.RawMessage(`"` + strings.Repeat("x", size) + `"`)
	got, err := ask(t.Context(), t, c, "size", &agent.Request{Messages: []agent.Message{{Content: content}}}, nil)
	if err != nil || got.Text != fmt.Sprint(size+2) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTools(t *testing.T) {
	note := t.TempDir() + "/note"
	c := start(t, Options{})
	_, err := c.Tools(t.Context(), nil)
	wrong(t, err, "there is no configuration")
	one, err := c.Tools(t.Context(), []byte("one\xff"))
	if err != nil {
		t.Fatal(err)
	}
	two, err := c.Tools(t.Context(), []byte("note:"+note))
	if err != nil {
		t.Fatal(err)
	}
	list, err := one.List(t.Context())
	want := []agent.Tool{
		{Name: "w", Description: "one\uFFFD", Schema: json.RawMessage(`{"type":"object"}`), Writes: true},
		{Name: "r", Schema: json.RawMessage(`{}`)},
	}
	if err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("the tools are %+v, %v", list, err)
	}
	var working sync.WaitGroup
	for i := range 50 {
		working.Go(func() {
			id := fmt.Sprint(i)
			if r, err := two.Call(t.Context(), agent.Call{ID: id, Name: "fails", Arguments: "{}"}); err != nil || r != (agent.Result{Text: id + "{}", Failed: true}) {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
	working.Wait()
	_, err = one.Call(t.Context(), agent.Call{Name: "no"})
	wrong(t, err, "there is no tool")
	c.Close()
	if data, err := os.ReadFile(note); string(data) != "closed" {
		t.Errorf("the tools were not closed: %v", err)
	}
	_, err = two.List(t.Context())
	wrong(t, err, "bough-models is closed")
}

// Who does not wait any more has the request given up, and others go on.
func TestCancel(t *testing.T) {
	c := start(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := ask(ctx, t, c, "waits", &agent.Request{}, func(string) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if got, err := ask(t.Context(), t, c, "pieces", &agent.Request{}, nil); err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := ask(ctx, t, c, "pieces", &agent.Request{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// A companion that does not give up a request is killed.
func TestStubborn(t *testing.T) {
	c := start(t, Options{Grace: 50 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := ask(ctx, t, c, "sleeps", &agent.Request{}, func(string) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	<-c.gone
	_, err = c.Model(t.Context(), "test:pieces")
	wrong(t, err, "bough-models is gone", "did not give up a request within 50ms")
}

func TestDeath(t *testing.T) {
	c := start(t, Options{})
	var other sync.WaitGroup
	other.Go(func() {
		tools, err := c.Tools(t.Context(), []byte("x"))
		if err == nil {
			_, err = tools.Call(t.Context(), agent.Call{Name: "waits"})
		}
		wrong(t, err, "bough-models is gone")
	})
	var streamed string
	_, err := ask(t.Context(), t, c, "dies", &agent.Request{}, func(s string) { streamed += s })
	wrong(t, err, "bough-models is gone: it ended with exit status 7", `"panic: nil map"`)
	if streamed != "half" {
		t.Errorf("what came before is %q", streamed)
	}
	other.Wait()

	c = start(t, Options{})
	_, err = ask(t.Context(), t, c, "babbles", &agent.Request{}, nil)
	wrong(t, err, "it answered what is no answer")
}

func TestStartErrors(t *testing.T) {
	for _, c := range []struct {
		how  string
		says []string
	}{
		{"die", []string{"bough-models (", "cannot be used: it ended with exit status 7", `"no memory"`}},
		{"hang", []string{"it did not say who it is within 2s"}},
		{"Welcome to the shell\n", []string{`it is another program; it wrote "Welcome to the shell\n"`}},
		{`{"program":"other"}` + "\n", []string{"it is another program"}},
		{strings.Repeat("x", 100_000), []string{"it is another program"}},
		{`{"program":"bough-models","version":"0.0.9"}` + "\n", []string{`it is of version "0.0.9", and this is bough "1.2.3"`}},
	} {
		if runtime.GOOS == "windows" && len(c.how) > 30_000 {
			continue // the environment is not that long there
		}
		_, err := Start(t.Context(), companion(c.how), &Options{Version: "1.2.3", StartTime: 2 * time.Second, Grace: 10 * time.Millisecond})
		wrong(t, err, c.says...)
	}
	_, err := Start(t.Context(), exec.Command(t.TempDir()+"/none"), nil)
	wrong(t, err, "bough-models cannot be started")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := Start(ctx, companion("hang"), &Options{Grace: 10 * time.Millisecond}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }

func TestServeEnds(t *testing.T) {
	wait, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer wait.Close()
	defer end.Close()
	if err := Serve(t.Context(), wait, broken{}, wiring); err == nil || err.Error() != "nobody reads" {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Serve(ctx, wait, &bytes.Buffer{}, wiring); err != nil {
		t.Error(err)
	}
}

// FuzzServe: whatever lines come, each but those that cancel has one last answer, and every
// line of the companion is one that the client reads.
func FuzzServe(f *testing.F) {
	f.Add(`{"id":1,"do":"ask","model":"test:pieces","request":{}}` + "\n" + `{"id":1,"do":"cancel"}` + "\n")
	f.Add(`{"id":3,"do":"open","config":"YQ=="}` + "\n" + `{"id":4,"do":"list","tools":3}` + "\n" + `{"id":5,"do":"call","tools":3,"call":{"id":"x","name":"fails","arguments":"\ud800"}}` + "\n")
	f.Add(`{"id":1,"do":"ask","model":"test:waits","request":{}}` + "\n" + `{"id":1,"do":"model","model":"x"}` + "\n{}\n[]\n\n\x00\n{\"id\":-1}\n{\"id\":9,\"do\":\"x\"}\ntorn")
	f.Add(`{"id":2,"do":"ask","model":"test:whole"}` + "\n" + `{"id":3,"do":"call","tools":9}` + "\n")
	f.Fuzz(func(t *testing.T, in string) {
		for _, dangerous := range []string{"sleeps", "dies", "babbles", "note", "\\", "bm90"} {
			if strings.Contains(in, dangerous) {
				return // what it asks for does more than answer
			}
		}
		var out bytes.Buffer
		if err := Serve(t.Context(), strings.NewReader(in), &out, wiring); err != nil {
			t.Fatal(err)
		}
		want := 0
		for line := range strings.Lines(in) {
			var r request
			if strings.HasSuffix(line, "\n") && (json.Unmarshal([]byte(line), &r) != nil || r.Do != doCancel) {
				want++
			}
		}
		lines := strings.SplitAfter(out.String(), "\n")
		var h hello
		if err := json.Unmarshal([]byte(lines[0]), &h); err != nil || h != (hello{Program, "1.2.3"}) {
			t.Fatalf("it begins with %q", lines[0])
		}
		done := 0
		for _, line := range lines[1 : len(lines)-1] {
			var a answer
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if a.Done {
				done++
			}
		}
		if done != want || lines[len(lines)-1] != "" {
			t.Errorf("%d answers to %d requests:\n%s", done, want, &out)
		}
	})
}

// FuzzWithoutNaN: a value that JSON has stays, and so do texts.
func FuzzWithoutNaN(f *testing.F) {
	f.Add(`{"NaN": ["Infinity\"", "\\", -1]}`)
	f.Fuzz(func(t *testing.T, value string) {
		if json.Valid([]byte(value)) && string(withoutNaN([]byte(value))) != value {
			t.Errorf("got %q", withoutNaN([]byte(value)))
		}
	})
}
