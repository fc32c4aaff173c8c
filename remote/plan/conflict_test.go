package plan_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
)

// TestConflicts: a conflict is between machines that had not seen each other's records, and each is
// listed by itself.
func TestConflicts(t *testing.T) {
	const session = "session/session_20260525_153200_11111111"
	set := func(entity, field, value string) record.Op {
		return record.Op{Do: record.Set, Entity: entity, Field: field, Value: json.RawMessage(value)}
	}
	shell, title := set(session, "shell", "{}"), func(s string) record.Op { return set(session, "title", `"`+s+`"`) }
	remove := record.Op{Do: record.Remove, Entity: session}
	next := set("session/session_20260525_153200_22222222", "shell", `{"metadata":{"continued_from":["session_20260525_153200_11111111"]}}`)
	said := func(id string) []record.Op {
		return []record.Op{set(session, "newest", `"`+id+`"`), {Do: record.Add, Entity: session, Field: "messages", Body: &record.Body{Items: []record.Item{{ID: id, Raw: json.RawMessage(`{"id":"` + id + `"}`)}}}}}
	}
	const three = record.Machine("33333333333333333333333333333333")
	name := func(key, s string) record.Op {
		return set(fmt.Sprintf("agent/%032s", key), "name", `"`+s+`"`)
	}
	head := func(key, message string) record.Op {
		return set(fmt.Sprintf("agent/%032s", key), "head", `{"session_id":"s","message_id":"`+message+`"}`)
	}
	saw := func(n uint64) record.Vector { return record.Vector{one: n} }
	type step struct {
		machine record.Machine
		seen    record.Vector
		ops     []record.Op
	}
	for what, c := range map[string]struct {
		before, steps []step
		want          string
	}{
		"one machine removes a session and brings it back": {
			[]step{{one, nil, []record.Op{shell}}},
			[]step{{one, nil, []record.Op{remove}}, {one, nil, []record.Op{shell}}}, "[]"},
		"another one brings it back": {
			[]step{{one, nil, []record.Op{shell}}},
			[]step{{one, nil, []record.Op{remove}}, {two, saw(2), []record.Op{shell}}}, "[]"},
		"another one renames it meanwhile": {
			[]step{{one, nil, []record.Op{shell}}},
			[]step{{one, nil, []record.Op{remove}}, {two, saw(1), []record.Op{title("b")}}}, "[{rm session_20260525_153200_11111111 [session_20260525_153200_11111111]}]"},
		"the same, and the removal is read last": {
			[]step{{one, nil, []record.Op{shell}}},
			[]step{{two, saw(1), []record.Op{title("b")}}, {one, nil, []record.Op{remove}}}, "[{rm session_20260525_153200_11111111 [session_20260525_153200_11111111]}]"},
		"one machine removes it, and no other one changes it": {
			[]step{{one, nil, []record.Op{shell}}},
			[]step{{one, nil, []record.Op{remove}}}, "[]"},
		"another one continues it in a new file": {
			[]step{{one, nil, []record.Op{shell}}},
			[]step{{one, nil, []record.Op{remove}}, {two, saw(1), []record.Op{next}}}, "[{rm session_20260525_153200_11111111 [session_20260525_153200_11111111]}]"},
		"the same, and the removal of the first file is read last": {
			[]step{{one, nil, []record.Op{shell}}},
			[]step{{two, saw(1), []record.Op{next}}, {one, nil, []record.Op{remove}}}, "[{rm session_20260525_153200_11111111 [session_20260525_153200_11111111]}]"},
		"another one continues it in a new file before": {
			[]step{{one, nil, []record.Op{shell}}, {two, saw(1), []record.Op{next}}},
			[]step{{one, record.Vector{two: 1}, []record.Op{remove}}}, "[]"},
		"three machines, the removal is read second": {
			[]step{{one, nil, []record.Op{shell}}},
			[]step{{one, nil, said("m1")}, {three, saw(2), []record.Op{remove}}, {two, saw(1), said("m2")}},
			"[{append session_20260525_153200_11111111 [m1 m2]} {rm session_20260525_153200_11111111 [session_20260525_153200_11111111]}]"},
		"three machines, the removal is read last": {
			[]step{{one, nil, []record.Op{shell}}},
			[]step{{one, nil, said("m1")}, {two, saw(1), said("m2")}, {three, saw(2), []record.Op{remove}}},
			"[{append session_20260525_153200_11111111 [m1 m2]} {rm session_20260525_153200_11111111 [session_20260525_153200_11111111]}]"},
		"both rename it": {
			[]step{{one, nil, []record.Op{shell}}},
			[]step{{one, nil, []record.Op{title("a")}}, {two, saw(1), []record.Op{title("b")}}}, "[{rename session_20260525_153200_11111111 [b a]}]"},
		"agents of two names": {
			[]step{{one, nil, []record.Op{name("a1", "x"), name("a2", "y")}}},
			[]step{{two, nil, []record.Op{name("b1", "x"), name("b2", "y")}}}, "[{agent  [x x-22222222]} {agent  [y y-22222222]}]"},
		"heads of two agents in one session": {
			[]step{{one, nil, []record.Op{name("a1", "x"), name("a2", "y")}}},
			[]step{
				{one, nil, []record.Op{head("a1", "m"), head("a2", "n")}},
				{two, saw(1), []record.Op{head("a1", "o"), head("a2", "p")}},
			}, "[{head s [o m]} {head s [p n]}]"},
	} {
		s, seqs := join.New(), map[record.Machine]uint64{}
		add := func(list []step, see func(r *record.Record)) {
			for _, st := range list {
				seqs[st.machine]++
				r := &record.Record{Format: record.Format, Machine: st.machine, Seq: seqs[st.machine], Lamport: seqs[one] + seqs[two] + seqs[three], Seen: st.seen, Ops: st.ops}
				see(r)
				if err := s.Add(r); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
		}
		add(c.before, func(*record.Record) {})
		conflicts := plan.NewConflicts(plan.NewView(s))
		add(c.steps, func(r *record.Record) { conflicts.See(s, r) })
		after := plan.NewView(s)
		for range 2 {
			if got := fmt.Sprint(conflicts.List(after)); got != c.want {
				t.Errorf("%s: the conflicts are %s, want %s", what, got, c.want)
			}
		}
	}
}
