package eventstream_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/internal/feed"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/tidwall/gjson"
	"github.com/tmaxmax/go-sse"
)

// A talker is a model that says what it is given, in chunks.
type talker chan string

func (m talker) Ask(ctx context.Context, _ *model.Request, stream func(string)) (*model.Reply, error) {
	said := ""
	for chunk := range m {
		stream(chunk)
		said += chunk
	}
	return &model.Reply{Text: said}, nil
}

// TestReply: a client that connects at any moment of a reply gets all of its text, in order and
// once.
func TestReply(t *testing.T) {
	t.Parallel()
	src := newSource(t)
	src.Feed = feed.New(src.Workspace, 100, func(text string) { t.Error(text) }) // no client is too slow
	t.Cleanup(src.Feed.Close)
	ctx := t.Context()
	if _, err := src.Workspace.Agent("ada").Create(ctx, agents.Options{Model: "m"}); err != nil {
		t.Fatal(err)
	}
	m := make(talker)
	ended := make(chan error, 1)
	go func() {
		_, err := src.Workspace.Agent("ada").Chat(context.WithoutCancel(ctx), agents.Prompt{Text: "How wet?"}, agents.TurnOptions{
			Models: func(context.Context, string) (model.Model, error) { return m, nil },
		})
		ended <- err
	}()
	var clients []func() sse.Event
	for i := range 12 {
		m <- fmt.Sprint(i, "é ")
		if i%2 == 1 {
			clients = append(clients, listen(t, src, "", ""))
		}
	}
	m <- "."
	const want = "0é 1é 2é 3é 4é 5é 6é 7é 8é 9é 10é 11é ."
	for i, next := range clients {
		for text := ""; text != want; {
			e := gjson.Parse(next().Data)
			if !e.Exists() {
				t.Fatalf("the stream of client %d ends", i)
			}
			if e.Get("type").Str != "chat_content" {
				continue
			}
			at := int(e.Get("offset").Int())
			if text += e.Get("text").Str; !strings.HasPrefix(want, text) || at != utf8.RuneCountInString(text)-utf8.RuneCountInString(e.Get("text").Str) {
				t.Fatalf("client %d has %q after a chunk at %d", i, text, at)
			}
		}
	}
	if list := src.Workspace.Replies(); len(list) != 1 || list[0].Text[:3] != "0é" || list[0].Offset != 0 || string(list[0].Agent) != "ada" {
		t.Errorf("the replies in progress are %+v", list)
	}
	close(m)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if list := src.Workspace.Replies(); len(list) > 0 {
		t.Errorf("after the end, the replies in progress are %+v", list)
	}
	late := listen(t, src, "", "")
	if _, err := src.Workspace.New(ctx, "Rye"); err != nil {
		t.Fatal(err)
	}
	for data := ""; !strings.Contains(data, "session_created"); {
		if data = late().Data; strings.Contains(data, "chat_content") {
			t.Errorf("after the end, a client gets %s", data)
		}
	}
}
