package server_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/internal/tokens"
	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/lines"
)

// The benchmarks measure requests over HTTP as ratios to the same calls in the
// library, as the metric x-lib: medians of one run, in which both are measured in
// turn. Tokens are counted over HTTP only, and cached after the first turn. The
// conversation has 10,000 messages of some 1.5 KB, in one file or in twelve.

// inTurns measures one function relative to another.
func inTurns(b *testing.B, over, lib func()) {
	b.Helper()
	over()
	lib()
	var a, l []time.Duration
	for b.Loop() {
		start := time.Now()
		over()
		between := time.Now()
		lib()
		a, l = append(a, between.Sub(start)), append(l, time.Since(between))
	}
	slices.Sort(a)
	slices.Sort(l)
	http, plain := a[len(a)/2], l[len(l)/2]
	b.ReportMetric(http.Seconds()*1000, "ms/http")
	b.ReportMetric(plain.Seconds()*1000, "ms/lib")
	b.ReportMetric(http.Seconds()/plain.Seconds(), "x-lib")
	b.ReportMetric(0, "ns/op")
}

// benchSite returns a site with the conversation, its id, and the paths of its
// files.
func benchSite(b *testing.B, perFile int) (s *site, id string, files []string) {
	b.Helper()
	dir := b.TempDir()
	made := testchat.Chat{Messages: 10_000, PerFile: perFile, Text: 1530}.Files()
	if err := testchat.Write(dir, made); err != nil {
		b.Fatal(err)
	}
	for _, f := range made {
		files = append(files, filepath.Join(dir, session.FileName(f.ID)))
	}
	s = newSiteOf(b, dir, &workspace.Options{Limit: 100_000}, server.Options{Count: new(tokens.Counter).Count})
	id = sessionid.UUID(made[0].ID)
	s.store(id, "And one more.", "") // the first writer creates the index
	return s, id, files
}

// get reads an answer and discards it.
func (s *site) get(path string) {
	s.t.Helper()
	s.discard(s.request("GET", path, nil), 200)
}

func (s *site) discard(r *http.Request, status int) {
	s.t.Helper()
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer a.Body.Close()
	if _, err := io.Copy(io.Discard, a.Body); err != nil || a.StatusCode != status {
		s.t.Fatalf("status %d, %v", a.StatusCode, err)
	}
}

func BenchmarkServer(b *testing.B) {
	for _, c := range []struct {
		name    string
		perFile int
	}{{"file", 10_000}, {"line", 834}} {
		b.Run(c.name+"/store", func(b *testing.B) {
			s, id, _ := benchSite(b, c.perFile)
			say := lines.Content{Role: "user", Value: []byte(`"One more."`), Own: []lines.Member{{Name: "format", Value: []byte(`"openai"`)}}}
			inTurns(b, func() {
				r := s.request("POST", "/api/v1/session/"+id+"/messages", strings.NewReader(`{"blob":{"role":"user","content":"One more."}}`))
				s.discard(r, 201)
			}, func() {
				if _, err := s.w.Line("urn:uuid:"+id).Store(b.Context(), lines.Message{
					Content: func(func() ([]lines.Node, error)) (lines.Content, error) { return say, nil },
				}); err != nil {
					b.Fatal(err)
				}
			})
		})
		for _, format := range []content.Format{content.OpenAI, content.Acontext} {
			b.Run(c.name+"/path-"+string(format), func(b *testing.B) {
				s, id, _ := benchSite(b, c.perFile)
				inTurns(b, func() { s.get("/api/v1/session/" + id + "/messages?format=" + string(format)) }, func() {
					p, err := s.w.Line("urn:uuid:"+id).Path(b.Context(), "", session.ReadOptions{})
					if err != nil || len(p.Nodes) <= 10_000 {
						b.Fatal(len(p.Nodes), err)
					}
					list := make([]*content.Message, len(p.Nodes))
					for i := range p.Nodes {
						list[i] = content.Read(p.Nodes[i].Raw)
					}
					content.Items(format, list, nil)
				})
			})
		}
		parse := func(b *testing.B, files []string) {
			for _, f := range files {
				data, err := os.ReadFile(f)
				if err == nil {
					_, err = session.Decode(strings.TrimSuffix(filepath.Base(f), ".json"), data)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		b.Run(c.name+"/branches", func(b *testing.B) {
			s, id, files := benchSite(b, c.perFile)
			inTurns(b, func() {
				if err := os.RemoveAll(filepath.Join(s.w.Dir(), ".bough", "cache")); err != nil {
					b.Fatal(err)
				}
				s.get("/api/v1/session/" + id + "/branches")
			}, func() { parse(b, files) })
		})
		b.Run(c.name+"/branches-unchanged", func(b *testing.B) {
			s, id, files := benchSite(b, c.perFile)
			inTurns(b, func() { s.get("/api/v1/session/" + id + "/branches") }, func() { parse(b, files) })
		})
	}
}

// BenchmarkV1Show reads the conversation through the native API, relative to the same call in
// the library and the encoding of its result.
func BenchmarkV1Show(b *testing.B) {
	s, id, _ := benchSite(b, 10_000)
	inTurns(b, func() { s.get("/v1/show?ref=urn:uuid:" + id) }, func() {
		c, err := s.w.Show(b.Context(), "urn:uuid:"+id, session.ReadOptions{})
		if err != nil || len(c.Messages) <= 10_000 {
			b.Fatal(len(c.Messages), err)
		}
		rawjson.Answer(c)
	})
}

// BenchmarkMany has 64 concurrent clients. Each stores a message in a
// branch of its own and reads that branch, and measures this relative to the same
// calls in the library, one after the other. In the end every branch has exactly
// the messages of its client.
func BenchmarkMany(b *testing.B) {
	const clients = 64
	s, id, _ := benchSite(b, 834)
	trunk, err := s.w.Line("urn:uuid:"+id).Path(b.Context(), "", session.ReadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	type client struct {
		at     string // its leaf
		depth  int
		stored []string
	}
	list := make([]client, 2*clients) // including those of the library
	for i := range list {
		list[i] = client{trunk.Nodes[50*i].UUID, 50*i + 1, nil}
	}
	took := func(c *client, leaf string) {
		c.at, c.depth, c.stored = leaf, c.depth+1, append(c.stored, leaf)
	}
	inTurns(b, func() {
		var all sync.WaitGroup
		for i := range clients {
			c := &list[i]
			all.Go(func() {
				took(c, s.store(id, fmt.Sprint("client ", i), c.at).ID)
				s.get("/api/v1/session/" + id + "/messages?leaf_id=" + c.at)
			})
		}
		all.Wait()
	}, func() {
		for i := clients; i < 2*clients; i++ {
			c := &list[i]
			n, err := s.w.Line("urn:uuid:"+id).Store(b.Context(), lines.Message{
				Parent: "urn:uuid:" + c.at,
				Content: func(func() ([]lines.Node, error)) (lines.Content, error) {
					return lines.Content{Role: "user", Value: []byte(`"library"`)}, nil
				},
			})
			if err != nil {
				b.Fatal(err)
			}
			took(c, n.UUID)
			if _, err := s.w.Line("urn:uuid:"+id).Path(b.Context(), "urn:uuid:"+c.at, session.ReadOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	depths := map[string]int{}
	for _, l := range s.branches(id) {
		depths[l.ID] = l.Depth
	}
	for i, c := range list {
		if depths[c.at] != c.depth {
			b.Errorf("the branch of client %d has the depth %d, want %d", i, depths[c.at], c.depth)
		}
		p, err := s.w.Line("urn:uuid:"+id).Path(b.Context(), "urn:uuid:"+c.at, session.ReadOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for k, want := range c.stored {
			if got := p.Nodes[len(p.Nodes)-len(c.stored)+k].UUID; got != want {
				b.Errorf("message %d of client %d is %s, want %s", k, i, got, want)
			}
		}
	}
}
