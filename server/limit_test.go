package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bough-dev/bough/server"
)

// TestBodies: invalid and too large bodies are refused.
func TestBodies(t *testing.T) {
	t.Parallel()
	s := newSite(t, server.Options{Limits: server.Limits{Body: 64 << 10, Depth: 20, Object: 1 << 10, Query: 1 << 10}})
	deep := func(n int) string {
		return `{"configs":{"a":` + strings.Repeat("[", n-2) + strings.Repeat("]", n-2) + `}}`
	}
	for _, c := range []struct {
		name   string
		body   string
		status int
		msg    string
	}{
		{"empty", "", 201, ""},
		{"an empty object", "{}", 201, ""},
		{"unknown members", `{"x":1,"configs":null,"X":[{}]}`, 201, ""},
		{"a member twice", `{"user":"a","user":"b"}`, 201, ""},
		{"as deep as it may be", deep(20), 201, ""},
		{"brackets in a string", `{"user":"` + strings.Repeat("[", 50) + `\"[[["}`, 201, ""},

		{"an array", "[]", 400, "must be a JSON object"},
		{"a string", `"x"`, 400, "must be a JSON object"},
		{"null", "null", 400, "must be a JSON object"},
		{"torn", `{"user":`, 400, "not JSON"},
		{"two", `{}{}`, 400, "not JSON"},
		{"NaN", `{"configs":{"x":NaN}}`, 400, "not JSON"},
		{"a byte order mark", "\ufeff{}", 400, "not JSON"},
		{"no UTF-8", "{\"user\":\"\xff\"}", 400, "UTF-8"},
		{"a wrong type", `{"user":1}`, 400, "user has the wrong type"},
		{"configs of a wrong type", `{"configs":[]}`, 400, "configs must be an object"},
		{"too deep", deep(21), 400, "too deeply"},
		{"far too deep", `{"configs":` + strings.Repeat(`{"a":`, 10000), 400, "too deeply"},
		{"large configs", fmt.Sprintf(`{"configs":{"a":%q}}`, strings.Repeat("x", 1<<10)), 400, "configs is too large"},
		{"too large", fmt.Sprintf(`{"user":%q}`, strings.Repeat("x", 64<<10)), 413, "too large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := *s
			s.t = t
			re := s.ask("POST", "/api/v1/session", c.body)
			if c.status == 201 {
				re.want(201)
				return
			}
			re.fails(c.status, c.msg)
		})
	}
	s.ask("GET", "/api/v1/session?user="+strings.Repeat("x", 1<<10), nil).fails(414, "too long")
	s.ask("GET", "/api/v1/session?user=%ff", nil).fails(400, "UTF-8")
	s.ask("GET", "/api/v1/session?user=%zz", nil).fails(400, "query")

	r := s.request("POST", "/api/v1/session", strings.NewReader("user=x"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	s.do(r).fails(415, "must be JSON")
}

// TestCut pages through lists of all lengths, in both directions: each item appears
// once, in order.
func TestCut(t *testing.T) {
	for n := range 12 {
		for limit := range 13 {
			for _, newest := range []bool{false, true} {
				var got []int
				after, pages := -1, 0
				for {
					from, to, last, more := server.Cut(n, after, limit, newest)
					if limit > 0 && to-from > limit {
						t.Fatalf("a page of %d, limit %d", to-from, limit)
					}
					var page []int
					for i := from; i < to; i++ {
						page = append(page, i)
					}
					if newest {
						got = append(page, got...)
					} else {
						got = append(got, page...)
					}
					if !more {
						break
					}
					after = last
					if pages++; pages > n {
						t.Fatalf("n %d, limit %d, newest %v: paging does not end", n, limit, newest)
					}
				}
				if len(got) != n {
					t.Errorf("n %d, limit %d, newest %v: %v", n, limit, newest, got)
				}
				for i, k := range got {
					if i != k {
						t.Errorf("n %d, limit %d, newest %v: %v", n, limit, newest, got)
					}
				}
			}
		}
	}
}

// TestPanic: a panic of a handler is answered, and the server continues.
func TestPanic(t *testing.T) {
	var logged []string
	s := newSite(t, server.Options{Log: func(line string) { logged = append(logged, line) }})
	s.server.Handle("GET /api/v1/broken", func() { panic("out of order") })
	s.ask("GET", "/api/v1/broken", nil).fails(500, "internal error")
	if len(logged) != 1 || !strings.Contains(logged[0], "out of order") || !strings.Contains(logged[0], "limit_test.go") {
		t.Errorf("logged %q", logged)
	}
	s.ask("GET", "/api/v1/ping", nil).want(200)
}

// TestRequests: the number of concurrent requests is limited, and requests without
// the token do not learn about it.
func TestRequests(t *testing.T) {
	const most = 3
	s := newSite(t, server.Options{Limits: server.Limits{Requests: most}})
	entered, leave := make(chan bool), make(chan bool)
	s.server.Handle("GET /api/v1/slow", func() {
		entered <- true
		<-leave
	})
	answered := make(chan int)
	for range most {
		go func() {
			r, err := http.DefaultClient.Do(s.request("GET", "/api/v1/slow", nil))
			if err != nil {
				answered <- 0
				return
			}
			r.Body.Close()
			answered <- r.StatusCode
		}()
		<-entered
	}
	re := s.ask("GET", "/api/v1/ping", nil)
	re.fails(503, "too many requests")
	if re.header.Get("Retry-After") == "" {
		t.Error("the answer has no Retry-After")
	}
	r := s.request("GET", "/api/v1/ping", nil)
	r.Header.Del("Authorization")
	s.do(r).want(401)
	close(leave)
	for range most {
		if status := <-answered; status != 200 {
			t.Errorf("status %d", status)
		}
	}
	s.ask("GET", "/api/v1/ping", nil).want(200)
}
