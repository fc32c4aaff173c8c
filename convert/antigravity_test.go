package convert

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/transcript"
)

// TestAntigravity: steps, each as its number, type, status and other members, and what is read: problems, the tree
// with the numbers of messages for their ids, the models and who else wrote a message, and "open" if the last one is.
func TestAntigravity(t *testing.T) {
	const chosen = "<USER_SETTINGS_CHANGE>\\nThe user changed setting `Model Selection` from None to "
	for _, c := range []struct{ name, steps, want string }{
		{"the model of an answer", `
0 USER_INPUT DONE "content":"<USER_REQUEST>\na\n</USER_REQUEST>\n` + chosen + `Pro 3.1 (High). No need to comment on this change.\n</USER_SETTINGS_CHANGE>"
1 PLANNER_RESPONSE DONE "content":"b"
2 PLANNER_RESPONSE DONE "content":"c","model":"gemini-x"
3 USER_INPUT DONE "content":"<USER_REQUEST>\n` + chosen + `Typed\n</USER_REQUEST>"
4 PLANNER_RESPONSE DONE "content":"d"
5 USER_INPUT DONE "content":"` + chosen + `Typed"
6 PLANNER_RESPONSE DONE "content":"e"
7 USER_INPUT DONE "content":"<USER_REQUEST>\n</USER_REQUEST>\n` + chosen + `A.\n` + chosen + `B.\n</USER_SETTINGS_CHANGE>"
8 PLANNER_RESPONSE DONE "content":"f"`, `0<- user 1: text "a"
1<0 assistant 1: text "b"
2<1 assistant 1: text "c"
3<2 user 1: text "` + chosen + `Typed"
4<3 assistant 1: text "d"
5<4 user 1: text "` + chosen + `Typed"
6<5 assistant 1: text "e"
7<6 user 1:
8<7* assistant 1: text "f"
1 Pro 3.1 (High), 2 gemini-x, 4 Pro 3.1 (High), 6 Pro 3.1 (High), 8 B`},
		{"the last step runs", `
0 USER_INPUT DONE "content":"a"
1 PLANNER_RESPONSE RUNNING "content":"b"
2 KNOWLEDGE_ARTIFACTS RUNNING "content":"c"`, `0<- user 1: text "a"
1<0* assistant 2: text "b"
open`},
		{"a step that runs is not the last", `
0 USER_INPUT DONE "content":"a"
1 PLANNER_RESPONSE RUNNING "content":"b"
2 USER_INPUT DONE "content":"c"`, `0<- user 1: text "a"
1<0 assistant 1: text "b"
2<1* user 1: text "c"
`},
		{"a step ends, and is there once more", `
0 USER_INPUT DONE "content":"a"
1 PLANNER_RESPONSE RUNNING "content":"b"
1 PLANNER_RESPONSE RUNNING "content":"b c"
1 PLANNER_RESPONSE DONE "content":"b c d"
1 PLANNER_RESPONSE DONE "content":"b c d"
2 USER_INPUT DONE "content":"e"
1 PLANNER_RESPONSE DONE "content":"f"`, `0<- user 1: text "a"
1<0 assistant 4: text "b c d"
2<1 user 1: text "e"
3<0* assistant 1: text "f"
`},
		{"a step of another branch is there again", `
0 USER_INPUT DONE "content":"a"
1 PLANNER_RESPONSE DONE "content":"b"
2 USER_INPUT DONE "content":"c"
1 PLANNER_RESPONSE DONE "content":"d"
1 PLANNER_RESPONSE DONE "content":"b"
2 USER_INPUT DONE "content":"c"
3 PLANNER_RESPONSE DONE "content":"e"`, `0<- user 1: text "a"
1<0 assistant 1: text "b"
2<1 user 1: text "c"
3<0 assistant 3: text "d"
4<2* assistant 1: text "e"
`},
		{"calls without results, results without calls", `
0 USER_INPUT DONE "content":"a"
1 PLANNER_RESPONSE DONE "tool_calls":[{"name":"x"},null,{"name":"y","args":{"p":"[1]","q":"no JSON"}},{"name":"z","args":7},{"name":"p","args":{"q":"404","r":"true"}},{"name":"e","args":{"q":"\"404\"","r":"true"}}]
2 VIEW_FILE ERROR "content":"b"
3 USER_INPUT DONE "content":"c"
4 VIEW_FILE DONE "content":"d"
5 PLANNER_RESPONSE DONE "content":"e","tool_calls":null
6 PLANNER_RESPONSE DONE "content":"f","tool_calls":{"name":"x"}`, `line 7: the member tool_calls of the step is not a list
0<- user 1: text "a"
1<0 assistant 1: tool-call 1-1 x {} tool-call 1-2 y {"p":"[1]","q":"no JSON"} tool-call 1-3 z 7 tool-call 1-4 p {"q":"404","r":"true"} tool-call 1-5 e {"q":"404","r":true}
2<1 user 1: tool-result 1-1 x failed "b"
3<2 user 1: text "c"
4<3 user 1: text "d"
5<4 assistant 1: text "e"
6<5* assistant 1: text "f"
4 system`},
		{"a repeated prompt changes no model", `
0 USER_INPUT DONE "content":"<USER_REQUEST>\na\n</USER_REQUEST>\n` + chosen + `A.\n</USER_SETTINGS_CHANGE>"
1 PLANNER_RESPONSE DONE "content":"b"
2 USER_INPUT DONE "content":"<USER_REQUEST>\nc\n</USER_REQUEST>\n` + chosen + `B.\n</USER_SETTINGS_CHANGE>"
0 USER_INPUT DONE "content":"<USER_REQUEST>\na\n</USER_REQUEST>\n` + chosen + `A.\n</USER_SETTINGS_CHANGE>"
3 PLANNER_RESPONSE DONE "content":"d"`, `0<- user 1: text "a"
1<0 assistant 1: text "b"
2<1 user 2: text "c"
3<2* assistant 1: text "d"
1 A, 3 B`},
		{"tools that run at once", `
0 USER_INPUT DONE "content":"a"
1 PLANNER_RESPONSE DONE "tool_calls":[{"name":"x"},{"name":"y"},{"name":"z"}]
2 RUN_COMMAND RUNNING "content":"b"
3 RUN_COMMAND RUNNING "content":"c"
2 RUN_COMMAND DONE "content":"b d"
3 RUN_COMMAND DONE "content":"c e"
3 RUN_COMMAND DONE "content":"c e"
4 RUN_COMMAND DONE "content":"f"
5 PLANNER_RESPONSE DONE "content":"g"
6 USER_INPUT DONE "content":"h"
2 RUN_COMMAND DONE "content":"i"`, `0<- user 1: text "a"
1<0 assistant 1: tool-call 1-1 x {} tool-call 1-2 y {} tool-call 1-3 z {}
2<1 user 1: tool-result 1-1 x "b"
3<2 user 1: tool-result 1-2 y "c"
4<3 user 1: text "b d"
5<4 user 2: text "c e"
6<5 user 1: tool-result 1-3 z "f"
7<6 assistant 1: text "g"
8<7 user 1: text "h"
9<1* user 1: tool-result 1-1 x "i"
4 system, 5 system`},
		{"an answer that ends after its tools", `
0 USER_INPUT DONE "content":"a"
1 PLANNER_RESPONSE RUNNING "content":"b","tool_calls":[{"name":"x"},{"name":"y"}]
2 RUN_COMMAND DONE "content":"c"
1 PLANNER_RESPONSE DONE "content":"b d","tool_calls":[{"name":"x"},{"name":"y"}]
3 RUN_COMMAND DONE "content":"e"
1 PLANNER_RESPONSE DONE "content":"b d","tool_calls":[{"name":"x"},{"name":"y"}]
4 PLANNER_RESPONSE DONE "content":"f"`, `0<- user 1: text "a"
1<0 assistant 1: text "b" tool-call 1-1 x {} tool-call 1-2 y {}
2<1 user 1: tool-result 1-1 x "c"
3<2 assistant 1: text "b d"
4<3 user 2: tool-result 1-2 y "e"
5<4* assistant 1: text "f"
`},
		{"a running step that a step of another number or type follows is not replaced", `
0 USER_INPUT DONE "content":"a"
1 PLANNER_RESPONSE RUNNING "content":"b"
1 RUN_COMMAND DONE "content":"c"
5 USER_INPUT RUNNING "content":"d"
3 USER_INPUT DONE "content":"e"`, `0<- user 1: text "a"
1<0 assistant 1: text "b"
2<0 user 1: text "c"
3<2 user 1: text "d"
4<2* user 1: text "e"
2 system`},
		{"a running step of another branch ends", `
0 USER_INPUT DONE "content":"a"
1 PLANNER_RESPONSE RUNNING "content":"b"
0 USER_INPUT DONE "content":"c"
1 PLANNER_RESPONSE DONE "content":"d"
0 USER_INPUT DONE "content":"a"
1 PLANNER_RESPONSE RUNNING "content":"b"
1 PLANNER_RESPONSE DONE "content":"b e"`, `0<- user 1: text "a"
1<0 assistant 1: text "b"
2<- user 1: text "c"
3<2 assistant 3: text "d"
4<1* assistant 1: text "b e"
`},
		{"the last message is running, and the path is on another branch", `
0 USER_INPUT DONE "content":"a"
2 USER_INPUT DONE "content":"b"
2 USER_INPUT DONE "content":"c"
3 PLANNER_RESPONSE RUNNING "content":"d"
2 USER_INPUT DONE "content":"b"`, `0<- user 1: text "a"
1<0* user 1: text "b"
2<0 user 1: text "c"
3<2 assistant 2: text "d"
open`},
		{"a running step ends without content", `
0 USER_INPUT DONE "content":"a"
1 PLANNER_RESPONSE RUNNING "content":"b"
1 PLANNER_RESPONSE DONE "content":""`, `0<- user 1: text "a"
1<0* assistant 2: text "b"
`},
		{"a canceled step does not run", `
0 USER_INPUT DONE "content":"a"
1 PLANNER_RESPONSE CANCELED "content":"b"
1 PLANNER_RESPONSE CANCELED "content":"c"`, `0<- user 1: text "a"
1<0 assistant 1: text "b"
2<0* assistant 1: text "c"
`},
		{"a step is repeated within its branch", `
0 USER_INPUT DONE "content":"a"
1 PLANNER_RESPONSE DONE "content":"b"
2 PLANNER_RESPONSE DONE "content":"c"
1 PLANNER_RESPONSE DONE "content":"b"
3 PLANNER_RESPONSE DONE "content":"d"`, `0<- user 1: text "a"
1<0 assistant 1: text "b"
2<1 assistant 2: text "c"
3<2* assistant 1: text "d"
`},
		{"numbers that are none", `
0 USER_INPUT DONE "content":"a"
1.2 PLANNER_RESPONSE DONE "content":"b"
1.7 PLANNER_RESPONSE DONE "content":"c"
-1 PLANNER_RESPONSE DONE "content":"d"
null PLANNER_RESPONSE DONE "content":"e"
1e300 PLANNER_RESPONSE DONE "content":"f"`, `0<- user 1: text "a"
1<0 assistant 1: text "b"
2<1 assistant 1: text "c"
3<2 assistant 1: text "d"
4<3 assistant 1: text "e"
5<4* assistant 1: text "f"
`},
		{"errors, and steps that are no results", `
0 USER_INPUT DONE "content":"a"
1 PLANNER_RESPONSE DONE "tool_calls":[{"name":"x"}]
2 VIEW_FILE DONE "source":"USER_IMPLICIT","content":"b"
3 NOTIFY_USER DONE "source":"SYSTEM","content":"c"
4 ERROR_MESSAGE DONE "error":"d"
5 TOOL_RESPONSE ERROR "source":"SYSTEM","content":"e","error":"f"
6 PLANNER_RESPONSE ERROR "error":"g"
7 PLANNER_RESPONSE ERROR "content":"","thinking":"h","error":"i"`, `0<- user 1: text "a"
1<0 assistant 1: tool-call 1-1 x {}
2<1 user 1: text "b"
3<2 user 1: text "c"
4<3 user 1: text "d"
5<4 user 1: tool-result 1-1 x failed "e\nf"
6<5 user 1: text "g"
7<6* assistant 1: thinking "h"
2 system, 3 system, 4 system, 6 system`},
		{"content that is not text", `
0 USER_INPUT DONE "content":["a"]
1 KNOWLEDGE_ARTIFACTS DONE "content":["a"]
2 PLANNER_RESPONSE DONE "content":null,"thinking":"b"`, `line 1: the member content of the step is not text
0<- user 2:
1<0* assistant 1: thinking "b"
`},
	} {
		var lines strings.Builder
		for _, step := range strings.Split(strings.TrimPrefix(c.steps, "\n"), "\n") {
			member := strings.SplitN(step, " ", 4)
			fmt.Fprintf(&lines, `{%[4]s,"step_index":%[1]s,"source":"MODEL","type":%[2]q,"status":%[3]q,"created_at":"2026-07-01T08:00:00Z"}`+"\n",
				member[0], member[1], member[2], member[3]) // of a member that is there twice, the first counts
		}
		in := lines.String()
		list, problems, err := antigravityFormat.ReadAll(strings.NewReader(in))
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %d conversations, %v", c.name, len(list), err)
		}
		got, authors := "", []string{}
		for _, p := range problems {
			got += fmt.Sprintf("line %d: %s\n", p.Line, p.What)
		}
		got += drawn(list[0])
		for i, m := range list[0].Messages {
			got = strings.ReplaceAll(got, m.ID, fmt.Sprint(i))
			if of := cmp.Or(m.Model, m.Own.Role); of != "" {
				authors = append(authors, fmt.Sprint(i, " ", of))
			}
		}
		if got += strings.Join(authors, ", "); list[0].Messages[len(list[0].Messages)-1].Open {
			got += "open"
		}
		if got != c.want {
			t.Errorf("%s is read as\n%s\nwant\n%s", c.name, got, c.want)
		}
		untimed, _, _ := antigravityFormat.ReadAll(strings.NewReader(strings.ReplaceAll(in, "created_at", "ended_at")))
		if list[0].Anonymous || !untimed[0].Anonymous {
			t.Errorf("%s: with times, it is anonymous: %v, without: %v", c.name, list[0].Anonymous, untimed[0].Anonymous)
		}
	}
}

// TestAntigravityFolders: the folder says which conversation a transcript has, and those without one are counted.
func TestAntigravityFolders(t *testing.T) {
	const id = "0f000000-0000-4000-8000-000000000001"
	for file, want := range map[string]string{
		"/home/ann/.gemini/antigravity/brain/" + id + "/.system_generated/logs/transcript_full.jsonl": id,
		"brain/" + id + "/.system_generated/logs/transcript.jsonl":                                    id,
		"brain/" + id + "/.system_generated/logs/other.jsonl":                                         "",
		"/tmp/" + id + "/.system_generated/logs/transcript_full.jsonl":                                "",
		"brain/transcript_full.jsonl":                                                                 "",
		"transcript_full.jsonl":                                                                       "",
	} {
		if got, begunBy := antigravityFormat.Identify(filepath.FromSlash(file)); got != want || begunBy != "" {
			t.Errorf("%s has the conversation %q, begun by %q, want %q", file, got, begunBy, want)
		}
	}
	names := map[string][]string{
		"/home/ann/.gemini/antigravity/conversations":                            {"a.pb", "b.pb", "c.txt"},
		"/home/ann/.gemini/antigravity/brain/a/.system_generated/logs":           {"transcript.jsonl", "transcript_full.jsonl"},
		"/home/ann/.gemini/antigravity/brain/b/.system_generated/logs":           {"transcript.jsonl"},
		"/home/ann/.gemini/antigravity-cli/conversations":                        {"d.db"},
		"/home/ann/.gemini/antigravity-cli/brain/another/.system_generated/logs": {"transcript_full.jsonl"},
	}
	m := transcript.Machine{Home: "/home/ann", Names: func(dir string) []string { return names[filepath.ToSlash(dir)] }}
	if got := antigravityFormat.Unread(m); !strings.HasPrefix(got, "2 conversations of Antigravity ") {
		t.Errorf("of two conversations without a transcript, it says %q", got)
	}
	delete(names, "/home/ann/.gemini/antigravity-cli/conversations")
	names["/home/ann/.gemini/antigravity/conversations"] = []string{"a.pb"}
	if got := antigravityFormat.Unread(m); got != "" {
		t.Errorf("of no conversation without a transcript, it says %q", got)
	}
}
