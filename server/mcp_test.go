package server_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/server/mcp"
	"github.com/bough-dev/bough/workspace"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// withToken adds the token to the requests of a client.
type withToken struct{}

func (withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return http.DefaultTransport.RoundTrip(r)
}

// TestMCP: MCP is at /mcp for clients with the token, and the server stops although
// a stream is open.
func TestMCP(t *testing.T) {
	w, err := workspace.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mcp.New(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := newSiteOf(t, w.Dir(), nil, server.Options{MCP: m})
	t.Cleanup(m.Close) // before the site stops
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	send := func(change func(*http.Request)) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/mcp", strings.NewReader(ping))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		change(r)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for want, change := range map[int]func(*http.Request){
		http.StatusOK:               func(*http.Request) {},
		http.StatusUnauthorized:     func(r *http.Request) { r.Header.Del("Authorization") },
		http.StatusForbidden:        func(r *http.Request) { r.Header.Set("Origin", "http://example.com") },
		http.StatusMethodNotAllowed: func(r *http.Request) { r.Method = http.MethodPut },
	} {
		if got := send(change); got != want {
			t.Errorf("the status is %d, want %d", got, want)
		}
	}
	if got := send(func(r *http.Request) { r.Host = "attacker.example" }); got != http.StatusForbidden {
		t.Errorf("a foreign host: the status is %d", got)
	}

	updated := make(chan string, 10)
	client := sdk.NewClient(&sdk.Implementation{Name: "test"}, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
	})
	c, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: withToken{}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "bough://status"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.New(t.Context(), "New"); err != nil {
		t.Fatal(err)
	}
	if uri := <-updated; uri != "bough://status" {
		t.Errorf("told of %s", uri)
	}
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "status"})
	if err != nil || res.IsError {
		t.Errorf("status: %v %v", err, res)
	}
}

// TestNoMCP: without a handler there is no endpoint.
func TestNoMCP(t *testing.T) {
	s := newSite(t, server.Options{})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/mcp", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("the status is %d, want 404", resp.StatusCode)
	}
}

// TestMCPStreams: clients that listen for notifications do not take the place of requests.
func TestMCPStreams(t *testing.T) {
	const clients = 4 // a request may come before the server has ended the one before
	w, err := workspace.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mcp.New(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := newSiteOf(t, w.Dir(), nil, server.Options{MCP: m, Limits: server.Limits{Requests: clients, Long: clients}})
	t.Cleanup(m.Close) // before the site stops
	listening := make(chan bool, clients)
	over := roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := withToken{}.RoundTrip(r)
		if r.Method == http.MethodGet {
			listening <- err == nil && resp.StatusCode == http.StatusOK
		}
		return resp, err
	})
	for range clients {
		c, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: over},
		}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		if !<-listening {
			t.Fatal("the stream is refused")
		}
		if res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "status"}); err != nil || res.IsError {
			t.Errorf("a call beside streams: %v %v", err, res)
		}
	}
}

// TestMCPSlow: a client that does not read what it listens for is disconnected, and its
// place is free again.
func TestMCPSlow(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	s := newSite(t, server.Options{
		Limits: server.Limits{Write: 20 * time.Millisecond, Streams: 1},
		MCP: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rc, data := http.NewResponseController(w), make([]byte, 1<<20)
			for range 1000 { // until the buffers between the two are full
				_, err := w.Write(data)
				if err == nil {
					err = rc.Flush()
				}
				if err != nil {
					ended <- err
					return
				}
			}
			ended <- nil
		}),
	})
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", token); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the stream ends with %v", err)
	}
	r, err := http.DefaultClient.Do(s.request("GET", "/mcp", nil))
	for err == nil && r.StatusCode == http.StatusServiceUnavailable { // until the handler has returned
		r.Body.Close()
		r, err = http.DefaultClient.Do(s.request("GET", "/mcp", nil))
	}
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("another client: %v, %v", r, err)
	}
	r.Body.Close()
	<-ended
}

// A roundTrip is a function as a RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
