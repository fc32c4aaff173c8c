package page_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// explore explores two strategies from the end of a session, and returns the id of the
// exploration.
func (s *site) explore(session string) string {
	s.t.Helper()
	if runtime.GOOS == "windows" {
		s.t.Skip("the strategies are tried by a shell script")
	}
	file := filepath.Join(s.t.TempDir(), "try.sh")
	const script = `cat > /dev/null
case $BOUGH_STRATEGY in
train) echo '{"result": "By train it takes a day.", "confidence": 0.9}' ;;
*) echo '{"result": "By plane it takes two hours.", "confidence": 0.4}' ;;
esac
`
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.bough("explore", session, "--strategy", "train", "--strategy", "plane", "--run", "sh "+file)
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
	b.clean()
}
