package server_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/bough-dev/bough/server"
)

// TestFormats stores a message in each format and reads all in each.
func TestFormats(t *testing.T) {
	s := newSite(t, server.Options{Count: func(string) int { return 10 }})
	id := s.create(nil).ID
	for _, body := range []string{
		`{"blob":{"role":"system","content":"Be brief."}}`,
		`{"format":"openai","blob":{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://x.example/i.png","detail":"low"}}],"name":"ann"},"meta":{"k":[1,{"n":null}]}}`,
		`{"format":"anthropic","blob":{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"t1","name":"look","input":{"q":1}}]}}`,
		`{"format":"gemini","blob":{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"found":true}}}]}}`,
		`{"format":"acontext","blob":{"role":"assistant","parts":[{"type":"text","text":"Done.","meta":null,"file_field":null}],"meta":null}}`,
	} {
		s.ask("POST", "/api/v1/session/"+id+"/messages", body).want(201)
	}
	lists := map[string]messageList{}
	for _, format := range []string{"", "openai", "acontext", "anthropic", "gemini"} {
		lists[format] = s.read(id, strings.TrimSuffix("format="+format, "format="))
		if got := lists[format]; len(got.Items) != 5 || got.Edited != got.IDs[4] || got.Tokens != 70 {
			t.Errorf("%s: %d items, edited at %s, %d tokens", format, len(got.Items), got.Edited, got.Tokens)
		}
		if got := compact(t, lists[format].Metas[1]); got != `{"k":[1,{"n":null}]}` {
			t.Errorf("%s: noted %s", format, got)
		}
		if got := compact(t, lists[format].Metas[0]); got != `{}` {
			t.Errorf("%s: noted %s", format, got)
		}
	}
	for name, want := range map[string]string{
		"openai 0": `{"role":"system","content":"Be brief."}`,
		"openai 1": `{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://x.example/i.png","detail":"low"}}],"name":"ann"}`,
		"openai 3": `{"role":"tool","tool_call_id":"t1","content":"{\"found\":true}"}`,
		"openai 4": `{"role":"assistant","content":"Done."}`,
		"gemini 4": `{"role":"model","parts":[{"text":"Done."}]}`,
	} {
		format, n, _ := strings.Cut(name, " ")
		if got := lists[format].Items[n[0]-'0']; !sameJSON(t, got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for i, item := range lists["acontext"].Items {
		var m messageItem
		if err := json.Unmarshal(item, &m); err != nil {
			t.Fatal(err)
		}
		if m.ID != lists["acontext"].IDs[i] || m.Session != id || m.Parts == nil || m.Status != "pending" {
			t.Errorf("an item of acontext: %s", item)
		}
		validate(t, "Message", item)
	}
	var m messageItem
	json.Unmarshal(lists["acontext"].Items[1], &m)
	if got := compact(t, m.Meta); got != `{"source_format":"openai","name":"ann","__user_meta__":{"k":[1,{"n":null}]}}` {
		t.Errorf("the meta of an item: %s", got)
	}
	var counted struct {
		Total int `json:"total_tokens"`
	}
	s.ask("GET", "/api/v1/session/"+id+"/token_counts", nil).want(200).data(&counted)
	if counted.Total != 70 {
		t.Errorf("%d tokens", counted.Total)
	}
}

func sameJSON(t *testing.T, a json.RawMessage, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

// TestStrategies applies strategies to the page of the path, up to the pinned
// message.
func TestStrategies(t *testing.T) {
	s := newSite(t, server.Options{Count: func(text string) int { return len(text) }})
	id := s.create(nil).ID
	var ids []string
	for i := range 4 {
		var m messageItem
		s.ask("POST", "/api/v1/session/"+id+"/messages", fmt.Sprintf(`{"blob":{"role":"assistant","tool_calls":[{"id":"c%d","type":"function","function":{"name":"f","arguments":"{}"}}]}}`, i)).want(201)
		s.ask("POST", "/api/v1/session/"+id+"/messages", fmt.Sprintf(`{"blob":{"role":"tool","tool_call_id":"c%d","content":"result %d"}}`, i, i)).want(201).data(&m)
		ids = append(ids, m.ID)
	}
	strategy := func(s string) string { return "edit_strategies=" + url.QueryEscape(s) }
	for _, c := range []struct {
		query  string
		want   string
		edited string
	}{
		{"", "result 0 result 1 result 2 result 3", ids[3]},
		{strategy(`[{"type":"remove_tool_result","params":{"keep_recent_n_tool_results":1}}]`), "Done Done Done result 3", ids[3]},
		{strategy(`[{"type":"remove_tool_result","params":{"keep_recent_n_tool_results":1}}]`) + "&pin_editing_strategies_at_message=" + strings.ToUpper(ids[1]), "Done result 1 result 2 result 3", ids[1]},
		{strategy(`[{"type":"remove_tool_result","params":{"keep_recent_n_tool_results":1}}]`) + "&pin_editing_strategies_at_message=" + unknown, "Done Done Done result 3", ids[3]},
		{strategy(`[{"type":"remove_tool_result","params":{"keep_recent_n_tool_results":1}}]`) + "&limit=4", "Done result 1", ids[1]},
		{strategy(`[{"type":"token_limit","params":{"limit_tokens":24}}]`), "result 2 result 3", ids[3]},
		{strategy(`[{"type":"remove_tool_result","params":{"keep_recent_n_tool_results":0,"keep_tools":["f"]}}]`) + "&limit=1&time_desc=true", "result 3", ids[3]},
		{strategy(`[]`), "result 0 result 1 result 2 result 3", ids[3]},
	} {
		list := s.read(id, c.query)
		if got := strings.Join(strings.Fields(list.texts(t)), " "); got != c.want || list.Edited != c.edited {
			t.Errorf("%s: %q edited at %s, want %q at %s", c.query, got, list.Edited, c.want, c.edited)
		}
	} // The call is on another page.
	list := s.read(id, "format=gemini&limit=1&time_desc=true")
	want := `{"role":"user","parts":[{"functionResponse":{"id":"c3","name":"f","response":{"output":"result 3"}}}]}`
	if got := list.Items[0]; !sameJSON(t, got, want) {
		t.Errorf("a page of gemini: %s, want %s", got, want)
	}
}
