package page_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// explore explores two strategies from the end of a session, and returns the id of the
// exploration. Each strategy writes plan.txt.
func (s *site) explore(session string, more ...string) string {
	s.t.Helper()
	if runtime.GOOS == "windows" {
		s.t.Skip("the strategies are tried by a shell script")
	}
	file := filepath.Join(s.t.TempDir(), "try.sh")
	const script = `cat > /dev/null
echo $BOUGH_STRATEGY > plan.txt
case $BOUGH_STRATEGY in
train) echo '{"result": "By train it takes a day.", "confidence": 0.9}' ;;
*) echo '{"result": "By plane it takes two hours.", "confidence": 0.4}' ;;
esac
`
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.bough(append([]string{"explore", session, "--strategy", "train", "--strategy", "plane", "--run", "sh " + file}, more...)...)
	return s.bough("explore", "ls").Get("explorations.0.id").Str
}

// explore adopts the result of a strategy.
func (c *chromium) explore(t *testing.T) {
	s := c.newSite(t)
	session, _ := trip(s)
	id := s.explore(session)
	s.serve()
	b := c.tab(t)
	b.enter(s)
	b.visit("/explore/" + id)
	b.wait(`document.querySelectorAll(".strategy").length === 2`)
	b.click(`[data-act="adopt"] button`)
	b.wait(`[...document.querySelectorAll("#main .badge")].some((e) => e.textContent.trim() === "Adopted")`)
	b.visit("/")
	b.wait(`document.querySelector("#feed").innerText.includes("By train it takes a day.")`)

	t.Log("adopt a result with its files, after the preview")
	f := s.folder()
	f.write("notes.txt", "Lisbon\n")
	id = s.explore(session, "--dir", f.dir)
	f.write("plan.txt", "mine\n")
	b.visit("/explore/" + id)
	b.click(`.strategy:nth-child(2) a[data-act="adopt-files"]`)
	b.at("/explore/" + id + "/adopt")
	b.wait(`document.querySelector(".planned").innerText.includes("plan.txt added since")`)
	b.eval(`document.querySelector('select[name="way"]').value = "take"`)
	b.click(`form.between button`)
	b.wait(`location.search.includes("way=take") && location.search.includes("branch_id=") && document.querySelector('form[data-act="adopt-files"] .primary') && ` + live)
	b.click(`form[data-act="adopt-files"] .primary`)
	b.at("/files/diff")
	b.said("Adopted an outcome, with the files")
	f.has("plan.txt", "plane\n")
	b.click(`#status button`)
	b.said("Undid")
	f.has("plan.txt", "mine\n")
	b.clean()
}
