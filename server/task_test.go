package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/buffer"
	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/workspace"
)

type taskItem struct {
	ID       string          `json:"id"`
	Session  string          `json:"session_id"`
	Branch   string          `json:"branch_id"`
	Data     json.RawMessage `json:"data"`
	Messages []string        `json:"message_ids"`
}

func (s *site) tasks(id, query string) (items []taskItem) {
	s.t.Helper()
	var page struct{ Items []taskItem }
	s.ask("GET", "/api/v1/session/"+id+"/task?"+query, nil).want(200).data(&page)
	if page.Items == nil {
		s.t.Error("the tasks are null")
	}
	return page.Items
}

// observing returns the numbers of observed, in-process and pending messages of a
// session.
func (s *site) observing(id string) [3]int {
	s.t.Helper()
	var o struct {
		Observed  int
		InProcess int `json:"in_process"`
		Pending   int
	}
	s.ask("GET", "/api/v1/session/"+id+"/observing_status", nil).want(200).data(&o)
	return [3]int{o.Observed, o.InProcess, o.Pending}
}

// statuses returns the statuses of the messages on a path.
func (s *site) statuses(id, leaf string) string {
	s.t.Helper()
	var list []string
	for _, item := range s.read(id, "format=acontext&leaf_id="+leaf).Items {
		var m messageItem
		if err := json.Unmarshal(item, &m); err != nil {
			s.t.Fatal(err)
		}
		list = append(list, m.Status)
	}
	return strings.Join(list, " ")
}

// newWatched returns a site with a processor.
func newWatched(t *testing.T, o server.Options, p buffer.Processor) *site {
	t.Helper()
	dir := t.TempDir()
	w, err := workspace.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Buffer = buffer.New(w, buffer.Options{Processor: p, Idle: time.Hour})
	t.Cleanup(func() { o.Buffer.Close(context.Background()) })
	return newSiteOf(t, dir, nil, o)
}

// TestWithoutProcessor: without a processor tracked messages stay pending.
func TestWithoutProcessor(t *testing.T) {
	s := newSite(t, server.Options{})
	tracked, untracked := s.create(nil).ID, s.create(`{"disable_task_tracking":true}`).ID
	if m := s.store(tracked, "x", ""); m.Status != "pending" {
		t.Errorf("tracked: %s", m.Status)
	}
	if m := s.store(untracked, "x", ""); m.Status != "disable_tracking" {
		t.Errorf("untracked: %s", m.Status)
	}
	for id, want := range map[string][3]int{tracked: {0, 0, 1}, untracked: {0, 0, 0}} {
		re := s.ask("POST", "/api/v1/session/"+id+"/flush", nil).want(200)
		if got := compact(t, re.Data); got != `{"status":0,"errmsg":""}` {
			t.Errorf("flush: %s", got)
		}
		if got := s.observing(id); got != want {
			t.Errorf("observing %v, want %v", got, want)
		}
		if got := s.tasks(id, ""); len(got) > 0 {
			t.Errorf("tasks: %+v", got)
		}
	}
	for _, query := range []string{"limit=0", "limit=201", "cursor=x", "leaf_id=x", "time_desc=x"} {
		s.ask("GET", "/api/v1/session/"+tracked+"/task?"+query, nil).want(400)
	}
	s.ask("GET", "/api/v1/session/"+tracked+"/task?leaf_id="+unknown, nil).fails(404, unknown)
}

// TestProcessor: the tasks that a processor finds belong to the branch that it got,
// and to no other branch.
func TestProcessor(t *testing.T) {
	s := newWatched(t, server.Options{}, func(_ context.Context, c buffer.Context) (buffer.Result, error) {
		var said []string
		for _, m := range c.Messages {
			var text string
			if err := json.Unmarshal(m.Content, &text); err != nil {
				return buffer.Result{}, err
			}
			if slices.Contains(c.New, m.ID) {
				said = append(said, text)
			}
		}
		return buffer.Result{Tasks: []buffer.Found{{Description: strings.Join(said, " ")}}}, nil
	})
	id := s.create(nil).ID
	var m []string
	for _, text := range []string{"one", "two", "three"} {
		m = append(m, s.store(id, text, "").ID)
	}
	aside := s.store(id, "aside", m[0]).ID
	if got := s.observing(id); got != [3]int{0, 0, 4} {
		t.Errorf("observing %v", got)
	}
	re := s.ask("POST", "/api/v1/session/"+id+"/flush", nil).want(200)
	if got := compact(t, re.Data); got != `{"status":0,"errmsg":""}` {
		t.Errorf("flush: %s", got)
	}
	if got := s.observing(id); got != [3]int{4, 0, 0} {
		t.Errorf("observing %v", got)
	}
	if got := s.statuses(id, m[2]); got != "success success success" {
		t.Errorf("statuses: %s", got)
	}
	for leaf, want := range map[string][]string{"": {"one", "two three", "aside"}, m[2]: {"one", "two three"}, aside: {"one", "aside"}} {
		var got []string
		for _, task := range s.tasks(id, "leaf_id="+leaf) {
			var data struct {
				Description string `json:"task_description"`
			}
			if err := json.Unmarshal(task.Data, &data); err != nil {
				t.Fatal(err)
			}
			got = append(got, data.Description)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("tasks of %q: %q, want %q", leaf, got, want)
		}
	}
}

// TestFlushLong: a flush may take longer than any other request.
func TestFlushLong(t *testing.T) {
	t.Parallel()
	const answer = 600 * time.Millisecond
	began := make(chan bool)
	s := newWatched(t, server.Options{Limits: server.Limits{Answer: answer, Request: answer}},
		func(ctx context.Context, _ buffer.Context) (buffer.Result, error) {
			close(began)
			time.Sleep(answer * 5 / 4) // longer than the limit, which is what is tested
			return buffer.Result{}, ctx.Err()
		})
	id := s.create(nil).ID
	s.store(id, "x", "")
	re := s.ask("POST", "/api/v1/session/"+id+"/flush", nil).want(200)
	if got := compact(t, re.Data); got != `{"status":0,"errmsg":""}` {
		t.Errorf("flush: %s", got)
	}
	<-began
}

// TestFlushFails: an error of the processor is part of the answer.
func TestFlushFails(t *testing.T) {
	s := newWatched(t, server.Options{}, func(context.Context, buffer.Context) (buffer.Result, error) {
		return buffer.Result{}, errors.New("no idea")
	})
	id := s.create(nil).ID
	s.store(id, "x", "")
	var out struct {
		Status int
		Errmsg string
	}
	s.ask("POST", "/api/v1/session/"+id+"/flush", nil).want(http.StatusOK).data(&out)
	if out.Status == 0 || !strings.Contains(out.Errmsg, "no idea") {
		t.Errorf("flush: %+v", out)
	}
	if got := s.observing(id); got != [3]int{0, 0, 1} {
		t.Errorf("observing %v", got)
	}
}

// TestProcessorAutomatic: stored messages are processed without a request for it.
func TestProcessorAutomatic(t *testing.T) {
	dir := t.TempDir()
	w, err := workspace.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan []string, 1)
	b := buffer.New(w, buffer.Options{Batch: 1, Processor: func(_ context.Context, c buffer.Context) (buffer.Result, error) {
		seen <- c.New
		return buffer.Result{}, nil
	}})
	s := newSiteOf(t, dir, nil, server.Options{Buffer: b})
	m := s.store(s.create(nil).ID, "x", "")
	if got := <-seen; !slices.Equal(got, []string{m.ID}) {
		t.Errorf("the processor got %v, want %s", got, m.ID)
	}
}
