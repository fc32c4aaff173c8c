package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/testtranscript"
	"github.com/tidwall/gjson"
)

// measured returns transcripts for formats that are only written: random paths, and the
// active paths of all fixtures.
func measured(t *testing.T) (list []*transcript.Transcript) {
	t.Helper()
	for seed := range testsize.Of(15, 30, 300) {
		tr := testtranscript.Tree(rand.New(rand.NewPCG(uint64(seed), 17)))
		tr.Messages = pathTo(tr, tr.Leaf)
		list = append(list, tr)
	}
	for _, f := range Formats {
		if !f.Reads() {
			continue
		}
		for _, path := range fixturesOf(t, f) {
			all, _, _ := f.ReadAll(bytes.NewReader(readFile(t, path)))
			for _, tr := range all {
				tr.Messages = pathTo(tr, tr.Leaf)
				list = append(list, tr)
			}
		}
	}
	if len(list) < 100 {
		t.Fatalf("only %d transcripts", len(list))
	}
	return list
}

// otelAttributes returns the texts of attributes by key.
func otelAttributes(t *testing.T, v gjson.Result) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, a := range v.Array() {
		key, value := a.Get("key").Str, a.Get("value.stringValue")
		if list := a.Get("value.arrayValue.values"); list.IsArray() {
			value = list.Get("0.stringValue")
		}
		if _, twice := texts[key]; key == "" || twice || value.Type != gjson.String {
			t.Errorf("the attribute %s", a.Raw)
		}
		texts[key] = value.Str
	}
	return texts
}

// otelParts are the members that parts of messages have, by type; those of the second list are
// optional.
var otelParts = map[string][2][]string{
	"text":               {{"content"}, nil},
	"reasoning":          {{"content"}, nil},
	"tool_call":          {{"name"}, {"id", "arguments"}},
	"tool_call_response": {{"response"}, {"id"}},
	"blob":               {{"modality", "content"}, {"mime_type"}},
	"uri":                {{"modality", "uri"}, {"mime_type"}},
}

// checkOTelMessages fails if an attribute is not an array of messages as the conventions have them,
// and returns what the messages say.
func checkOTelMessages(t *testing.T, attribute string, output bool) (said string) {
	t.Helper()
	if attribute == "" {
		return ""
	}
	list := gjson.Parse(attribute)
	if !list.IsArray() || len(list.Array()) == 0 || !json.Valid([]byte(attribute)) {
		t.Errorf("no messages: %s", attribute)
	}
	for _, m := range list.Array() {
		role, finish := m.Get("role").Str, m.Get("finish_reason")
		roles := []string{"system", "user", "tool"}
		if output {
			roles = []string{"assistant"}
		}
		if !slices.Contains(roles, role) || len(m.Get("parts").Array()) == 0 || finish.Exists() != output || output && finish.Str != "stop" && finish.Str != "tool_call" {
			t.Errorf("the message %s", m.Raw)
		}
		for _, p := range m.Get("parts").Array() {
			want, known := otelParts[p.Get("type").Str]
			for _, name := range want[0] {
				known = known && p.Get(name).Type == gjson.String
			}
			p.ForEach(func(key, _ gjson.Result) bool {
				known = known && (key.Str == "type" || slices.Contains(want[0], key.Str) || slices.Contains(want[1], key.Str))
				return true
			})
			if a := p.Get("arguments"); !known || a.Exists() && !a.IsObject() || (p.Get("type").Str == "tool_call_response") != (role == "tool") {
				t.Errorf("the part %s", p.Raw)
			}
			said += p.Get("content").Str + p.Get("response").Str + p.Get("uri").Str + "\n"
		}
	}
	return said
}

// TestOTel: a trace has one root, in which all other spans are, each with an id of its own and an
// end that is not before its start. Its attributes are required or known by the conventions, and
// their messages have all texts of the conversation.
func TestOTel(t *testing.T) {
	number := regexp.MustCompile(`^[0-9]{1,19}$`)
	id := map[string]*regexp.Regexp{"traceId": regexp.MustCompile(`^[0-9a-f]{32}$`), "spanId": regexp.MustCompile(`^[0-9a-f]{16}$`)}
	answers, tools, failures := 0, 0, 0
	for _, tr := range measured(t) {
		var b bytes.Buffer
		if _, err := otelFormat.Write(&b, tr, testOptions("run")); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(b.Bytes()) || bytes.Count(b.Bytes(), []byte("\n")) != 1 {
			t.Fatalf("not one line of JSON:\n%s", &b)
		}
		if about := otelAttributes(t, gjson.GetBytes(b.Bytes(), "resourceSpans.0.resource.attributes")); about["service.name"] == "" || about["process.working_directory"] != tr.Dir {
			t.Errorf("the resource %v of %q", about, tr.Dir)
		}
		spans := gjson.GetBytes(b.Bytes(), "resourceSpans.0.scopeSpans.0.spans").Array()
		root, seen, said := spans[0], map[string]bool{}, ""
		for i, s := range spans {
			for name, form := range id {
				if !form.MatchString(s.Get(name).Str) {
					t.Errorf("%s of %s", name, s.Raw)
				}
			}
			start, end := s.Get("startTimeUnixNano").Str, s.Get("endTimeUnixNano").Str
			if !number.MatchString(start) || !number.MatchString(end) || len(start) > len(end) || len(start) == len(end) && start > end {
				t.Errorf("the times of %s", s.Raw)
			}
			if seen[s.Get("spanId").Str] || s.Get("traceId").Str != root.Get("traceId").Str || i > 0 && s.Get("parentSpanId").Str != root.Get("spanId").Str || i == 0 && s.Get("parentSpanId").Exists() {
				t.Errorf("the place of %s in\n%s", s.Raw, &b)
			}
			seen[s.Get("spanId").Str] = true
			a := otelAttributes(t, s.Get("attributes"))
			operation := a["gen_ai.operation.name"]
			detail, kind := "gen_ai.request.model", 1.0
			switch operation {
			case "chat":
				kind = 3
				answers++
			case "execute_tool":
				detail = "gen_ai.tool.name"
				tools++
			default:
				detail = "gen_ai.agent.name"
			}
			if s.Get("name").Str != strings.TrimSpace(operation+" "+a[detail]) || s.Get("kind").Num != kind || a["gen_ai.conversation.id"] != "run" ||
				(operation == "invoke_agent") != (i == 0) || operation != "execute_tool" && a["gen_ai.provider.name"] == "" || (a["error.type"] != "") != (s.Get("status.code").Num == 2) {
				t.Errorf("the span %s", s.Raw)
			}
			if a["error.type"] != "" {
				failures++
			}
			said += checkOTelMessages(t, a["gen_ai.input.messages"], false) + checkOTelMessages(t, a["gen_ai.output.messages"], true)
		}
		for _, m := range tr.Messages {
			for _, p := range m.Parts {
				if !strings.Contains(said, strings.ToValidUTF8(p.Text, "\ufffd")) {
					t.Errorf("%q is not in\n%s", p.Text, &b)
				}
			}
		}
	}
	if answers < 100 || tools < 20 || failures < 2 {
		t.Errorf("only %d answers, %d tools, %d failures", answers, tools, failures)
	}
}

// TestATIF: a trajectory has consecutive steps of known sources, what only an agent has is in
// its steps, and each result belongs to a call of the step that it is in. All texts are there.
func TestATIF(t *testing.T) {
	for _, tr := range measured(t) {
		var b bytes.Buffer
		if _, err := atifFormat.Write(&b, tr, testOptions("run")); err != nil {
			t.Fatal(err)
		}
		var v struct {
			Version string `json:"schema_version"`
			ID      string `json:"session_id"`
			Agent   struct{ Name, Version string }
			Steps   []struct {
				ID          int `json:"step_id"`
				Source      string
				Message     *string
				Model       string           `json:"model_name"`
				Thoughts    string           `json:"reasoning_content"`
				Calls       []map[string]any `json:"tool_calls"`
				Observation *struct {
					Results []map[string]string
				}
			}
		}
		if err := json.Unmarshal(b.Bytes(), &v); err != nil {
			t.Fatalf("%v\n%s", err, &b)
		}
		if v.Version != "ATIF-v1.4" || v.ID != "run" || v.Agent.Name == "" || v.Agent.Version == "" || len(v.Steps) == 0 && len(tr.Messages) > 0 {
			t.Errorf("the trajectory is\n%s", &b)
		}
		said := ""
		for i, s := range v.Steps {
			if s.Message == nil || s.ID != i+1 || !slices.Contains([]string{"user", "agent", "system"}, s.Source) ||
				s.Source != "agent" && (s.Model != "" || s.Thoughts != "" || s.Calls != nil || s.Observation != nil) {
				t.Fatalf("step %d of\n%s", i, &b)
			}
			said += *s.Message + "\n" + s.Thoughts + "\n"
			ids := map[any]bool{}
			for _, c := range s.Calls {
				if _, is := c["arguments"].(map[string]any); !is || c["function_name"] == "" || c["tool_call_id"] == "" {
					t.Errorf("a call of step %d of\n%s", i, &b)
				}
				ids[c["tool_call_id"]] = true
			}
			if s.Observation != nil {
				for _, r := range s.Observation.Results {
					if !ids[r["source_call_id"]] {
						t.Errorf("a result of step %d of\n%s", i, &b)
					}
					said += r["content"] + "\n"
				}
			}
		}
		for _, m := range tr.Messages {
			for _, p := range m.Parts {
				if text, _ := json.Marshal(p.Text); !strings.Contains(said, p.Text) && !bytes.Contains(b.Bytes(), text[1:len(text)-1]) {
					t.Errorf("%q is not in\n%s", p.Text, &b)
				}
			}
		}
	}
}

// TestOTelTimes: the spans of a copy that is younger than its messages have the times of these, up
// to the year 2554.
func TestOTelTimes(t *testing.T) {
	for _, at := range []time.Time{time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC), time.Date(2400, 3, 14, 9, 0, 0, 7, time.UTC)} {
		tr := &transcript.Transcript{}
		tr.Created = at.Add(time.Hour)
		for i, role := range []string{"user", "assistant"} {
			m := &transcript.Message{ID: role, Time: at.Add(time.Duration(i) * time.Second)}
			m.Role, m.Parts = role, []content.Part{content.Text(role)}
			tr.Messages = append(tr.Messages, m)
		}
		tr.Messages[1].Parent = "user"
		var b bytes.Buffer
		if _, err := otelFormat.Write(&b, tr, testOptions("t")); err != nil {
			t.Fatal(err)
		}
		nanoseconds := func(second int64) string { return fmt.Sprintf("%d%09d", at.Unix()+second, at.Nanosecond()) }
		for _, span := range gjson.GetBytes(b.Bytes(), "resourceSpans.0.scopeSpans.0.spans").Array() {
			if begin := span.Get("startTimeUnixNano").Str; begin != nanoseconds(0) {
				t.Errorf("%s begins at %s, want %s", span.Get("name"), begin, nanoseconds(0))
			}
		}
		if !bytes.Contains(b.Bytes(), []byte(nanoseconds(1))) {
			t.Errorf("no span ends with the answer: %s", b.Bytes())
		}
	}
}
