package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/tidwall/gjson"
)

const uiMessagesDir = "testdata/uimessages"

// readUIMessages returns how the AI SDK reads each file.
func readUIMessages(t *testing.T, files ...string) []gjson.Result {
	t.Helper()
	needPackages(t, uiMessagesDir, "ai")
	j := judge{name: "the AI SDK", argv: []string{"judge.mjs"}}
	return j.readIn(t, uiMessagesDir, files...)
}

// TestUIMessages: the AI SDK accepts exports from any format as valid messages, sends the same
// conversation to the model, and reads the samples as bough does.
func TestUIMessages(t *testing.T) {
	files := transcripts(t)
	var out, want []string
	for _, from := range tellings() {
		ws := filepath.Join(t.TempDir(), "ws")
		bough := func(args ...string) gjson.Result {
			t.Helper()
			return gjson.Parse(do(t, append([]string{"-w", ws, "--json"}, args...)...))
		}
		session := bough("import", filepath.Join(files, from.file)).Get("imported.0.session_id").String()
		for _, text := range []string{firstReply, "One section", "Regexes it is."} {
			active := from.beginning(true)
			switch {
			case text == "One section" && (from.tree || from.tools):
				active += "\n" + from.reading(true)
			case text == "Regexes it is." && from.tree:
				active += "\n" + from.choosing()
			case text != firstReply:
				continue
			}
			file := filepath.Join(t.TempDir(), from.format()+".json")
			bough("export", session+"@"+messageOf(t, ws, session, text), "--to", "ai-sdk", "-o", file)
			out, want = append(out, file), append(want, active)
		}
	}
	for i, answer := range readUIMessages(t, out...) {
		if got := linesOf(answer.Get("active")); got != want[i] {
			t.Errorf("%s: the model gets\n%s\nwant\n%s", out[i], got, want[i])
		}
	}
	sample, err := filepath.Abs("testdata/uimessages/sample.json")
	if err != nil {
		t.Fatal(err)
	}
	answer := readUIMessages(t, sample)[0]
	ws := filepath.Join(t.TempDir(), "ws")
	session := gjson.Parse(do(t, "-w", ws, "--json", "import", sample)).Get("imported.0.session_id").String()
	if got, want := linesOf(answer.Get("active")), "user: How many boats?\nassistant thinks: Count them.\nassistant: I count.\ncall 1 count {\"path\":\"quay\"}\ncall 2 name {}\n"+
		"result 1: {\"n\":2}\nfailed 2: no list\nassistant: Two."; got != want {
		t.Errorf("the AI SDK reads the sample as\n%s\nwant\n%s", got, want)
	}
	again := filepath.Join(t.TempDir(), "again.json")
	do(t, "-w", ws, "export", session, "--to", "ai-sdk", "-o", again)
	back := readUIMessages(t, again)[0]
	if linesOf(back.Get("active")) != linesOf(answer.Get("active")) || !slices.Equal(linesIn(back.Get("ids")), linesIn(answer.Get("ids"))) {
		t.Errorf("the sample was\n%s\nand is\n%s", answer, back)
	}
}

func linesIn(array gjson.Result) (list []string) {
	for _, v := range array.Array() {
		list = append(list, v.String())
	}
	return list
}
