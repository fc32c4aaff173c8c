package convert

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// rawPi: a message is an entry of type message with a role of pi, an entry of type
// custom_message or compaction, or a branch_summary with a summary. Its parent is the
// nearest message above its parentId, or the message before it in the file if it has no id.
// The text in which pi describes a command that ran to the model is derived.
func rawPi(data []byte) *rawCount {
	c := newRawCount()
	c.derived = func(s string) bool { return strings.HasPrefix(s, "Ran `") }
	var nodes []rawNode
	last, n := "", 0
	for _, r := range rawLines(data) {
		node := rawNode{id: rawString(r, "id"), parent: rawString(r, "parentId")}
		said := r["message"]
		switch rawString(r, "type") {
		case "session":
			continue
		case "message":
			node.messages = 1
			switch rawString(said, "role") {
			case "user", "custom", "hookMessage", "assistant", "system":
				c.says(rawTexts(rawGet(said, "content"))...)
				sections, _ := rawGet(said, "sections").(map[string]any)
				for _, s := range sections {
					c.says(rawTexts(s)...)
				}
			case "toolResult", "bashExecution":
			case "compactionSummary", "branchSummary":
				c.says(rawString(said, "summary"))
			default:
				node.messages = 0
			}
		case "custom_message":
			node.messages = 1
			c.says(rawTexts(r["content"])...)
		case "compaction", "branch_summary":
			if s := rawString(r, "summary"); s != "" || r["type"] == "compaction" {
				node.messages = 1
				c.says(s)
			}
		}
		if node.id == "" {
			n++
			node.id, node.parent = strings.Repeat("-", n), last
		}
		if node.messages > 0 {
			last = node.id
		}
		nodes = append(nodes, node)
	}
	c.tree(nodes)
	return c
}

// rawClaude: a message is a record of type user or assistant whose content is a string or
// an array of objects, or an attachment queued_command with a prompt; of two with one uuid
// the first counts. Records of the model with one message.id and no other message between
// them are one message. Local commands, their output and texts that a resume adds are none
// ([rawClaudeAdded]).
//
// The main chain has one leaf, and one more for each prompt of the user that goes back:
// after a record that already has such a prompt after it, or a root after the first, unless
// the program made it: after a hook of SessionStart or /clear, of a plan, or where no
// answer has a link. The leaves of sidechains do not count, except in a file with nothing
// else; no leaf counts if a message has no uuid, because its position depends on too many
// rules.
func rawClaude(data []byte) *rawCount {
	c := newRawCount()
	by := map[string]map[string]any{}
	said := map[string]bool{}
	prompted := map[string]bool{}
	linked, main, forks, roots, mains := false, "", 0, 0, 0
	for _, r := range rawLines(data) {
		if s := rawString(r, "uuid"); s != "" && by[s] == nil {
			by[s] = r
		}
		if r["type"] == "assistant" && by[rawString(r, "parentUuid")] != nil {
			linked = true
		}
	}
	for _, r := range rawLines(data) {
		id, kind := rawString(r, "uuid"), rawString(r, "type")
		texts, ok := rawClaudeSaid(r)
		if !ok || id != "" && said[id] {
			continue
		}
		said[id] = true
		c.says(texts...)
		side := r["isSidechain"] == true
		c.aside[id] = side
		if !side {
			mains++
		}
		piece := ""
		if kind == "assistant" {
			piece = rawString(r, "message", "id")
		}
		if piece == "" || piece != main {
			c.messages++
		}
		main = piece
		if side || kind == "assistant" || r["isMeta"] == true || r["isCompactSummary"] == true || rawHasResult(r) {
			continue
		}
		at, fresh, steps := r, rawString(r, "planContent") != "" || !linked, 0
		for at = rawClaudeUp(by, at); at != nil && steps <= len(by); steps++ {
			if _, ok := rawClaudeSaid(at); ok {
				break
			}
			text := rawString(at, "message", "content")
			fresh = fresh || strings.Contains(text, "<command-name>/clear<") ||
				rawString(at, "data", "hookEvent") == "SessionStart" || rawString(at, "attachment", "hookEvent") == "SessionStart"
			if above := rawClaudeUp(by, at); above == nil && at["parentUuid"] != nil {
				fresh = true // its parent is not in the file
			} else {
				r = at
			}
			at = rawClaudeUp(by, at)
		}
		if at != nil {
			if key := rawString(at, "uuid"); prompted[key] {
				forks++
			} else {
				prompted[key] = true
			}
		} else if r["parentUuid"] == nil && !fresh {
			if roots++; roots > 1 {
				forks++
			}
		}
	}
	switch c.ends = 1 + forks; {
	case said[""]:
		c.ends = -1
	case mains == 0:
		c.ends, c.aside = min(c.messages, 1), map[string]bool{}
	}
	return c
}

func rawClaudeUp(by map[string]map[string]any, r map[string]any) map[string]any {
	parent := rawString(r, "parentUuid")
	if parent == "" {
		parent = rawString(r, "logicalParentUuid")
	}
	return by[parent]
}

func rawHasResult(r map[string]any) bool {
	return slices.ContainsFunc(rawList(r, "message", "content"), func(b any) bool { return rawString(b, "type") == "tool_result" })
}

func rawClaudeSaid(r map[string]any) (texts []string, ok bool) {
	switch rawString(r, "type") {
	case "user", "assistant":
		said := rawGet(r, "message", "content")
		_, is := said.(string)
		if list, ok := said.([]any); ok {
			is = !slices.ContainsFunc(list, func(b any) bool { _, ok := b.(map[string]any); return !ok })
		}
		return rawTexts(said), is && !rawClaudeAdded(r)
	case "attachment":
		prompt := rawGet(r, "attachment", "prompt")
		_, list := prompt.([]any)
		return rawTexts(prompt), rawString(r, "attachment", "type") == "queued_command" && (list || rawString(prompt) != "")
	}
	return nil, false
}

// rawClaudeAdded reports whether a record is a command with one of a few names that act on
// the terminal, without the message that commands for the model begin with; or the output
// of one, or a caveat, or a resume's "Continue from where you left off." and its answer.
func rawClaudeAdded(r map[string]any) bool {
	texts := rawTexts(rawGet(r, "message", "content"))
	if len(texts) != 1 {
		return false
	}
	said := strings.TrimSpace(texts[0])
	if rawString(r, "message", "model") == "<synthetic>" {
		return said == "No response requested."
	}
	if r["isMeta"] == true {
		return said == "Continue from where you left off." || strings.HasPrefix(said, "<local-command-caveat>") || strings.HasPrefix(said, "Caveat: The messages below")
	}
	if r["type"] != "user" {
		return false
	}
	for _, name := range []string{"clear", "model", "exit", "mcp", "status", "config", "cost", "login", "resume", "context", "rewind", "add-dir", "permissions", "rename", "plugin", "fast", "usage", "ide", "help"} {
		start := "<command-name>/" + name + "</command-name>"
		if strings.HasPrefix(said, start) && (said == start || strings.HasSuffix(said, ">")) {
			return true
		}
	}
	return strings.HasPrefix(said, "<local-command-stdout>") || strings.HasPrefix(said, "<local-command-stderr>")
}

// rawCodex: a message is an item of type message with the role user or assistant and a text
// that the program did not inject, a call, an output, and a record compacted; an event with
// a text that no item of its role has; and thoughts that no item of the model follows
// before another message. Records that repeat a text are none. thread_rolled_back removes
// as many prompts as it says.
func rawCodex(data []byte) *rawCount {
	c := newRawCount()
	type item struct {
		kind, role string
		texts      []string
	}
	var items []item
	told := map[string]string{} // all texts of the items of a role
	all := rawLines(data)
	for pass := range 2 {
		for _, r := range all {
			kind, p := rawString(r, "type"), r["payload"]
			if _, ok := p.(map[string]any); !ok && kind != "" {
				kind, p = "response_item", r
			}
			var i item
			switch i.kind = rawString(p, "type"); {
			case r["again"] == true:
				continue
			case kind == "compacted":
				i.kind, i.role, i.texts = "compacted", "user", []string{rawString(p, "message")}
			case kind == "event_msg" && i.kind == "thread_rolled_back":
				n, _ := rawGet(p, "num_turns").(float64)
				i.texts = make([]string, int(n))
			case kind == "event_msg":
				i.role = map[string]string{"user_message": "user", "agent_message": "assistant"}[i.kind]
				text := rawString(p, "message")
				if i.role == "" || strings.TrimSpace(text) == "" || pass == 1 && strings.Contains(told[i.role], strings.TrimSpace(text)) {
					continue
				}
				i.kind, i.texts = "event", []string{text}
			case kind != "response_item":
				continue
			case i.kind == "message":
				i.role, i.texts = rawString(p, "role"), rawTexts(rawGet(p, "content"))
				if i.role != "user" && i.role != "assistant" || i.role == "user" && len(i.texts) > 0 && rawCodexInjected(i.texts[0]) {
					continue
				}
				told[i.role] += strings.Join(i.texts, "") + "\x00"
			case i.kind == "function_call", i.kind == "custom_tool_call", i.kind == "local_shell_call", i.kind == "reasoning":
				i.role = "assistant"
			case i.kind == "function_call_output", i.kind == "custom_tool_call_output":
				i.role = "output"
			default:
				continue
			}
			if pass == 1 {
				items = append(items, i)
			}
		}
	}
	var nodes []rawNode
	var live []int
	prompts := map[int]bool{}
	say := func(i item) {
		n := rawNode{id: strings.Repeat("n", len(nodes)+1), messages: 1}
		if len(live) > 0 {
			n.parent = nodes[live[len(live)-1]].id
		}
		prompts[len(nodes)] = i.role == "user" && i.kind != "compacted"
		live = append(live, len(nodes))
		nodes = append(nodes, n)
		c.says(i.texts...)
	}
	thinks := false
	for _, i := range append(items, item{kind: "end"}) {
		if i.kind == "reasoning" {
			thinks = true
			continue
		}
		if thinks && i.role != "assistant" {
			say(item{role: "assistant"})
		}
		thinks = false
		switch i.kind {
		case "end":
		case "thread_rolled_back":
			for range i.texts {
				at := len(live) - 1
				for at >= 0 && !prompts[live[at]] {
					at--
				}
				if at >= 0 {
					live = live[:at]
				}
			}
		default:
			say(i)
		}
	}
	c.tree(nodes)
	return c
}

func rawCodexInjected(text string) bool {
	text = strings.TrimSpace(text)
	for _, start := range []string{"<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>", "<permissions instructions>", "<user_shell_command>"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// rawCopilot: a message is an event user.message or assistant.message that is not empty, a
// tool.execution_complete, or a session.compaction_complete with a summary. Each assistant has
// one path, which ends in a leaf. The output of a command that the user ran is a text of the user.
func rawCopilot(data []byte) *rawCount {
	c := newRawCount()
	asked := map[string]string{}
	agents := map[string]bool{}
	for _, r := range rawLines(data) {
		said := rawGet(r, "data")
		switch kind := rawString(r, "type"); kind {
		case "tool.user_requested":
			asked[rawString(said, "toolCallId")] = rawString(said, "arguments", "command")
			continue
		case "user.message", "assistant.message":
			text := rawString(said, "content")
			if text == "" && len(rawList(said, "attachments"))+len(rawList(said, "toolRequests")) == 0 && rawString(said, "reasoningText") == "" ||
				strings.HasPrefix(rawString(said, "source"), "skill-") {
				continue
			}
			c.says(text)
		case "tool.execution_complete":
			if command, ok := asked[rawString(said, "toolCallId")]; ok {
				c.says("Ran `" + command + "`\n" + rawString(said, "result", "content"))
			}
		case "session.compaction_complete":
			if rawString(said, "summaryContent") == "" {
				continue
			}
			c.says(rawString(said, "summaryContent"))
		default:
			continue
		}
		c.messages++
		agents[cmp.Or(rawString(r, "agentId"), rawString(said, "parentToolCallId"))] = true
	}
	c.ends = len(agents)
	return c
}

// rawCline: a message is an element of the array, or of the member messages, with a role. They
// follow each other. Texts are those of blocks of type text, or the content.
func rawCline(data []byte) *rawCount {
	c := newRawCount()
	var v any
	if c.torn = json.Unmarshal(data, &v) != nil; c.torn {
		return c
	}
	list, ok := v.([]any)
	if !ok {
		list = rawList(v, "messages")
	}
	for _, m := range list {
		if rawString(m, "role") == "" {
			continue
		}
		c.messages++
		c.ends = 1
		c.says(rawString(m, "content"))
		for _, block := range rawList(m, "content") {
			if rawString(block, "type") == "text" {
				c.says(rawString(block, "text"))
			}
		}
	}
	return c
}

// rawGemini: texts count once each, because later records replace others: each text of a
// message of type user or gemini, or of a history, that is not a thought and not the
// context that the program puts first.
//
// A message has one of these types, and is followed by another one if it has results of
// calls; a message that only answers calls with known results is none. A record with an id
// of the current chat replaces the record with that id, and $rewindTo goes back to before
// the named one, or to the beginning if that is not in the chat. Messages and leaves are
// not counted in a log that was resumed or set again, because they depend on too many
// rules.
func rawGemini(data []byte) *rawCount {
	c := newRawCount()
	c.once = true
	says := func(s string) {
		if !strings.HasPrefix(s, "<session_context>") {
			c.says(s)
		}
	}
	add := func(said any) {
		if s, ok := said.(string); ok {
			says(s)
		}
		list, _ := said.([]any)
		for _, p := range list {
			if s, ok := p.(string); ok {
				says(s)
			} else if rawGet(p, "thought") != true {
				says(rawString(p, "text"))
			}
		}
	}
	var nodes []rawNode
	var live []string             // ids
	at := map[string]int{}        // the nodes of live
	answered := map[string]bool{} // calls
	anew := false
	place := func(id string, v any) {
		n := 1
		for _, call := range rawList(v, "toolCalls") {
			if result := rawGet(call, "result"); result != nil {
				n, answered[rawString(call, "id")] = 2, rawString(call, "id") != ""
			}
		}
		parts := rawList(v, "content")
		if len(parts) > 0 && !slices.ContainsFunc(parts, func(p any) bool { return !answered[rawString(p, "functionResponse", "id")] }) {
			n = 0
		}
		if i, ok := at[id]; ok {
			nodes[i].messages = max(n, nodes[i].messages)
			return
		}
		node := rawNode{id: strings.Repeat("n", len(nodes)+1), messages: n}
		if len(live) > 0 {
			node.parent = nodes[at[live[len(live)-1]]].id
		}
		at[id], live, nodes = len(nodes), append(live, id), append(nodes, node)
	}
	message := func(v any) {
		if kind := rawString(v, "type"); kind == "user" || kind == "gemini" {
			place(rawString(v, "id"), v)
		}
		if kind := rawString(v, "type"); kind == "user" || kind == "gemini" {
			add(rawGet(v, "content"))
		}
	}
	all := rawLines(data)
	var whole map[string]any
	if json.Unmarshal(data, &whole) == nil {
		all = []map[string]any{whole}
	}
	for _, r := range all {
		if to, ok := r["$rewindTo"].(string); ok {
			cut := max(slices.Index(live, to), 0)
			for _, id := range live[cut:] {
				delete(at, id)
			}
			live = live[:cut]
		}
		anew = anew || rawGet(r, "$set", "messages") != nil || r["messages"] != nil && whole == nil
		message(r)
		for _, list := range [][]any{rawList(r, "messages"), rawList(r, "$set", "messages")} {
			for _, m := range list {
				message(m)
			}
		}
		for _, m := range rawList(r, "history") {
			add(rawGet(m, "parts"))
			place(strings.Repeat("h", len(nodes)+1), nil)
		}
	}
	if c.tree(nodes); anew {
		c.messages, c.ends = -1, -1
	}
	return c
}

// rawOpenCode: a message has the role user or assistant and a part with content: a text
// that is not ignored, a thought, a file, a call. If calls have outputs, these are one more
// message, and parts after them, or in a later step, are another one. An export is one
// path.
func rawOpenCode(data []byte) *rawCount {
	c := newRawCount()
	var v map[string]any
	if json.Unmarshal(data, &v) != nil {
		c.torn = true
		return c
	}
	for _, m := range rawList(v, "messages") {
		if role := rawString(m, "info", "role"); role != "user" && role != "assistant" {
			continue
		}
		open, outputs := false, false
		for _, p := range rawList(m, "parts") {
			kind := rawString(p, "type")
			switch {
			case kind == "step-start":
				if outputs {
					c.messages, open, outputs = c.messages+1, false, false
				}
				continue
			case kind == "text" && rawGet(p, "ignored") != true && rawString(p, "text") != "":
				c.says(rawString(p, "text"))
			case kind == "reasoning", kind == "file", kind == "tool":
			default:
				continue
			}
			if outputs && kind != "tool" {
				c.messages, open, outputs = c.messages+1, false, false
			}
			if !open {
				c.messages++
			}
			open = true
			status := rawString(p, "state", "status")
			outputs = outputs || status == "completed" || status == "error"
		}
		if outputs {
			c.messages++
		}
	}
	c.ends = min(c.messages, 1)
	return c
}

// rawQwen: a message is a record of a user, an answer, a result or a compression with parts.
// Its parent is the nearest one above it; one whose parent is missing follows the message
// before it in the file, unless the file went back. Records with the id of the one before
// continue it.
func rawQwen(data []byte) *rawCount {
	c := newRawCount()
	var nodes []rawNode
	known, back := map[string]bool{}, map[string]bool{}
	last := ""
	for _, r := range rawLines(data) {
		kind, id, parent := rawString(r, "type"), rawString(r, "uuid"), rawString(r, "parentUuid")
		parts := rawList(r, "message", "parts")
		if rawString(r, "subtype") == "chat_compression" {
			first := rawList(r, "systemPayload", "compressedHistory")
			if len(first) > 0 {
				parts = rawList(first[0], "parts")
			}
		}
		for _, p := range parts {
			if text := rawString(p, "text"); rawGet(p, "thought") != true && !strings.HasPrefix(text, "<qwen:user-prompt") {
				c.says(text)
			}
		}
		if known[id] {
			continue
		}
		n := rawNode{id: id, parent: parent}
		back[id] = back[parent] || rawString(r, "subtype") == "rewind" && !known[parent]
		if len(parts) > 0 && (kind != "system" || rawString(r, "subtype") == "chat_compression") {
			n.messages = 1
			if parent != "" && !known[parent] {
				n.parent = last
			}
			last = id
		}
		known[id] = true
		nodes = append(nodes, n)
	}
	c.tree(nodes)
	return c
}

// rawSillyTavern: each swipe of a line is a message, or its text if it has none. A line with a
// type that is not shown to the model is none. The next line follows the chosen swipe.
func rawSillyTavern(data []byte) *rawCount {
	c := newRawCount()
	n, last := 0, 0
	for _, r := range rawLines(data) {
		text := rawString(r, "mes") + rawString(r, "mes", "message")
		if text == "" || rawGet(r, "is_system") == true && rawString(r, "extra", "type") != "" {
			continue
		}
		swipes := rawList(r, "swipes")
		if len(swipes) == 0 {
			swipes = []any{text}
		}
		chosen, _ := rawGet(r, "swipe_id").(float64)
		for i, s := range swipes {
			if said, is := s.(string); is && i != int(chosen) {
				c.says(said)
			}
		}
		c.says(text)
		n += len(swipes)
		c.ends += len(swipes)
		if last++; last > 1 {
			c.ends-- // the message before is followed
		}
	}
	c.messages = n
	return c
}

// rawAmp: a message has a text, a block that is no result, a finished result, a summary, or a
// command that is shown. Each thread is one path.
func rawAmp(data []byte) *rawCount {
	c := newRawCount()
	var v any
	if json.Unmarshal(data, &v) != nil {
		c.torn = true
		return c
	}
	for _, m := range rawList(v, "messages") {
		says := false
		for _, b := range rawList(m, "content") {
			status := rawString(b, "run", "status")
			switch rawString(b, "type") {
			case "tool_result":
				says = says || status != "in-progress"
			case "manual_bash_invocation":
				if rawGet(b, "hidden") == nil {
					c.says("Ran `" + rawString(b, "args", "cmd") + "`\n```\n" + rawString(b, "toolRun", "result", "output") + "\n```")
					says = true
				}
			default:
				c.says(rawString(b, "text"), rawString(b, "summary", "summary"))
				says = true
			}
		}
		if says {
			c.messages++
		}
	}
	c.ends = min(c.messages, 1)
	return c
}

var rawRequest = regexp.MustCompile(`(?s)^<USER_REQUEST>\n(.*?)\n</USER_REQUEST>(?:\n<.*)?$`)

// rawAntigravity: a step is a message if it says something, thinks or calls a tool, but for the context of the
// program; a prompt and a result may be empty. A prompt whose number is not above the last one, and a number that is
// repeated, begin a branch, unless the step ends a running one.
func rawAntigravity(data []byte) *rawCount {
	type place struct {
		number   float64 // at least that of the place before
		id, kind string
		running  bool
		waiting  int
	}
	c := newRawCount()
	var nodes []rawNode
	var on []place                                                                              // the branch
	newest, texts, ids, late := "", map[string]string{}, map[string]string{}, map[string]bool{} // ids: of nodes, by steps
	for _, r := range rawLines(data) {
		kind, said, failure := rawString(r, "type"), rawString(r, "content"), rawString(r, "error")
		if kind == "CONVERSATION_HISTORY" || kind == "KNOWLEDGE_ARTIFACTS" || kind == "EPHEMERAL_MESSAGE" {
			continue
		}
		running := rawString(r, "status") == "RUNNING"
		n, numbered := rawGet(r, "step_index").(float64)
		keep := len(on)
		for numbered && keep > 0 && on[keep-1].number >= n {
			keep--
		}
		base, replaces, ends := keep, false, false // base: where its own number is
		if keep < len(on) {
			same := on[keep].number == n && on[keep].running && on[keep].kind == kind
			replaces = same && keep == len(on)-1 && on[keep].id == newest
			ends = same && !replaces && !slices.ContainsFunc(on[keep:], func(p place) bool { return p.kind == "USER_INPUT" })
			if replaces || ends {
				on[keep].running = running
			}
			if !ends && kind != "USER_INPUT" && on[keep].number != n {
				base = len(on)
			}
			if keep = base; ends {
				keep = len(on)
			}
		}
		parent, before, waiting := "", "", 0
		if !numbered {
			n = -1
		}
		if keep > 0 {
			parent, waiting, n = on[keep-1].id, on[keep-1].waiting, max(n, on[keep-1].number)
		}
		if base > 0 {
			before = on[base-1].id
		}
		calls := 0
		for _, call := range rawList(r, "tool_calls") {
			if _, is := call.(map[string]any); is && !ends {
				calls++
			}
		}
		thinks, empty, result := rawString(r, "thinking") != "", false, false
		switch kind {
		case "USER_INPUT":
			if in := rawRequest.FindStringSubmatch(said); in != nil {
				said = in[1]
			}
			waiting = 0
		case "PLANNER_RESPONSE":
			if !ends {
				waiting = calls
			}
			if said == "" && !thinks && calls == 0 {
				said = failure
			}
			empty = said == "" && !thinks && calls == 0
		case "CHECKPOINT":
			empty = said == ""
		default:
			ofProgram := kind == "SYSTEM_MESSAGE" || kind == "ERROR_MESSAGE"
			if result = !ofProgram && !ends && waiting > 0 && (kind == "TOOL_RESPONSE" || rawString(r, "source") == "MODEL"); result {
				waiting--
			}
			if said == "" {
				said = failure
			} else if failure != "" && failure != said {
				said += "\n" + failure
			}
			empty = said == "" && !result
		}
		if empty {
			continue
		}
		step := fmt.Sprintf("%x", sha256.Sum256([]byte(fmt.Sprint(before, r))))
		id, known := ids[step]
		switch {
		case replaces:
			id = newest
		case !known:
			id, newest = step, step
			nodes, late[id] = append(nodes, rawNode{id: id, parent: parent, messages: 1}), ends
		}
		if ids[step] = id; known && !replaces {
			if !late[id] && !slices.ContainsFunc(on, func(p place) bool { return p.id == id }) {
				on = append(on[:base], place{n, id, kind, running, waiting})
			}
			continue
		}
		if texts[id] = said; result {
			texts[id] = ""
		}
		running = running && !ends
		on = append(on[:keep], place{n, id, kind, running, waiting})
	}
	for _, said := range texts {
		c.says(said)
	}
	c.tree(nodes)
	return c
}

// rawGoose: a message has a block that is not only for the program or the user; a line or an element of
// conversation without one is none, nor is what follows a summary in the assistant's name.
func rawGoose(data []byte) *rawCount {
	c := newRawCount()
	var v any
	var list []any
	for _, m := range rawLines(data) {
		list = append(list, m)
	}
	if json.Unmarshal(data, &v) == nil {
		list = rawList(v, "conversation")
	}
	for _, m := range list {
		if rawString(m, "role") == "" || rawGet(m, "metadata", "turnContext") == true {
			continue
		}
		says := false
		for _, b := range rawList(m, "content") {
			if strings.HasPrefix(rawString(b, "text"), "Your context was compacted.") {
				continue
			}
			switch rawString(b, "type") {
			case "text":
				c.says(rawString(b, "text"))
				says = true
			case "toolConfirmationRequest", "systemNotification":
			default:
				says = true
			}
		}
		if says {
			c.messages++
		}
	}
	c.ends = min(c.messages, 1)
	return c
}
