package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"

	"github.com/tidwall/gjson"
)

// Refusal returns the error for a response with an error status.
func (a *API) Refusal(status int, said []byte, model string) error {
	kind, why := a.reason(said)
	tail := ""
	if why != "" {
		tail = ": " + why
	}
	if err := a.tooLong(kind, said, why, model); err != nil {
		return err
	}
	switch status {
	case http.StatusUnauthorized: // the response may quote a part of the key
		if a.Key == "" {
			return fmt.Errorf("%s requires a key (401): set the variable %s", a.who(), a.KeyVar)
		}
		return fmt.Errorf("%s rejects the key (401): check the variable %s", a.who(), a.KeyVar)
	case http.StatusForbidden:
		return fmt.Errorf("%s denies the request with this key (403)%s", a.who(), tail)
	case http.StatusNotFound:
		if !json.Valid(said) || kind == "" && why == "" {
			return fmt.Errorf("%s has no endpoint at %s (404): is the base URL right?", a.who(), a.Base.EscapedPath())
		}
		return fmt.Errorf("%s has no model %q (404)%s", a.who(), model, tail)
	case http.StatusRequestEntityTooLarge:
		return fmt.Errorf("the conversation is larger than %s accepts (413)%s", a.who(), tail)
	case http.StatusTooManyRequests:
		return fmt.Errorf("%s accepts no more requests for now (429)%s", a.who(), tail)
	}
	if status >= 500 {
		return fmt.Errorf("%s failed (%d)%s", a.who(), status, tail)
	}
	return fmt.Errorf("%s rejects the request (%d)%s", a.who(), status, tail)
}

// Broken returns the error for a stream without an end. err is the error of
// reading it; event is the error that the provider sent in it, nil if there is
// none.
func (a *API) Broken(ctx context.Context, err error, event []byte, model string) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case ctx.Err() != nil:
		return a.clean(context.Cause(ctx))
	case event != nil:
		kind, why := a.reason(event)
		if err := a.tooLong(kind, event, why, model); err != nil {
			return err
		}
		if why == "" {
			why = kind
		}
		return fmt.Errorf("%s broke off its reply: %s", a.who(), why)
	case err == nil:
		return fmt.Errorf("%s broke off its reply before the end of the message", a.who())
	case errors.As(err, &syntax), errors.As(err, &kind):
		return a.clean(fmt.Errorf("%s sent an invalid part of a reply: %w", a.who(), err))
	}
	return a.clean(fmt.Errorf("%s broke off its reply: %w", a.who(), err))
}

// Nonsense returns the error for an invalid unstreamed reply.
func (a *API) Nonsense(err error) error {
	return a.clean(fmt.Errorf("%s sent an invalid reply: %w", a.who(), err))
}

// TokenLimit returns the error for a reply that reached a token limit, 0 if the limit
// is unknown.
func TokenLimit(model string, limit int64) error {
	if limit > 0 {
		return fmt.Errorf("%s stopped at its limit of %d tokens, before the end of its message", model, limit)
	}
	return fmt.Errorf("%s stopped at its limit of tokens, before the end of its message", model)
}

// reason returns the type and message in an error response of any server, on one
// line.
func (a *API) reason(said []byte) (kind, why string) {
	if !json.Valid(said) {
		return "", a.line(string(said))
	}
	at := gjson.ParseBytes(said)
	e := at.Get("error")
	if !e.IsObject() {
		if e.Type == gjson.String {
			return "", a.line(e.String())
		}
		e = at
	}
	for _, name := range []string{"code", "type"} {
		if v := e.Get(name); v.Type == gjson.String && v.String() != "error" && v.String() != "" {
			kind = a.line(v.String())
			break
		}
	}
	for _, name := range []string{"message", "detail", "msg"} {
		if v := e.Get(name); v.Type == gjson.String {
			return kind, a.line(v.String())
		}
	}
	return kind, ""
}

// tooLongSaid are the messages of servers for a conversation that is too long,
// with the numbers of tokens. They are compiled on demand, because they are
// rarely needed.
var tooLongSaid = []string{
	// Anthropic: prompt is too long: 201234 tokens > 200000 maximum
	`prompt is too long: (?P<have>\d+) tokens? > (?P<most>\d+)`,
	// Anthropic: input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000
	`exceed context limit: (?P<have>\d+) \+ (?P<more>\d+) > (?P<most>\d+)`,
	// OpenAI, vLLM, OpenRouter: maximum context length is 8192 tokens. However, your
	// messages resulted in 9001 tokens, you requested (about) 9001 tokens
	`maximum context length is (?P<most>\d+) tokens.*?(?:resulted in|requested(?: about)?) (?P<have>\d+) tokens`,
	// vLLM: maximum context length is 4096 tokens and your request has 5000 input tokens
	`maximum context length is (?P<most>\d+) tokens.*?(?:request has|contains at least) (?P<have>\d+)`,
	// vLLM: You passed 5000 input tokens and requested 100 output tokens. However, the
	// model's context length is only 4096 tokens
	`passed (?P<have>\d+) input tokens(?: and requested (?P<more>\d+) output tokens)?.*?context length is only (?P<most>\d+)`,
	// vLLM: prompt (length 5000) is longer than the maximum model length of 4096
	`length (?P<have>\d+)\) is longer than the maximum model length of (?P<most>\d+)`,
	// llama.cpp: request (5000 tokens) exceeds the available context size (4096 tokens)
	`\((?P<have>\d+) tokens\) exceeds the available context size \((?P<most>\d+) tokens\)`,
	// Gemini: input token count (5000) exceeds the maximum number of tokens allowed (4096)
	`token count \(?(?P<have>\d+)\)? exceeds the maximum number of tokens allowed \(?(?P<most>\d+)`,
	// LM Studio: keep the first 5000 tokens ... context length of only 4096 tokens
	`first (?P<have>\d+) tokens.*?context length of only (?P<most>\d+) tokens`,
}

// tooLong returns the error for a conversation that is too long for a model, nil
// for any other response.
func (a *API) tooLong(kind string, said []byte, why, model string) error {
	e := gjson.GetBytes(said, "error")
	have, most := e.Get("n_prompt_tokens").Int(), e.Get("n_ctx").Int() // of llama.cpp
	if kind != "exceed_context_size_error" && e.Get("type").String() != "exceed_context_size_error" {
		have, most = 0, 0
	}
	for _, pattern := range tooLongSaid {
		r := regexp.MustCompile(pattern)
		found := r.FindStringSubmatch(why)
		if most > 0 || found == nil {
			continue
		}
		number := func(name string) int64 {
			i := r.SubexpIndex(name)
			if i < 0 {
				return 0
			}
			n, _ := strconv.ParseInt(found[i], 10, 64)
			return n
		}
		have, most = number("have")+number("more"), number("most")
	}
	switch {
	case most > 0 && have > most:
		return fmt.Errorf("the conversation is %d tokens too long for %s (%d of at most %d)", have-most, model, have, most)
	case most > 0 || kind == "context_length_exceeded" || kind == "exceed_context_size_error":
		return fmt.Errorf("the conversation is too long for %s: %s", model, why)
	}
	return nil
}
