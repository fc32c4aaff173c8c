package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testmodel"
	"github.com/bough-dev/bough/workspace"
	"github.com/tidwall/gjson"
)

// merge compares branches in columns, merges one after the preview, and does with the menu of a
// message what carries content from one branch to another.
func (c *chromium) merge(t *testing.T) {
	model := testmodel.OpenAI(t)
	may := make(chan struct{}) // the second message is answered
	model.Answer = func(r *testmodel.Request) testmodel.Reply {
		last := gjson.GetBytes(r.Body, "messages.@reverse.0.content").String()
		if _, common, ok := strings.Cut(last, "The last message that all have:\n"); ok {
			_, ref, _ := strings.Cut(common, "[")
			ref, _, _ = strings.Cut(ref, "]")
			return testmodel.Reply{Text: []string{"Take the **train**, as before [", ref, "]."}}
		}
		return testmodel.Reply{Text: []string{"Again: ", last, "."}, Before: func(piece int) {
			if piece != 1 || last != "What does it cost?" {
				return
			}
			select {
			case may <- struct{}{}:
			case <-t.Context().Done():
			}
		}}
	}
	s := c.newSite(t, "OPENAI_BASE_URL="+model.URL()+"/v1", "OPENAI_API_KEY=key")
	session, m := trip(s)
	branch := func(name, at string, says ...string) string {
		made, err := s.w.Branch(t.Context(), session+"@"+at, workspace.SnapshotOptions{Name: name, KeepHead: true})
		if err != nil {
			t.Fatal(err)
		}
		id := made.ID
		for i, text := range says {
			s.say([]string{"user", "assistant"}[i%2], text, workspace.Append{Session: id})
		}
		return id
	}
	train := branch("By train", m[1], "Is there a night train?", "Yes, at 21:43. We will book the upper berths.")
	branch("By car", m[1], "And by car?", "Twenty hours.")
	s.serve()
	b := c.tab(t)
	b.enter(s)
	b.visit("/c/" + session)
	b.key("t")
	b.wait(`document.activeElement.matches('[role="treeitem"]')`)
	b.key("=")
	b.said("Marked")
	b.wait(`sessionStorage.getItem("bough.compare") === ` + fmt.Sprintf("%q", session))
	b.eval(`sessionStorage.removeItem("bough.compare")`)
	b.visit("/compare?a=" + train + "&b=" + session)
	b.wait(`document.querySelectorAll(".side").length === 2 && document.querySelector(".side").innerText.includes("2 messages · 1 turn")`)
	b.click(`.title a[href*="more=1"]`)
	b.wait(`location.search.includes("more=1") && ` + live)
	b.click(`.list a[href*="&c="]`)
	b.wait(`document.querySelectorAll(".side").length === 3 && ` + live)
	tops := `new Set([...document.querySelectorAll(".side")].map((e) => e.getBoundingClientRect().top)).size`
	if n := b.eval(tops).Int(); n != 1 {
		t.Errorf("the sides begin at %d heights", n)
	}
	b.on(screen{"dark", 320})
	if n := b.eval(tops).Int(); n != 3 {
		t.Errorf("on a narrow screen the sides begin at %d heights", n)
	}
	if wide := b.eval(`document.documentElement.scrollWidth - innerWidth`).Int(); wide > 0 {
		t.Errorf("the comparison is %d pixels too wide", wide)
	}
	b.on(screen{"light", 1280})

	t.Log("ask a model which one to continue")
	b.eval(`document.querySelector('form[data-act="compare-model"] input[name="model"]').value = "openai:m"`)
	b.click(`form[data-act="compare-model"] button`)
	b.wait(`document.querySelector("#summary")?.innerText === "What openai:m says" && ` + live)
	b.wait(`document.querySelector(".cites")?.innerText.includes("To Lisbon.") && document.querySelector(".cites a").pathname.startsWith("/c/")`)

	t.Log("merge after the preview")
	messages := func() int64 { return s.bough("show", session).Get("messages.#").Int() }
	b.click(`.side [data-act="merge"]`)
	b.at("/merge")
	b.wait(`document.querySelector(".outcome").innerText.includes("We will book the upper berths.")`)
	if n := messages(); n != 4 {
		t.Fatalf("the preview changed something: %d messages", n)
	}
	b.click(`form[data-act="merge"] .primary`)
	b.at("/c/" + session)
	b.said("Merged “By train” into “Trip”")
	b.wait(`[...document.querySelectorAll("#feed .remark")].some((e) => e.innerText.trim() === "Merged 2 messages of By train")`)
	if n := messages(); n != 5 {
		t.Errorf("%d messages after the merge", n)
	}
	b.visit("/tree/" + session)
	b.wait(`document.querySelectorAll('.picture path[stroke-dasharray="3 4"]').length === 1`)
	b.visit("/c/" + session)
	b.click(`#feed .remark a`)
	b.at("/c/" + train)
	b.visit("/merge?branch=" + train + "&into=" + session)
	b.wait(`document.querySelector("#main").innerText.includes("no message since its last merge") && !document.querySelector('form[data-act="merge"]')`)
	s.bough("undo")

	t.Log("the text is the user's")
	b.visit("/merge?branch=" + train + "&into=" + session)
	b.eval(`document.querySelector('select[name="by"]').value = "summary"`)
	b.click(`form.between button`)
	b.wait(`document.querySelector('textarea[name="summary"]')?.value.includes("night train") && ` + live)
	b.eval(`document.querySelector('textarea[name="summary"]').value = "By night train."`)
	b.click(`form[data-act="merge"] .primary`)
	b.at("/c/" + session)
	b.wait(`document.querySelector("#feed article:last-of-type").innerText.includes("By night train.")`)
	b.click(`#status button`)
	b.said("Undid")

	t.Log("pick, edit, and omit")
	use := func(path, message, act string) {
		t.Helper()
		b.visit(path)
		b.eval(fmt.Sprintf(`document.querySelector('[data-message="%s"] details.more').open = true`, message))
		if act == "edit" {
			b.eval(fmt.Sprintf(`(() => { const e = document.querySelector('[data-message="%s"] details.edit'); e.open = true; e.querySelector("textarea").value = "Where shall we go in June?"; })()`, message))
		}
		b.click(fmt.Sprintf(`[data-message="%s"] form[data-act="%s"] button`, message, act))
	}
	last := s.bough("show", train).Get("messages.@reverse.0.id").Str
	use("/c/"+train, last, "pick")
	b.at("/c/" + session)
	b.said("Copied messages to “Trip”")
	b.shows("Where shall we go in May?", "To Lisbon.", "What does it cost?", "About 900 euros.", "Yes, at 21:43. We will book the upper berths.")
	use("/c/"+train, m[0], "edit")
	b.said("Edited a message of")
	b.shows("Where shall we go in June?")
	use("/c/"+train+"?leaf="+last, m[1], "leave-out")
	b.said("Created a branch without some messages")
	b.shows("Where shall we go in May?", "Is there a night train?", "Yes, at 21:43. We will book the upper berths.")

	t.Log("say the messages again, watch it, and compare")
	b.visit("/c/" + session + "?leaf=" + m[3])
	b.eval(fmt.Sprintf(`document.querySelector('[data-message="%s"] details.more').open = true`, m[0]))
	b.click(fmt.Sprintf(`[data-message="%s"] [data-act="replay"]`, m[0]))
	b.at("/replay")
	b.click(`.said li a`)
	b.wait(`document.querySelector('textarea[name="text"]')?.value === "Where shall we go in May?" && ` + live)
	b.on(screen{"dark", 320})
	if wide := b.eval(`document.documentElement.scrollWidth - innerWidth`).Int(); wide > 0 {
		t.Errorf("the form is %d pixels too wide", wide)
	}
	b.on(screen{"light", 1280})
	b.eval(`document.querySelector('textarea[name="text"]').value = "Where shall we go in July?"; document.querySelector('#main input[name="model"]').value = "openai:m"`)
	b.click(`form[data-act="replay"] .primary`)
	b.wait(`/^\/replay\/session_/.test(location.pathname) && ` + live)
	b.wait(`document.querySelector("#main .facts").innerText.includes("1 of 2 answered") && document.querySelector("#main .badge.live")`)
	<-may
	b.wait(`document.querySelector("#main .facts").innerText.includes("2 of 2 answered") && !document.querySelector("#main .badge.live")`)
	b.wait(`document.querySelectorAll(".side").length === 2 && document.querySelectorAll(".side")[1].innerText.includes("Again: Where shall we go in July?")`)

	t.Log("suggestions lead to a comparison")
	b.visit("/suggest")
	b.wait(`document.querySelector("#main .list").innerText.includes("Twenty hours.")`)
	b.click(`#main .list [data-act="compare"]`)
	b.at("/compare")
	b.clean()
}
