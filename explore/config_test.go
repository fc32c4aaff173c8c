package explore_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/explore"
)

func TestDefaults(t *testing.T) {
	data, err := json.Marshal(explore.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"enabled":true,"max_depth":3,"max_concurrent":5,"timeout":"30s","max_branches":64,"max_time":"10m0s",` +
		`"max_output":1048576,"max_total_output":16777216,"min_confidence":0.6,"prune":0.3,"synthesize":0.7,"metrics":{},"prefer":[],` +
		`"allow_recursive_branching":true,"learn_from_failures":true}`
	if string(data) != want {
		t.Errorf("the defaults are\n%s, want\n%s", data, want)
	}
	again, err := explore.Merge(data, nil, nil)
	if err != nil || !reflect.DeepEqual(again, explore.Defaults()) {
		t.Errorf("they decode to %+v, %v", again, err)
	}
}

func TestMerge(t *testing.T) {
	workspace := []byte(`{"max_depth": 2, "timeout": "1m", "prefer": ["x", "y"], "enabled": false}`)
	agent := []byte(`{"timeout": "2m", "prefer": ["z"], "prune": 0}`)
	flags := []byte(`{"timeout": "3m"}`)
	c, err := explore.Merge(workspace, agent, flags)
	want := explore.Defaults()
	want.MaxDepth, want.Timeout, want.Prefer, want.Enabled, want.Prune = 2, explore.Duration(3*time.Minute), []string{"z"}, false, 0
	if err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v, %v, want %+v", c, err, want)
	}
}

func TestMergeRefuses(t *testing.T) {
	for _, c := range []struct{ agent, want string }{
		{`{"max_dept": 2}`, `explore settings of the agent: unknown setting "max_dept"; did you mean "max_depth"?`},
		{`{"Enabled": true}`, `unknown setting "Enabled"; did you mean "enabled"?`},
		{`{"zzz": 2}`, `unknown setting "zzz"; settings: enabled, max_depth,`},
		{`{"max_depth": "2"}`, `max_depth is "2", want a whole number`},
		{`{"max_depth": 2.5}`, `max_depth is 2.5, want a whole number`},
		{`{"max_depth": null}`, `max_depth is null, want a whole number`},
		{`{"max_depth": 0}`, `max_depth is 0: it must be at least 1`},
		{`{"max_output": -1}`, `max_output is -1: it must be at least 1`},
		{`{"timeout": 30}`, `timeout is 30, want a duration as "30s"`},
		{`{"timeout": "soon"}`, `timeout is "soon", want a duration`},
		{`{"timeout": "-1s"}`, `timeout is "-1s": it must be positive`},
		{`{"prune": 1.01}`, `prune is 1.01: it must be from 0 to 1`},
		{`{"prune": NaN}`, `prune is NaN, want a number from 0 to 1`},
		{`{"prefer": ["a", " "]}`, `it has an empty name`},
		{`{"prefer": "a"}`, `prefer is "a", want a list of names`},
		{`{"enabled": 1}`, `enabled is 1, want true or false`},
		{`{"prune": 0.1, "prune": 0.2}`, `prune`},
		{`[]`, `not a JSON object`},
		{`{"prune": `, `byte `},
	} {
		if _, err := explore.Merge(nil, []byte(c.agent), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %s", c.agent, err, c.want)
		}
	}
}

// FuzzMerge: accepted settings are within their limits, and decode to the same settings
// after encoding.
func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"max_depth": 2, "timeout": "1m", "prefer": ["x", "y"], "enabled": false}`))
	f.Add([]byte(`{"prune": 1e-400, "max_output": 9223372036854775807}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := explore.Merge(nil, data, nil)
		if err != nil {
			return
		}
		if c.MaxDepth < 1 || c.Timeout <= 0 || c.Prune < 0 || c.Prune > 1 {
			t.Fatalf("%s makes %+v", data, c)
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := explore.Merge(text, nil, nil); err != nil || !reflect.DeepEqual(again, c) {
			if len(again.Prefer) != 0 || len(c.Prefer) != 0 {
				t.Fatalf("%s reads back as %+v, %v", text, again, err)
			}
		}
	})
}
