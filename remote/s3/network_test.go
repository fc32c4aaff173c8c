package s3

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/minio/minio-go/v7"
)

func putOptions() minio.PutObjectOptions { return minio.PutObjectOptions{DisableContentSha256: true} }

// What a network does with a request.
const (
	requested   = "requested" // all requests that arrived
	lostRequest = "lost request"
	lostAnswer  = "lost answer"
	late        = "late"     // the connection breaks, and the request arrives after later ones
	repeated    = "repeated" // the request arrives once more after later ones
	partAnswer  = "part of an answer"
)

// A network is between a client and a service. It loses, delays and repeats requests.
type network struct {
	t       *testing.T
	service string
	address string

	mu      sync.Mutex
	random  *rand.Rand // nil: no faults
	waiting []*http.Request
	did     map[string]int
}

func newNetwork(t *testing.T, service string, seed uint64) *network {
	n := &network{t: t, service: service, random: rand.New(rand.NewPCG(seed, 1)), did: map[string]int{}}
	s := httptest.NewServer(n)
	t.Cleanup(s.Close)
	n.address = strings.TrimPrefix(s.URL, "http://")
	return n
}

// settle has the waiting requests arrive, and ends the faults.
func (n *network) settle() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.random = nil
	n.deliver(1)
}

// deliver has one of so many waiting requests arrive.
func (n *network) deliver(of int) {
	var rest []*http.Request
	for _, r := range n.waiting {
		if of > 1 && n.random.IntN(of) != 0 {
			rest = append(rest, r)
			continue
		}
		n.forward(r)
	}
	n.waiting = rest
}

// forward sends a request to the service, any number of times.
func (n *network) forward(r *http.Request) (*http.Response, []byte) {
	body, err := r.GetBody()
	if err != nil {
		n.t.Error(err)
		return nil, nil
	}
	r.Body = body
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		n.t.Error(err)
		return nil, nil
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		n.t.Error(err)
	}
	return response, data
}

func (n *network) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.did[requested]++
	body, err := io.ReadAll(in.Body)
	if err != nil {
		n.t.Error(err)
	}
	out, err := http.NewRequest(in.Method, "http://"+n.service+in.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		n.t.Error(err)
		return
	}
	out.Header, out.Host = in.Header.Clone(), in.Host // signed
	fault := ""
	if n.random != nil {
		n.deliver(4)
		fault = []string{lostRequest, lostAnswer, late, repeated, partAnswer}[n.random.IntN(5)]
		if n.random.IntN(3) != 0 || in.Method != http.MethodPut && (fault == late || fault == repeated) {
			fault = ""
		}
	}
	n.did[fault]++
	switch fault {
	case lostRequest:
		panic(http.ErrAbortHandler)
	case late:
		n.waiting = append(n.waiting, out)
		panic(http.ErrAbortHandler)
	case repeated:
		n.waiting = append(n.waiting, out)
	}
	response, data := n.forward(out)
	if response == nil || fault == lostAnswer {
		panic(http.ErrAbortHandler)
	}
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	if fault == partAnswer && len(data) > 1 {
		w.Write(data[:len(data)/2])
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	w.Write(data)
}
