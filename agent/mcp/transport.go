package mcp

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/bough-dev/bough/internal/bounded"
	"github.com/bough-dev/bough/internal/child"
)

// messages returns the standard output of a server without the lines that are not
// messages, such as greetings and logs. These are treated as standard error.
func messages(p *child.Process) io.ReadCloser {
	return &filter{ReadCloser: p.Stdout, note: p.Note}
}

// A filter drops lines that do not begin with "{".
type filter struct {
	io.ReadCloser
	note func([]byte)
	in   place
}

// A place is the state of a filter.
type place int

const (
	atStart place = iota // at the start of a line
	inMessage
	inNoise
)

func (f *filter) Read(b []byte) (int, error) {
	for {
		n, err := f.ReadCloser.Read(b)
		if n = f.keep(b[:n]); n > 0 || err != nil || len(b) == 0 {
			return n, err
		}
	}
}

// keep moves the bytes to keep to the front of b and returns their number.
func (f *filter) keep(b []byte) int {
	kept := 0
	for len(b[kept:]) > 0 {
		rest := b[kept:]
		if f.in == atStart {
			rest = bytes.TrimLeft(rest, " \t\r\n")
			b = append(b[:kept], rest...)
			if len(rest) == 0 {
				break
			}
			rest = b[kept:]
			f.in = inNoise
			if rest[0] == '{' {
				f.in = inMessage
			}
		}
		end, last := len(rest), f.in
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			end, f.in = i+1, atStart
		}
		if last == inMessage {
			kept += end
			continue
		}
		f.note(rest[:end])
		b = append(b[:kept], rest[end:]...)
	}
	return kept
}

// httpClient returns the client for a server, which sends the configured headers
// only to that server, and receives at most limit bytes of an answer.
func httpClient(s *Server, limit int) *http.Client {
	u, err := url.Parse(s.URL)
	if err != nil {
		panic("mcp: unexpected URL") // expand has parsed it
	}
	return &http.Client{Transport: &headers{to: u, headers: s.Headers, limit: int64(limit)}}
}

// headers is a transport that adds headers, and limits the size of answers.
type headers struct {
	to      *url.URL
	headers map[string]string
	limit   int64 // of an answer that is not a stream of events
}

func (h *headers) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == h.to.Scheme && r.URL.Host == h.to.Host {
		r = r.Clone(r.Context())
		for k, v := range h.headers {
			r.Header.Set(k, v)
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{&bounded.Reader{R: resp.Body, Limit: h.limit, Verb: "the answer has"}, resp.Body}
	}
	return resp, nil
}
