package convert

import (
	"strings"
	"testing"
)

func TestWithoutCitations(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"No marks.", "No marks."},
		{"Tea is old【4†source】.", "Tea is old."},
		{"Tea is old 【4:0†L10-L20】. Coffee【11†a.pdf】 is not.", "Tea is old. Coffee is not."},
		{"Brackets【注】 stay, and 【open", "Brackets【注】 stay, and 【open"},
		{"Old \ue200cite\ue202turn0search0\ue201. New \ue200cite\ue202turn0search1\ue202turn0search2\ue201", "Old. New"},
		{"In the file \ue200filecite\ue202turn0file0\ue202L1-L2\ue201, too", "In the file, too"},
		{"\ue200entity\ue202[\"city\",\"Paris\",\"capital of France\"]\ue201 is large", "Paris is large"},
		{"See \ue200url\ue202The docs\ue202turn0search0\ue201.", "See The docs."},
		{"\ue200navlist\ue202News of tea\ue202turn0news1,turn0news2\ue201", "News of tea"},
		{"\ue200entity\ue202[1\ue201 \ue200i\ue202turn0image0\ue201\n", "\n"},
		{"\ue203Marked\ue204\ue206\ue200cite\ue202turn0search0\ue201 text", "Marked text"},
		{"It ends \ue200cite\ue202turn0", "It ends citeturn0"},
		{"As said:contentReference[oaicite:3]{index=3}.", "As said."},
	} {
		if got := withoutCitations(c.in); got != c.want {
			t.Errorf("of %q came %q, want %q", c.in, got, c.want)
		}
	}
	many := strings.Repeat("\ue200【:contentReference[oaicite:", 100000)
	withoutCitations(many) // in time
}

// TestChatGPTFiles: what is attached is named, a picture once, and the records stay as
// they are.
func TestChatGPTFiles(t *testing.T) {
	const user = `"user":{"id":"user","parent":null,"children":["answer"],"message":{"author":{"role":"user"},"recipient":"all","content":{"content_type":"multimodal_text","parts":[` +
		`{"content_type":"image_asset_pointer","asset_pointer":"file-service://file-1"},` +
		`{"content_type":"image_asset_pointer","asset_pointer":"sediment://file_2"},` +
		`{"content_type":"audio_transcription","text":"What I said","direction":"in"},` +
		`{"content_type":"real_time_user_audio_video_asset_pointer","audio_asset_pointer":{"content_type":"audio_asset_pointer","asset_pointer":"sediment://file_3"}},` +
		`"Look"]},"metadata":{"attachments":[{"id":"file-1","name":"boat.png"},{"id":"file-9","name":"notes.pdf"}]}}}`
	const answer = `"answer":{"id":"answer","parent":"user","children":[],"message":{"author":{"role":"assistant"},"recipient":"all","content":{"content_type":"text","parts":["A skiff【4†source】."]}}}`
	list, _, err := chatGPT.ReadAll(strings.NewReader(`[{"title":"x","mapping":{` + user + `,` + answer + `},"current_node":"answer"}]`))
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
