package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"
)

// A lineReader passes the lines of a client that are JSON-RPC messages. Any other
// line is answered with an error, and the next one is read: the SDK would end the
// connection. The end of the input is passed on when all requests are answered,
// as for input from a file.
type lineReader struct {
	io.Closer
	in   *bufio.Reader
	max  int // bytes of a line
	to   *lineWriter
	rest []byte // of the current message, not yet read
}

func newLineReader(in io.ReadCloser, max int, to *lineWriter) *lineReader {
	return &lineReader{Closer: in, in: bufio.NewReaderSize(in, 64<<10), max: max, to: to}
}

func (r *lineReader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		line, err := r.line()
		if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
			r.to.settle()
			return 0, err
		}
		r.rest = r.messages(bytes.TrimSpace(line))
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// line returns the next line. It skips and rejects lines that are too long.
func (r *lineReader) line() (line []byte, err error) {
	size := 0
	for {
		part, err := r.in.ReadSlice('\n')
		if size += len(part); size <= r.max {
			line = append(line, part...)
		} else {
			line = nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if size > r.max {
			r.to.reject(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message has %d bytes; at most %d are accepted", size, r.max))
			if err == nil {
				size = 0
				continue
			}
		}
		return line, err
	}
}

// messages returns the messages of a line, each on a line of its own. A line
// with an array is a batch, which clients of the protocol of March 2025 may
// send.
func (r *lineReader) messages(line []byte) []byte {
	var batch []json.RawMessage
	switch {
	case len(line) == 0:
		return nil
	case !json.Valid(line):
		r.to.reject(jsonrpc.CodeParseError, "the line is not valid JSON")
		return nil
	case line[0] != '[':
		batch = []json.RawMessage{line}
	default:
		if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
			r.to.reject(jsonrpc.CodeInvalidRequest, "the batch is empty")
			return nil
		}
	}
	var out []byte
	for _, m := range batch {
		message, err := jsonrpc.DecodeMessage(m)
		if err != nil {
			r.to.reject(jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC message: "+err.Error())
			continue
		}
		r.to.received(message)
		out = append(append(out, m...), '\n')
	}
	return out
}

// A lineWriter writes the messages of the SDK and of a lineReader, and knows which
// requests are not answered.
type lineWriter struct {
	mu       sync.Mutex
	w        io.WriteCloser
	open     map[string]bool // requests of the client without an answer, by id
	asked    map[string]bool // requests to the client without an answer, by id
	answered chan struct{}   // gets an element after an answer
}

func newLineWriter(w io.WriteCloser) *lineWriter {
	return &lineWriter{w: w, open: map[string]bool{}, asked: map[string]bool{}, answered: make(chan struct{}, 1)}
}

func (l *lineWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.w.Write(b)
	id := gjson.GetBytes(b, "id")
	switch {
	case !id.Exists():
	case gjson.GetBytes(b, "method").Exists():
		l.asked[id.String()] = true
	default:
		delete(l.open, id.String())
		select {
		case l.answered <- struct{}{}:
		default:
		}
	}
	return n, err
}

func (l *lineWriter) Close() error { return l.w.Close() }

// received records a message of the client. A request that lasts as long as the
// connection is not waited for.
func (l *lineWriter) received(m jsonrpc.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch m := m.(type) {
	case *jsonrpc.Request:
		if m.IsCall() && m.Method != "subscriptions/listen" {
			l.open[fmt.Sprint(m.ID.Raw())] = true
		}
	case *jsonrpc.Response:
		delete(l.asked, fmt.Sprint(m.ID.Raw()))
	}
}

// settle waits until all requests of the client are answered, for a limited
// time. It does not wait if an answer needs one of the client.
func (l *lineWriter) settle() {
	late := time.After(settleTime)
	for {
		l.mu.Lock()
		done := len(l.open) == 0 || len(l.asked) > 0
		l.mu.Unlock()
		if done {
			return
		}
		select {
		case <-l.answered:
		case <-late:
			return
		}
	}
}

// settleTime is how long a client that ended is answered.
const settleTime = 5 * time.Second

// reject answers a line without an id with an error. A write error is returned
// by the next write of the SDK too.
func (l *lineWriter) reject(code int64, message string) {
	type failure struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}
	line, err := json.Marshal(struct {
		JSONRPC string  `json:"jsonrpc"`
		ID      *int    `json:"id"`
		Error   failure `json:"error"`
	}{"2.0", nil, failure{code, message}})
	if err != nil {
		panic("mcp: " + err.Error()) // strings and numbers can be encoded
	}
	l.Write(append(line, '\n'))
}
