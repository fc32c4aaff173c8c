// Package testtranscript generates random transcripts: files in the forms of other
// programs, with split answers, records that replace others, marks and gaps, and
// conversations to be written. It is the only generator of transcripts; only tests use it.
package testtranscript

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

func oneOf(random *rand.Rand, list ...string) string { return list[random.IntN(len(list))] }

// Codex returns a log whose records for the user and for the model are in random
// order.
func Codex(random *rand.Rand) []byte {
	var b strings.Builder
	b.WriteString(`{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/x"}}` + "\n")
	for range 1 + random.IntN(12) {
		text := oneOf(random, "One", "Two", "Three")
		record := oneOf(random,
			`{"type":"event_msg","payload":{"type":"user_message","message":"%s"}}`,
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"%s"}]}}`,
			`{"type":"event_msg","payload":{"type":"agent_message","message":"%s"}}`,
			`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%s"}]}}`,
			`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","content":[{"text":"%s"}]}}}`,
			`{"type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"%s"}]}}`,
			`{"type":"response_item","payload":{"type":"reasoning","summary":[],"encrypted_content":"%s"}}`,
			`{"type":"event_msg","payload":{"type":"agent_reasoning","text":"%s"}}`,
			`{"type":"response_item","payload":{"type":"function_call","name":"f","arguments":"{}","call_id":"%s"}}`,
			`{"type":"response_item","payload":{"type":"function_call_output","call_id":"%s","output":"said"}}`,
			`{"type":"compacted","payload":{"message":"%s"}}`,
			`{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1,"x":"%s"}}`,
			`{"type":"event_msg","payload":{"type":"task_started","turn_id":"%s"}}`,
			`{"type":"event_msg","payload":{"type":"task_complete","turn_id":"%s"}}`,
			`{"type":"turn_context","payload":{"cwd":"/x","model":"%s"}}`,
			`{"type":"event_msg","payload":{"type":"token_count","info":"%s"}}`,
		)
		fmt.Fprintf(&b, record+"\n", text)
	}
	return []byte(b.String())
}

// Gemini returns a chat with records that replace others, lists of all messages,
// and marks.
func Gemini(random *rand.Rand) []byte {
	var b strings.Builder
	b.WriteString(`{"sessionId":"s","projectHash":"0"}` + "\n")
	const context = `{"id":"env","type":"user","content":[{"text":"<session_context>x</session_context>"}]}`
	const result = `{"functionResponse":{"id":"c%[1]d","name":"f","response":{"output":"said"}}}`
	var live []string
	for n := range 1 + random.IntN(12) {
		said := oneOf(random, "One", "Two", "/three")
		answer := `{"id":"m%[1]d","type":"gemini","content":"%[2]s"}`
		called := `{"id":"m%[1]d","type":"gemini","content":"%[2]s","toolCalls":[{"id":"c%[1]d","name":"f","args":{}}]}`
		answered := `{"id":"m%[1]d","type":"gemini","content":"%[2]s","toolCalls":[{"id":"c%[1]d","name":"f","args":{},"result":[` + result + `]}]}`
		put := func(format string) { fmt.Fprintf(&b, format+"\n", n, said) }
		switch random.IntN(9) {
		case 0, 1:
			put(`{"id":"m%[1]d","type":"user","content":[{"text":"%[2]s"}]}`)
			live = append(live, fmt.Sprintf(`{"id":"m%[1]d","type":"user","content":[{"text":"%[2]s"}]}`, n, said))
		case 2, 3:
			put(answer)
			last := answer
			if random.IntN(2) == 0 {
				put(called)
				put(answered)
				put(`{"id":"r%[1]d","type":"user","content":[` + result + `]}`)
				last = answered
			}
			live = append(live, fmt.Sprintf(last, n, said))
		case 8: // an earlier or new message with other text; calls are kept
			if k := random.IntN(n + 1); !strings.Contains(b.String(), fmt.Sprintf(`"c%d"`, k)) {
				fmt.Fprintf(&b, `{"id":"m%d","type":"gemini","content":"Four"}`+"\n", k)
			}
		case 4:
			put(`{"id":"n%[1]d","type":"info","content":"%[2]s"}`)
		case 5:
			put(`{"$set":{"summary":"%[2]s"}}`)
		case 6:
			if len(live) > 0 {
				k := random.IntN(len(live))
				var id int
				fmt.Sscanf(live[k], `{"id":"m%d"`, &id)
				fmt.Fprintf(&b, `{"$rewindTo":"m%d"}`+"\n", id)
				live = live[:k]
			}
		case 7:
			if random.IntN(2) == 0 {
				b.WriteString(`{"$set":{"messages":[` + context + `]}}` + "\n")
			}
			if len(live) > 0 && random.IntN(3) == 0 {
				live = live[:random.IntN(len(live))]
			}
			list := append([]string{context}, live...)
			b.WriteString(`{"$set":{"messages":[` + strings.Join(list, ",") + `]}}` + "\n")
		}
	}
	b.WriteString(`{"id":"end","type":"user","content":"End"}` + "\n")
	return []byte(b.String())
}

// OpenCode returns an export whose last answer is incomplete.
func OpenCode(random *rand.Rand) []byte {
	var list []string
	for n := range 1 + random.IntN(6) {
		parts := []string{`{"type":"text","text":"One"}`}
		for range random.IntN(4) {
			parts = append(parts, oneOf(random, `{"type":"step-start"}`, `{"type":"text","text":"Two"}`,
				`{"type":"tool","tool":"f","callID":"c","state":{"status":"completed","input":{},"output":"said"}}`,
				`{"type":"tool","tool":"f","callID":"d","state":{"status":"running","input":{}}}`))
		}
		role := []string{"user", "assistant"}[n%2]
		list = append(list, fmt.Sprintf(`{"info":{"id":"msg_%d","role":"%s","time":{"created":%d,"completed":%d}},"parts":[%s]}`, n, role, n, n, strings.Join(parts, ",")))
	}
	return []byte(`{"info":{"id":"ses_1"},"messages":[` + strings.Join(list, ",\n") + `],"x":1}`)
}

// ChatGPT returns a tree with nodes in random order, including calls.
func ChatGPT(random *rand.Rand) []byte {
	type node struct{ id, author, parent string }
	nodes := []node{{id: "root"}}
	children := map[string][]string{}
	for n := range 1 + random.IntN(8) {
		author := oneOf(random, `"author":{"role":"user"},"recipient":"all"`, `"author":{"role":"assistant"},"recipient":"all"`,
			`"author":{"role":"assistant"},"recipient":"python"`, `"author":{"role":"tool","name":"python"},"recipient":"all"`)
		parent := nodes[random.IntN(len(nodes))].id
		nodes = append(nodes, node{fmt.Sprint("n", n), author, parent})
		children[parent] = append(children[parent], fmt.Sprintf("%q", nodes[len(nodes)-1].id))
	}
	random.Shuffle(len(nodes), func(i, k int) { nodes[i], nodes[k] = nodes[k], nodes[i] })
	list := make([]string, len(nodes))
	for i, n := range nodes {
		message, parent := "null", "null"
		if n.author != "" {
			message = fmt.Sprintf(`{"id":"%[1]s",%[2]s,"create_time":%[3]d,"content":{"content_type":"text","parts":["%[1]s"]}}`, n.id, n.author, 1700000000+len(n.id)*100+int(n.id[len(n.id)-1]))
			parent = fmt.Sprintf("%q", n.parent)
		}
		list[i] = fmt.Sprintf(`"%[1]s":{"id":"%[1]s","message":%[2]s,"parent":%[3]s,"children":[%[4]s]}`, n.id, message, parent, strings.Join(children[n.id], ","))
	}
	return []byte(`[{"title":"T","mapping":{` + strings.Join(list, ",\n") + `},"current_node":"root"}]`)
}

// Anthropic returns a request with its members in random order.
func Anthropic(random *rand.Rand) []byte {
	members := []string{
		`"messages":[{"role":"user","content":"One"},` + "\n" + `{"role":"assistant","content":"Two"},` + "\n" + `{"role":"user","content":"Three"}]`,
		`"model":"claude-x"`, `"max_tokens":7`,
	}
	if random.IntN(3) > 0 {
		members = append(members, `"system":"Be brief."`)
	}
	random.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
	return []byte("{" + strings.Join(members, ",\n") + "}")
}
