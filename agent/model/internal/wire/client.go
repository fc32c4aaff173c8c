package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bough-dev/bough/workspace/fault"
	"github.com/hashicorp/go-retryablehttp"
)

// An API is the API of a provider, or of a compatible server.
type API struct {
	Name   string   // name of the provider
	KeyVar string   // the variable that has its key
	Key    string   // "" for none
	Base   *url.URL // ends in a slash
	Hosted bool     // it is the provider itself

	transport http.RoundTripper
}

// NewAPI returns the API at base, the provider's own if base is "". It returns an
// error if the address or the key is invalid. If the key is, or is missing, the error has the
// code [fault.Refused].
func NewAPI(name, keyVar, key, base, own string) (*API, error) {
	a := &API{Name: name, KeyVar: keyVar, Key: strings.TrimSpace(key)}
	if base = strings.TrimSpace(base); base == "" {
		base = own
	}
	var err error
	a.Base, err = url.Parse(base)
	if err != nil || a.Base.Scheme != "http" && a.Base.Scheme != "https" || a.Base.Host == "" {
		return nil, fmt.Errorf("the base URL for %s is not an http or https address, like %s", name, own) // it may hold a password
	}
	if !strings.HasSuffix(a.Base.Path, "/") {
		a.Base.Path += "/"
	}
	first, _ := url.Parse(own)
	a.Hosted = a.Base.Host == first.Host
	if a.Hosted && a.Key == "" {
		return nil, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("no key for %s: set the variable %s", name, keyVar)}
	}
	if strings.ContainsFunc(a.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the key for %s has invalid characters: check the variable %s", name, keyVar)}
	}
	a.transport = http.DefaultTransport
	if t, ok := a.transport.(*http.Transport); ok {
		a.transport = t.Clone()
	}
	return a, nil
}

// who returns the name of the API in errors.
func (a *API) who() string {
	if a.Hosted {
		return a.Name
	}
	return "the server at " + a.Base.Host
}

// Limits are the limits for a reply.
type Limits struct {
	First time.Duration // until the first part of the response
	Next  time.Duration // until each further part
	Bytes int64         // of a response
}

const (
	firstWait = 10 * time.Minute
	nextWait  = 5 * time.Minute
	maxBytes  = 64 << 20

	minDelay      = 500 * time.Millisecond // before the first retry
	maxDelay      = 8 * time.Second
	maxRetryAfter = 2 * time.Minute // that a server may ask for
)

func (l Limits) withDefaults() Limits {
	if l.First <= 0 {
		l.First = firstWait
	}
	if l.Next <= 0 {
		l.Next = nextWait
	}
	if l.Bytes <= 0 {
		l.Bytes = maxBytes
	}
	return l
}

// post sends a request, and repeats it as often as retries allows. The
// response's body has the time limits of l. When a limit is reached, cancel is
// called with the reason, which ends all further attempts. post follows no
// redirects, which would send the key elsewhere.
func (a *API) post(ctx context.Context, cancel context.CancelCauseFunc, l Limits, retries int, path string, header http.Header, body []byte) (*http.Response, error) {
	at, err := a.Base.Parse(path)
	if err != nil {
		return nil, err
	}
	r, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, at.String(), body)
	if err != nil {
		return nil, err
	}
	r.Header = header
	client := &retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport:     &patience{a, l, cancel},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryWaitMin: minDelay,
		RetryWaitMax: maxDelay,
		RetryMax:     retries,
		CheckRetry:   mayRetry,
		Backoff:      delay,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	return client.Do(r)
}

// mayRetry reports whether a request may be repeated after a response or an
// error.
func mayRetry(ctx context.Context, res *http.Response, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, nil
	}
	if err != nil {
		return retryablehttp.DefaultRetryPolicy(ctx, nil, err)
	}
	if wait, ok := retryAfter(res.Header); ok && wait > maxRetryAfter {
		return false, nil
	}
	switch res.Header.Get("X-Should-Retry") {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	switch res.StatusCode {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true, nil
	}
	return res.StatusCode >= http.StatusInternalServerError, nil
}

// delay returns how long to wait before the next attempt: as long as the server
// says, else exponentially longer, less up to a quarter at random.
func delay(low, high time.Duration, attempt int, res *http.Response) time.Duration {
	if res != nil {
		if wait, ok := retryAfter(res.Header); ok {
			return max(wait, 0)
		}
	}
	wait := retryablehttp.DefaultBackoff(low, high, attempt, nil)
	return wait - rand.N(wait/4)
}

// retryAfter returns the delay in the header Retry-After, and reports whether
// there is one.
func retryAfter(h http.Header) (time.Duration, bool) {
	for _, v := range []struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		s := h.Get(v.name)
		if n, err := strconv.ParseFloat(s, 64); err == nil {
			return time.Duration(min(n*float64(v.unit), float64(math.MaxInt64/2))), true
		}
		if t, err := http.ParseTime(s); err == nil {
			return time.Until(t), true
		}
	}
	return 0, false
}

// A patience is a transport with time limits.
type patience struct {
	*API
	Limits
	cancel context.CancelCauseFunc
}

func (p *patience) RoundTrip(r *http.Request) (*http.Response, error) {
	timer := time.AfterFunc(p.First, func() {
		p.cancel(fmt.Errorf("%s did not respond for %v", p.who(), p.First))
	})
	res, err := p.transport.RoundTrip(r)
	if err != nil {
		timer.Stop()
		return nil, err
	}
	res.Body = &body{ReadCloser: res.Body, p: p, timer: timer, left: p.Bytes}
	return res, nil
}

// A body is the body of a response, with a time limit for each part.
type body struct {
	io.ReadCloser
	p     *patience
	timer *time.Timer // runs until the first part; then nil
	left  int64
}

func (b *body) Read(data []byte) (int, error) {
	if b.timer == nil {
		b.timer = time.AfterFunc(b.p.Next, func() {
			b.p.cancel(fmt.Errorf("%s broke off its reply: no data for %v", b.p.who(), b.p.Next))
		})
	}
	n, err := b.ReadCloser.Read(data)
	if n > 0 || err != nil {
		b.timer.Stop()
		b.timer = nil
	}
	if b.left -= int64(n); b.left < 0 {
		err := fmt.Errorf("the reply of %s is larger than %d bytes", b.p.who(), b.p.Bytes)
		b.p.cancel(err)
		return 0, err
	}
	return n, err
}

func (b *body) Close() error {
	if b.timer != nil {
		b.timer.Stop()
	}
	return b.ReadCloser.Close()
}

// media returns the media type of a response with a reply, and an error for any other
// response; model is the requested model. err is the error of [API.post].
func (a *API) media(ctx context.Context, res *http.Response, err error, model string) (string, error) {
	switch {
	case ctx.Err() != nil:
		return "", a.clean(context.Cause(ctx))
	case res == nil || err != nil && res.StatusCode < 300:
		return "", a.unreachable(err)
	case res.StatusCode >= 400:
		said, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
		return "", a.Refusal(res.StatusCode, said, model)
	case res.StatusCode >= 300:
		to := "elsewhere"
		if at, err := res.Location(); err == nil && at.Host != "" {
			to = "to " + at.Host
		}
		return "", fmt.Errorf("%s redirects %s, where the key is not sent: correct the base URL", a.who(), Line(to, 200, false))
	}
	media, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	media = strings.ToLower(strings.TrimSpace(media))
	if media == "text/html" {
		return "", fmt.Errorf("%s answers with a web page: is the base URL right?", a.who())
	}
	return media, nil
}

// unreachable returns the error for a request without a response.
func (a *API) unreachable(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err // without the address, which may hold a password
	}
	if err == nil {
		err = errors.New("there is no answer")
	}
	return a.clean(fmt.Errorf("%s cannot be reached at %s: %w", a.Name, a.Base.Host, err))
}

// clean returns err without the key, on one line.
func (a *API) clean(err error) error {
	s := err.Error()
	if line := a.line(s); line != s {
		return errors.New(line)
	}
	return err
}

const maxQuote = 600 // limit for quoted text of others, in bytes

// line formats text of another program for an error.
func (a *API) line(s string) string {
	if a.Key != "" {
		s = strings.ReplaceAll(s, a.Key, "(the key)")
	}
	return Line(s, maxQuote, false)
}
