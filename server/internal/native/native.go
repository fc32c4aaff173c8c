// Package native is bough's own HTTP API: a path below /v1 for each verb of package api, with
// the documents of that package as answers, and failures as the command prints them with
// --json.
package native

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/server/internal/eventstream"
	"github.com/bough-dev/bough/server/internal/exchange"
)

const prefix = "/v1/"

// Description is the path of the OpenAPI document.
const Description = prefix + "openapi.json"

// Owns reports whether a request is one of the API.
func Owns(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, prefix) }

// Options configure the API.
type Options struct {
	Env    api.Env
	Events *eventstream.Source
	Body   exchange.Limits
	// Request is how long a client may take to send the arguments of a verb that may take
	// long, which has no other time limit.
	Request time.Duration
}

// An Endpoint is a method and a path with its handler.
type Endpoint struct {
	Pattern string // of http.ServeMux
	Open    bool   // does not require the token
	Long    bool   // has no time limit
	Stream  bool   // sends until the client disconnects
	// Serve handles a request. If it returns an error, it has sent nothing, and
	// WriteFailure sends the failure.
	Serve func(http.ResponseWriter, *http.Request) error
}

// Endpoints returns the endpoints of the API.
func Endpoints(o *Options) []Endpoint {
	description := sync.OnceValue(Describe)
	list := []Endpoint{
		{Pattern: "GET " + Description, Open: true, Serve: func(w http.ResponseWriter, _ *http.Request) error {
			exchange.Send(w, http.StatusOK, exchange.Pieces{description()})
			return nil
		}},
		{Pattern: "GET " + prefix + "events", Stream: true, Serve: o.Events.Serve},
		{Pattern: "GET " + contentPath, Serve: o.content},
	}
	for _, v := range api.Verbs() {
		list = append(list, Endpoint{Pattern: "POST " + prefix + v.Name, Long: v.Long(), Serve: o.post(v)})
		if hasGet(v) {
			list = append(list, Endpoint{Pattern: "GET " + prefix + v.Name, Serve: o.get(v)})
		}
	}
	return list
}

// hasGet reports whether GET calls a verb too, with the arguments in the query: not if it makes
// requests, as browsers and proxies may repeat GET.
func hasGet(v *api.Verb) bool { return v.Effect == api.Reads && v.IsFlat() && !v.Remote }

// post returns the handler of a verb with its arguments in the body.
func (o *Options) post(v *api.Verb) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		rc := http.NewResponseController(w)
		if v.Long() { // only the verb may take long, not the request
			rc.SetReadDeadline(time.Now().Add(o.Request))
		}
		var in json.RawMessage
		if err := o.Body.Decode(w, r, &in); err != nil {
			return err
		}
		if v.Long() {
			rc.SetReadDeadline(time.Time{})
		}
		if wantsProgress(v, r) {
			o.callWithProgress(w, r, v, in)
			return nil
		}
		return o.call(w, r, v, in)
	}
}

// get returns the handler of a verb with its arguments in the query.
func (o *Options) get(v *api.Verb) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		q, err := exchange.Query(r)
		if err != nil {
			return err
		}
		in, err := v.Parse(q)
		if err != nil {
			return err
		}
		return o.call(w, r, v, in)
	}
}

// call calls a verb and sends its result.
func (o *Options) call(w http.ResponseWriter, r *http.Request, v *api.Verb, in json.RawMessage) error {
	out, err := v.Call(r.Context(), o.Env, in)
	if err != nil {
		return err
	}
	exchange.Send(w, http.StatusOK, exchange.Pieces{api.Encode(out)})
	return nil
}
