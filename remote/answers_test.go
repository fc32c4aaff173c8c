package remote_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/mirror"
)

type markOf = bookmark.Bookmark

var cut checkpoint.CutOptions

func textOf(m mirror.Message) string { return gjson.GetBytes(m.Raw, "content").String() }

// plain returns a message without what may differ between computers.
func plain(raw []byte) string {
	raw = bytes.Clone(raw)
	for _, path := range []string{"metadata.parent_id", "metadata.bough.continued", "metadata.bough", "metadata"} {
		v := gjson.GetBytes(raw, path)
		if path == "metadata.parent_id" || path == "metadata.bough.continued" || v.Raw == "{}" {
			raw, _ = sjson.DeleteBytes(raw, path)
		}
	}
	return string(rawjson.Dense(raw))
}

// answers returns what a computer says, without its head.
func (c *computer) answers() string {
	c.t.Helper()
	var b strings.Builder
	say := func(v any, err error) {
		c.t.Helper()
		if err != nil {
			c.t.Fatal(err)
		}
		text, err := json.MarshalIndent(v, "", " ")
		if err != nil {
			c.t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	ctx := c.t.Context()
	titled := map[string]bool{}
	for _, s := range must(c.w.Mirror().Facts(ctx, mirror.Known{})).Sessions {
		titled[s.ID] = s.Title != ""
		var texts []string
		for _, m := range must(c.w.Mirror().Messages(ctx, s.ID)) {
			texts = append(texts, textOf(m))
		}
		slices.Sort(texts)
		fmt.Fprintln(&b, s.ID, s.Kind, s.Title, texts)
	}
	forest := must(c.w.Tree(ctx, ""))
	var ids []string
	var walk func(list []workspace.TreeEntry)
	walk = func(list []workspace.TreeEntry) {
		for i := range list {
			list[i].Head, list[i].Owner = false, ""
			if !titled[list[i].ID] {
				list[i].Title = "" // the first words in the file, whose order may differ
			}
			ids = append(ids, list[i].ID)
			walk(list[i].Children)
		}
	}
	walk(forest.Roots)
	say(forest, nil)
	for _, id := range ids {
		branches := must(c.w.Branches(ctx, id, workspace.BranchesOptions{}))
		for _, leaf := range branches.Leaves {
			path := must(c.w.Show(ctx, leaf.Session+"@"+leaf.ID, session.ReadOptions{}))
			for _, message := range path.Messages {
				fmt.Fprintln(&b, plain(message.Raw))
			}
		}
	}
	say(c.w.Bookmarks(ctx, workspace.BookmarksOptions{}))
	f := must(c.w.Mirror().Facts(ctx, mirror.Known{}))
	for _, s := range f.Sessions {
		if !s.Auto {
			fmt.Fprintln(&b, s.ID, s.Kind, s.Title, string(s.Shell))
		}
	}
	for _, a := range f.Agents {
		fmt.Fprintln(&b, a.Name, string(a.Settings), *a.Head)
		for _, t := range a.Trees {
			fmt.Fprintln(&b, string(t))
		}
	}
	r := c.remote()
	defer r.Close()
	for _, o := range must(r.Operations(ctx)) {
		fmt.Fprintln(&b, o.Machine, o.Person, string(o.Line))
	}
	for _, s := range must(r.Sessions(ctx)) {
		fmt.Fprintln(&b, s.ID, s.Owner, s.Project)
	}
	return b.String()
}

// difference returns where two texts differ first.
func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(x), len(y)) {
		if i >= len(x) || i >= len(y) || x[i] != y[i] {
			from := max(0, i-8)
			return strings.Join(x[min(from, len(x)):min(len(x), i+5)], "\n") + "\n\n" + strings.Join(y[min(from, len(y)):min(len(y), i+5)], "\n")
		}
	}
	return ""
}

var noKnown mirror.Known
