package explore_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/explore/recognize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/doctor"
)

const threeWays = "There are three approaches:\n\n1. **Merge sort**: stable, needs memory.\n2. **Heap sort**: in place.\n3. **Radix sort**: linear for integers.\n\nWhich one do you want?"

func TestPlanFor(t *testing.T) {
	c := explore.Defaults()
	off := c
	off.Enabled = false
	unsure := c
	unsure.MinConfidence = 1
	for _, test := range []struct {
		reply  string
		c      explore.Config
		reason string
	}{
		{threeWays, c, ""},
		{threeWays, off, "disabled"},
		{threeWays, unsure, "below 1"},
		{"It is done.", c, "several ways"},
		{"", c, "several ways"},
	} {
		named, sure := recognize.Reply(test.reply)
		p := explore.PlanFor(named, sure, nil, test.c)
		if (p.Reason == "") != (test.reason == "") || !strings.Contains(p.Reason, test.reason) {
			t.Errorf("of %q is made %+v", test.reply, p)
		}
		if test.reason == "" && (len(p.Strategies) != 3 || p.Strategies[0].Name != "Merge sort") {
			t.Errorf("the strategies are %+v", p.Strategies)
		}
	}
}

// TestAgentReply explores an agent's reply: the agent's head stays until a result is adopted,
// and the agent continues below that.
func TestAgentReply(t *testing.T) {
	l := newLab(t)
	goroutines := runtime.NumGoroutine()
	if _, err := l.w.Agent("ada").Create(t.Context(), agents.Options{Model: "m"}); err != nil {
		t.Fatal(err)
	}
	said := threeWays
	o := agents.TurnOptions{Models: func(context.Context, string) (model.Model, error) {
		return stub(func(context.Context, *model.Request) (string, error) { return said, nil }), nil
	}}
	chatted, err := l.w.Agent("ada").Chat(t.Context(), agents.Prompt{Text: "How is this sorted best?"}, o)
	if err != nil {
		t.Fatal(err)
	}
	named, sure := recognize.Reply(chatted.Reply)
	p := explore.PlanFor(named, sure, nil, explore.Defaults())
	l.tree, l.node = chatted.Tree, string(chatted.Node)
	e := l.explore(`printf '{"result":"%s it is","confidence":0.9}' "$BOUGH_STRATEGY"`, explore.Defaults())
	e.Agent = "ada"
	var offered []explore.Strategy
	for _, s := range p.Strategies {
		offered = append(offered, s.Strategy)
	}
	e.Begin(offered, uuid.NewString, at(0))
	l.run(e)
	if err := l.explorer().Conclude(t.Context(), e, explore.Best, nil); err != nil {
		t.Fatal(err)
	}
	head := func() string {
		a, err := l.w.Agent("ada").Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return a.Head.Node
	}
	if head() != l.node || e.Evaluation.Result != "Merge sort it is" {
		t.Errorf("the head is %s, not %s; %+v", head(), l.node, e.Evaluation)
	}
	if err := l.explorer().AdoptBranch(t.Context(), e, nil); err != nil || head() != *e.Outcome {
		t.Errorf("adopted, the head is %s, not %s, %v", head(), *e.Outcome, err)
	}
	said = "Gladly."
	if chatted, err = l.w.Agent("ada").Chat(t.Context(), agents.Prompt{Text: "Do it."}, o); err != nil {
		t.Fatal(err)
	}
	path, err := l.w.Line(l.tree).Path(t.Context(), string(chatted.Node), session.ReadOptions{})
	if err != nil || len(path.Nodes) != 5 || path.Nodes[2].ID != *e.Outcome {
		t.Errorf("the continuation is %+v, %v", path, err)
	}
	if report, err := l.w.Doctor(t.Context(), doctor.Options{}); err != nil || !report.OK {
		t.Errorf("doctor finds %+v, %v", report, err)
	}
	for n := 0; runtime.NumGoroutine() > goroutines; n++ {
		if n == 200 {
			t.Fatalf("%d goroutines are left of %d", runtime.NumGoroutine(), goroutines)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
