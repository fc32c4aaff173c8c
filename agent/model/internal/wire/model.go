package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tmaxmax/go-sse"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/rawjson"
)

// Options configure a model. The packages of the providers document their fields.
type Options struct {
	Name      string
	BaseURL   string
	Key       string
	MaxTokens int64
	Retries   int
	First     time.Duration
	Next      time.Duration
}

const defaultRetries = 2

// A Provider is the part of a model that differs between providers.
type Provider struct {
	Name    string // "OpenAI"
	KeyVar  string // the variable that has its key
	BaseURL string // of the provider's own API
	Path    string // of requests, relative to the base URL
	Format  content.Format

	Header http.Header // additional headers of requests

	// Authorize adds the key, which is not "", to the header of a request.
	Authorize func(h http.Header, key string)

	// Body returns the request, which is encoded as JSON.
	Body func(r *Request) any

	// Decoder returns the decoder of the reply to a request.
	Decoder func(r *Request) Decoder
}

// A Request is a request in the provider's form.
type Request struct {
	Model     string
	MaxTokens int64 // 0 for no limit
	Hosted    bool  // the provider itself serves it
	Prompt    *Prompt
	Text      Text // of the reply
}

// A Decoder assembles a reply from the data that a provider sends.
type Decoder interface {
	// Event adds an event of a stream, which is valid JSON, and reports whether it is
	// the last one.
	Event(data []byte) (done bool)

	// Whole adds an unstreamed message, which is valid JSON. It reports whether it is
	// a message.
	Whole(data []byte) bool

	// End returns the calls of a complete reply. If the reply is incomplete, stopped
	// is false, and err may be the reason. Otherwise err is the error of an unusable
	// reply.
	End() (calls []model.Call, stopped bool, err error)
}

// A client is a [model.Model] behind the API of a provider.
type client struct {
	o        Options
	provider *Provider
	api      *API
}

// NewModel returns a model of a provider. It returns an error if the base URL is invalid, or
// the key is invalid or missing.
func NewModel(o Options, p *Provider) (model.Model, error) {
	api, err := NewAPI(p.Name, p.KeyVar, o.Key, o.BaseURL, p.BaseURL)
	if err != nil {
		return nil, err
	}
	o.Key = "" // it is in api, which is never printed
	if o.Retries == 0 {
		o.Retries = defaultRetries
	}
	return &client{o, p, api}, nil
}

// Ask implements [model.Model].
func (m *client) Ask(ctx context.Context, r *model.Request, stream func(text string)) (*model.Reply, error) {
	name := cmp.Or(m.o.Name, r.ModelID)
	if name == "" {
		return nil, fmt.Errorf("no model of %s was selected", m.api.Name)
	}
	prompt, err := Compose(r, m.provider.Format)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	q := m.request(name, prompt)
	q.Text.Stream = stream
	limits := Limits{First: m.o.First, Next: m.o.Next}.withDefaults()
	res, err := m.api.post(ctx, cancel, limits, max(m.o.Retries, 0), m.provider.Path, m.header(), rawjson.Compact(m.provider.Body(q)))
	if res != nil {
		defer res.Body.Close()
	}
	media, err := m.api.media(ctx, res, err, name)
	if err != nil {
		return nil, err
	}
	d := m.provider.Decoder(q)
	if media == "application/json" {
		err = m.whole(ctx, res.Body, name, d)
	} else {
		err = m.stream(ctx, res.Body, name, d)
	}
	if err != nil {
		return nil, err
	}
	return m.reply(ctx, q, d)
}

func (m *client) request(name string, p *Prompt) *Request {
	return &Request{Model: name, MaxTokens: max(m.o.MaxTokens, 0), Hosted: m.api.Hosted, Prompt: p}
}

func (m *client) header() http.Header {
	h := http.Header{}
	maps.Copy(h, m.provider.Header)
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "text/event-stream, application/json")
	h.Set("User-Agent", "bough")
	if m.api.Key != "" {
		m.provider.Authorize(h, m.api.Key)
	}
	return h
}

// stream decodes the events of a stream up to the last one: some servers keep the
// connection open after it.
func (m *client) stream(ctx context.Context, body io.Reader, name string, d Decoder) error {
	for e, err := range sse.Read(body, &sse.ReadConfig{MaxEventSize: maxBytes}) {
		if err != nil || ctx.Err() != nil {
			return m.api.Broken(ctx, err, nil, name)
		}
		data := []byte(e.Data)
		if strings.HasPrefix(e.Data, "[DONE]") {
			return nil
		}
		if e.Data == "" {
			continue
		}
		if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
			return m.api.Broken(ctx, err, nil, name)
		}
		if failure := gjson.GetBytes(data, "error"); e.Type == "error" || failure.Exists() && failure.Type != gjson.Null {
			return m.api.Broken(ctx, nil, data, name)
		}
		if d.Event(data) {
			return nil
		}
	}
	if ctx.Err() != nil {
		return m.api.Broken(ctx, nil, nil, name)
	}
	return nil
}

// whole decodes a message that is not streamed.
func (m *client) whole(ctx context.Context, body io.Reader, name string, d Decoder) error {
	data, err := io.ReadAll(body)
	if err != nil || ctx.Err() != nil {
		return m.api.Broken(ctx, err, nil, name)
	}
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
		return m.api.Nonsense(err)
	}
	if !d.Whole(data) {
		return m.api.Refusal(http.StatusOK, data, name)
	}
	return nil
}

// reply returns the reply that d has decoded.
func (m *client) reply(ctx context.Context, q *Request, d Decoder) (*model.Reply, error) {
	text := q.Text.End()
	made, stopped, err := d.End()
	switch {
	case !stopped:
		return nil, m.api.Broken(ctx, err, nil, q.Model)
	case err != nil:
		return nil, err
	}
	calls, err := q.Prompt.Calls(made)
	if err != nil {
		return nil, err
	}
	if len(calls) == 0 && strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf("%s returned an empty reply", q.Model)
	}
	return &model.Reply{Text: text, Calls: calls}, nil
}

// String returns the string at a path of a JSON value, "" if there is none.
func String(r gjson.Result, path string) string {
	if v := r.Get(path); v.Type == gjson.String {
		return v.Str
	}
	return ""
}
