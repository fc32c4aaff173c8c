// Package testnetwork is a network for tests: it is between a client and a service over HTTP, and
// loses, delays and repeats requests.
package testnetwork

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// The faults of a request.
const (
	lostRequest = "lost request"
	lostAnswer  = "lost answer"
	late        = "late"     // the connection breaks, and the request arrives after later ones
	repeated    = "repeated" // the request arrives once more after later ones
	partAnswer  = "part of an answer"
)

var faults = []string{lostRequest, lostAnswer, late, repeated, partAnswer}

// A Network is between clients and a service. It is safe for concurrent use, and then its faults
// depend on the order of the requests.
type Network struct {
	// Address is the host and port where clients reach the service.
	Address string

	t       testing.TB
	service string

	mu       sync.Mutex
	random   *rand.Rand
	every    int // one in so many requests has a fault; 0 for none
	waiting  []*http.Request
	requests int
	did      map[string]int
}

// New returns a network before the service at a host and port, which ends with the test. It has no
// faults yet; they follow from the seed.
func New(t testing.TB, service string, seed uint64) *Network {
	n := &Network{t: t, service: service, random: rand.New(rand.NewPCG(seed, 1)), did: map[string]int{}}
	s := httptest.NewServer(n)
	t.Cleanup(s.Close)
	n.Address = strings.TrimPrefix(s.URL, "http://")
	return n
}

// Disturb has one in so many requests have a fault.
func (n *Network) Disturb(every int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.every = every
}

// Settle has the requests on the way arrive. Later requests have no faults.
func (n *Network) Settle() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.every = 0
	n.deliver(1)
}

// Requests returns the number of requests that clients sent.
func (n *Network) Requests() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.requests
}

// String lists how many requests had which fault.
func (n *Network) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return fmt.Sprint(n.requests, " requests, faults: ", n.did)
}

// deliver has one of so many waiting requests arrive.
func (n *Network) deliver(of int) {
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
func (n *Network) forward(r *http.Request) (*http.Response, []byte) {
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

// fault chooses the fault of a request, "" for none.
func (n *Network) fault(method string) string {
	if n.every == 0 || n.random.IntN(n.every) != 0 {
		return ""
	}
	fault := faults[n.random.IntN(len(faults))]
	if method != http.MethodPut && (fault == late || fault == repeated) {
		return ""
	}
	return fault
}

// ServeHTTP implements [http.Handler]. A request that did not arrive whole, because its client was
// killed, is dropped.
func (n *Network) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(in.Body)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.requests++
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	out, err := http.NewRequest(in.Method, "http://"+n.service+in.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		n.t.Error(err)
		return
	}
	out.Header, out.Host = in.Header.Clone(), in.Host // signed
	if n.every > 0 {
		n.deliver(4)
	}
	fault := n.fault(in.Method)
	if fault != "" {
		n.did[fault]++
	}
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
