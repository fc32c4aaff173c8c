package testtranscript

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Qwen returns a session of Qwen Code: records that follow the one before, an earlier one after
// the user went back, or, seldom, a missing one.
func Qwen(random *rand.Rand) []byte {
	var b strings.Builder
	n := 0
	last := "null"
	put := func(kind, more string) {
		n++
		id := fmt.Sprintf(`"00000000-0000-4000-8000-%012d"`, n)
		fmt.Fprintf(&b, `{"uuid":%s,"parentUuid":%s,"sessionId":"s","timestamp":"2026-01-01T00:00:%02d.000Z","type":"%s","cwd":"/x","version":"0.24.7"%s}`+"\n", id, last, n, kind, more)
		last = id
	}
	put("system", `,"subtype":"session_model","systemPayload":{"modelId":"m","authType":"openai"}`)
	for range 2 + random.IntN(14) {
		said := oneOf(random, "One", "Two", "Three")
		switch random.IntN(12) {
		case 0, 1, 2:
			put("user", fmt.Sprintf(`,"message":{"role":"user","parts":[{"text":%q}]}`, said))
		case 3, 4:
			put("assistant", fmt.Sprintf(`,"model":"m","message":{"role":"model","parts":[{"text":%q}]}`, said))
		case 5, 6:
			call := fmt.Sprintf("call_%d", n)
			put("assistant", fmt.Sprintf(`,"model":"m","message":{"role":"model","parts":[{"text":%q,"thought":true},{"functionCall":{"id":%q,"name":"agent","args":{"subagent_type":"general-purpose","prompt":"a"}}}]}`, said, call))
			put("system", `,"subtype":"ui_telemetry","systemPayload":{"uiEvent":{}}`)
			put("tool_result", fmt.Sprintf(`,"message":{"role":"user","parts":[{"functionResponse":{"id":%q,"name":"agent","response":{%q:%q}}}]},"toolCallResult":{"callId":%[1]q%[4]s}`,
				call, oneOf(random, "output", "error"), said, oneOf(random, "", `,"resultDisplay":{"type":"task_execution","subagentName":"general-purpose"}`)))
		case 7:
			last = oneOf(random, fmt.Sprintf(`"00000000-0000-4000-8000-%012d"`, 1+random.IntN(n)), "null", `"lost"`)
			put("system", `,"subtype":"rewind","systemPayload":{"truncatedCount":1}`)
		case 8:
			put("system", fmt.Sprintf(`,"subtype":"chat_compression","systemPayload":{"compressedHistory":[{"role":"user","parts":[{"text":%q}]}]}`, said))
		case 9:
			put("system", fmt.Sprintf(`,"subtype":"custom_title","systemPayload":{"customTitle":%q}`, said))
		case 10:
			put("system", `,"subtype":"session_artifact_event","systemPayload":{}`)
		default:
			if random.IntN(3) == 0 {
				last = `"gone"`
			}
			put("user", fmt.Sprintf(`,"subtype":"notification","provenance":"system","message":{"role":"user","parts":[{"text":%q}]}`, said))
		}
	}
	return []byte(b.String())
}
