package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// TestClineResults: each result of a message is a message of its own in Cline, with an id that no other
// message has. All of them are the message that they were written for, whose losses count once.
func TestClineResults(t *testing.T) {
	call := func(id string) content.Part {
		return content.ToolCall(content.Call{ID: id, Name: "look", Arguments: "{}"})
	}
	result := func(id, text string) content.Part {
		return content.ToolResult(content.Call{ID: id, Name: "look"}, text)
	}
	results := nativeUser(result("c1", "A"), result("c1", "B"), result("c2", "C"), content.Text("So?"))
	results.Own.Name = "Ann"
	tr := nativeChain(nativeUser(content.Text("Go")), nativeModel("m", call("c1"), call("c2")), results, nativeModel("m", content.Text("Done")))
	tr.Messages[0].ID = results.ID + "_tool_c2"
	tr.Messages[1].Parent = tr.Messages[0].ID
	w, err := clineFormat.Export(tr, linearOptions())
	if err != nil {
		t.Fatal(err)
	}
	if want := (transcript.Loss{What: "names of speakers", Count: 1}); !slices.Contains(w.Lost, want) {
		t.Errorf("lost %v, want %v among them", w.Lost, want)
	}
	read, problems := nativeRead(t, clineFormat, w.Data)
	if len(problems) > 0 {
		t.Error(problems)
	}
	var texts, of []string
	for _, m := range read.Messages {
		texts = append(texts, strings.TrimSpace(said(m)))
	}
	for _, s := range w.Same {
		of = append(of, s.Of)
	}
	want := []string{`text "Go"`, `tool-call c1 look {} tool-call c2 look {}`, `tool-result c1 look "A"`, `tool-result c1 look "B"`, `tool-result c2 look "C"`, `text "So?"`, `text "Done"`}
	if !slices.Equal(texts, want) {
		t.Errorf("the messages are %q, want %q", texts, want)
	}
	ids := []string{}
	for _, n := range []int{0, 1, 2, 2, 2, 2, 3} {
		ids = append(ids, tr.Messages[n].ID)
	}
	if !slices.Equal(of, ids) {
		t.Errorf("the messages are those of %q, want %q", of, ids)
	}
}

// TestClineAnswers: calls and results in one answer stay calls and results.
func TestClineAnswers(t *testing.T) {
	var parts []content.Part
	for _, id := range []string{"c1", "c2"} {
		of := content.Call{ID: id, Name: "look", Arguments: "{}"}
		parts = append(parts, content.ToolCall(of), content.ToolResult(of, "A"))
	}
	out, lost := nativeWrite(t, clineFormat, nativeChain(nativeUser(content.Text("Go")), nativeModel("m", parts...), nativeUser(content.Text("Thanks"))), nativeID)
	for _, l := range lost {
		if strings.Contains(l.What, "converted to text") {
			t.Errorf("lost %v in\n%s", l, out)
		}
	}
}

// TestClineBlocks: blocks without what their type requires leave the session whole, and an image of a
// result has a type also if Cline states none.
func TestClineBlocks(t *testing.T) {
	for _, block := range []string{`{"type":"text"}`, `{"type":"text","text":5}`, `{"type":"image"}`, `7`} {
		list, _, err := anthropicAPIFormat.ReadAll(strings.NewReader(`{"messages":[{"role":"user","content":"Go"},` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"look","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[` + block + `]}]}]}`))
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v", block, err)
		}
		if out, _ := nativeWrite(t, clineFormat, list[0], nativeID); !json.Valid(out) {
			t.Errorf("with %s in a result, the session is\n%s", block, out)
		}
	}
	const session = `{"version":1,"agent":"lead","sessionId":"s","messages":[` +
		`{"id":"a","role":"assistant","content":[{"type":"tool_use","id":"c","name":"look","input":{}}]},` +
		`{"id":"b","role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"image","data":"aGk="}]}]}]}`
	list, problems, err := clineFormat.ReadAll(strings.NewReader(session))
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	out, _ := nativeWrite(t, anthropicAPIFormat, list[0], nativeID)
	if got := gjson.GetBytes(out, "1.content.0.content.0.source").Raw; got != `{"data":"aGk=","media_type":"image/png","type":"base64"}` {
		t.Errorf("the image is %s in\n%s", got, out)
	}
}

// TestClinePrompts: what Cline puts around a prompt is no text, in prompts alone.
func TestClinePrompts(t *testing.T) {
	for text, want := range map[string]string{
		`<user_input mode="act">Go</user_input>`:                                                  "Go",
		`<user_input mode="plan"> Go </user_input>`:                                               " Go ",
		"<mode_notice>Now act.</mode_notice>\n<user_input mode=\"act\">Go</user_input>":           "Go",
		"<user_input mode=\"act\">Go</user_input>\n\n<file_content path=\"a\">b</file_content>":   "Go\n\n<file_content path=\"a\">b</file_content>",
		"<user_input mode=\"act\">Go</user_input>\n<file_content>x</user_input></file_content>\n": "Go\n<file_content>x</user_input></file_content>\n",
		`<user_input>Go</user_input>`:                                                             "Go",
		`<user_inputs>Go</user_inputs>`:                                                           "<user_inputs>Go</user_inputs>",
		`<user_input mode="act">Go`:                                                               `<user_input mode="act">Go`,
		`Why <user_input mode="act">Go</user_input>?`:                                             `Why <user_input mode="act">Go</user_input>?`,
		"<mode_notice>Now act.</mode_notice>":                                                     "<mode_notice>Now act.</mode_notice>",
		"<mode_notice>Now act.":                                                                   "<mode_notice>Now act.",
		"<user_input":                                                                             "<user_input",
	} {
		for role, want := range map[string]string{"user": want, "assistant": text} {
			quoted, _ := json.Marshal(text)
			session := fmt.Sprintf(`{"version":1,"agent":"lead","sessionId":"s","messages":[{"id":"a","role":%q,"content":[{"type":"text","text":%s}]}]}`, role, quoted)
			list, problems, err := clineFormat.ReadAll(strings.NewReader(session))
			if err != nil || len(problems) > 0 || list[0].Messages[0].Text() != want {
				t.Errorf("%s of the %s: %q, %v, %v", text, role, list[0].Messages[0].Text(), problems, err)
			}
			out, _ := nativeWrite(t, clineFormat, list[0], "s")
			if got := gjson.GetBytes(out, "messages.0.content.0.text").Str; got != text {
				t.Errorf("%s is written as %s", text, got)
			}
		}
	}
}

// TestClineManyImages: a result with many images is read and written in time that is linear in their number.
func TestClineManyImages(t *testing.T) {
	images := strings.TrimSuffix(strings.Repeat(`{"type":"image","data":"aGk=","mediaType":"image/png"},`, 20_000), ",")
	list, _, err := clineFormat.ReadAll(strings.NewReader(`{"version":1,"agent":"lead","sessionId":"s","messages":[` +
		`{"id":"a","role":"assistant","content":[{"type":"tool_use","id":"c","name":"look","input":{}}]},` +
		`{"id":"b","role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[` + images + `]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	tr := list[0]
	tr.Format, tr.Conversation.Records = "", nil
	for _, m := range tr.Messages {
		m.Format, m.Records = "", nil
	}
	out, _ := nativeWrite(t, clineFormat, tr, "s")
	if n := bytes.Count(out, []byte(`"mediaType"`)); n != 20_000 {
		t.Errorf("%d images are written", n)
	}
}
