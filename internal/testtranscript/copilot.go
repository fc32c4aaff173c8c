package testtranscript

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Copilot returns a session of GitHub Copilot CLI: events of the main assistant and of one that
// it called, in random order.
func Copilot(random *rand.Rand) []byte {
	var b strings.Builder
	last := "null"
	n := 0
	put := func(kind, data, more string) {
		id := fmt.Sprintf(`"00000000-0000-4000-8000-%012d"`, n)
		n++
		fmt.Fprintf(&b, `{"type":"%s","data":%s,"id":%s,"timestamp":"2026-01-01T00:00:%02d.000Z","parentId":%s%s}`+"\n", kind, data, id, n, last, more)
		last = id
	}
	put("session.start", `{"sessionId":"s","version":1,"producer":"copilot-agent","copilotVersion":"1.0.81","startTime":"2026-01-01T00:00:00.000Z","context":{"cwd":"/x"}}`, "")
	for range 2 + random.IntN(14) {
		said := oneOf(random, "One", "Two", "Three")
		agent := oneOf(random, "", "", "", `,"agentId":"helper"`)
		switch random.IntN(12) {
		case 0, 1:
			put("user.message", fmt.Sprintf(`{"content":%q,"attachments":[]}`, said), agent)
		case 2, 3:
			put("assistant.message", fmt.Sprintf(`{"messageId":"m%d","content":%q,"toolRequests":[]}`, n, said), agent)
		case 4, 5:
			call := fmt.Sprintf("call_%d", n)
			put("assistant.message", fmt.Sprintf(`{"messageId":"m%d","content":"","reasoningText":%q,"toolRequests":[{"toolCallId":%q,"name":"f","arguments":{"a":1},"type":"function"}]}`, n, said, call), agent)
			put("tool.execution_start", fmt.Sprintf(`{"toolCallId":%q,"toolName":"f","arguments":{"a":1}}`, call), agent)
			if random.IntN(3) > 0 {
				put("tool.execution_complete", fmt.Sprintf(`{"toolCallId":%q,"success":true,"result":{"content":%q}}`, call, said), agent)
			} else {
				put("tool.execution_complete", fmt.Sprintf(`{"toolCallId":%q,"success":false,"error":{"message":%q}}`, call, said), agent)
			}
		case 6:
			call := fmt.Sprintf("call_%d", n)
			put("tool.user_requested", fmt.Sprintf(`{"toolCallId":%q,"toolName":"bash","arguments":{"command":"ls"}}`, call), "")
			put("tool.execution_complete", fmt.Sprintf(`{"toolCallId":%q,"success":true,"isUserRequested":true,"result":{"content":%q}}`, call, said), "")
		case 7:
			put("session.compaction_start", `{}`, "")
			put("session.compaction_complete", fmt.Sprintf(`{"success":true,"summaryContent":%q}`, said), "")
		case 8:
			put("session.model_change", fmt.Sprintf(`{"newModel":%q}`, said), "")
		case 9:
			put("assistant.turn_start", `{"turnId":"0"}`, agent)
		case 10:
			put("assistant.turn_end", `{"turnId":"0"}`, agent)
		default:
			put("session.info", fmt.Sprintf(`{"infoType":"x","message":%q}`, said), "")
		}
	}
	return []byte(b.String())
}
