package chatgpt

import (
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/internal/sink"
)

// TestChatGPTFiles: attachments are named, a picture once, and the records are unchanged.
func TestChatGPTFiles(t *testing.T) {
	const user = `"user":{"id":"user","parent":null,"children":["answer"],"message":{"author":{"role":"user"},"recipient":"all","content":{"content_type":"multimodal_text","parts":[` +
		`{"content_type":"image_asset_pointer","asset_pointer":"file-service://file-1"},` +
		`{"content_type":"image_asset_pointer","asset_pointer":"sediment://file_2"},` +
		`{"content_type":"audio_transcription","text":"What I said","direction":"in"},` +
		`{"content_type":"real_time_user_audio_video_asset_pointer","audio_asset_pointer":{"content_type":"audio_asset_pointer","asset_pointer":"sediment://file_3"}},` +
		`"Look"]},"metadata":{"attachments":[{"id":"file-1","name":"boat.png"},{"id":"file-9","name":"notes.pdf"}]}}}`
	const answer = `"answer":{"id":"answer","parent":"user","children":[],"message":{"author":{"role":"assistant"},"recipient":"all","content":{"content_type":"text","parts":["A skiff【4†source】."]}}}`
	list, _, err := sink.ReadAll("chatgpt", Read, strings.NewReader(`[{"title":"x","mapping":{`+user+`,`+answer+`},"current_node":"answer"}]`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list[0].Messages {
		for i := range m.Parts {
			got = append(got, m.Parts[i].Text)
		}
	}
	if got, want := strings.Join(got, "|"), "[image boat.png]|[image sediment://file_2]|What I said|[audio sediment://file_3]|Look|[file notes.pdf]|A skiff."; got != want {
		t.Errorf("it says %s, want %s", got, want)
	}
	if got := string(list[0].Messages[1].Records[0]); got != "{"+answer+"}" {
		t.Errorf("the record is %s", got)
	}
}
