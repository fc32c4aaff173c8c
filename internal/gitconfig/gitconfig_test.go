package gitconfig_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/gitconfig"
	"github.com/bough-dev/bough/internal/testsize"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(m).Run()) }

// samples are files that git accepts or refuses.
var samples = []string{
	"",
	"[core]\n\texcludesFile = ~/ignore\n\tignorecase\n\tbare = false\n",
	"[a]b=1\n[A \"Sub\"]\nB=2\n[a \"q\\\"\\\\\\x\"]\nc=3\n[a.Sub.x]\nd=4\n",
	"[a]\nb = \" x \" y ; comment\nc = x # comment\nd = a;b\ne = \"a;b\"  \nf=\"\"\n",
	"[a]\nb = x \\\n  y\nc = x\\\n; z\nd = \\t\\b\\n\\\\\\\"\n",
	"\ufeff[a]\r\nb = 1\r\nc\r\nd = x\ry\r\n",
	"; comment\n# comment [a]\n[a] ; b\n  b = 1 ; [c]\n",
	"[a] b = 1\n[c]d=2[e]f=3\n",
	"[a]\nb =\nc =   \nd=x  y\n",
	"b = 1\n",
	"[a]\nb = x\\", "[a]\nb = \"x", "[a]\nb = \\q\n", "[a]\n1b = 1\n", "[a]\nb c = 1\n", "[a\n]\n", "[a \"x]\n", "[a \"x\" ]\n", "[]\n", "[a b]\n", "[a_b]\n", "[a]\n=1\n",
	"[ \"x\"]\nb=1\n", "[a]\nb_c = 1\n", "[a]\nb = x\"y\"z\n", "[a]\nb = x\\\r\ny\n", "[a \"\"]\nb=1\n", "[a \"x\\\n\"]\n", "[a]\nb\n[a]\nb-\n", "\xef\xbb[a]\n",
	"[a]\nb = x  \"\"  \n", "[a]\nb = x  \\\n\n", "[a]\nb;c\n", "[a]\nb#\n", "[a]\nb = \xff\xfe\n", "[a]\n\vb = 1\n",
}

// FuzzParse: a file has the entries that git lists, and a file that git refuses is an error.
func FuzzParse(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	if _, err := exec.LookPath("git"); err != nil {
		f.Skip("git is not installed: nothing to compare with")
	}
	path := filepath.Join(f.TempDir(), "config")
	// Versions before 2.45 turn each tab inside of a value into a space.
	tabs, _ := list(f, path, []byte("[a]\nb = x\ty\n"))
	old := strings.HasSuffix(tabs, "x y\x00")
	spaces := func(s string) string {
		if old {
			return strings.NewReplacer("\t", " ", "\r", " ").Replace(s)
		}
		return s
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.IndexByte(data, 0) >= 0 { // git reads part of a value
			if _, err := gitconfig.Parse(path, data); err == nil {
				t.Error("a zero byte is accepted")
			}
			return
		}
		want, ok := list(t, path, data)
		entries, err := gitconfig.Parse(path, data)
		if ok != (err == nil) {
			t.Fatalf("%q: %v; git accepts it: %v", data, err, ok)
		}
		if err != nil {
			var syntax *gitconfig.SyntaxError
			if !errors.As(err, &syntax) || syntax.Line < 1 || syntax.Line > 1+bytes.Count(data, []byte("\n")) {
				t.Errorf("%q: %v", data, err)
			}
			return
		}
		var got strings.Builder
		for _, e := range entries {
			got.WriteString(e.Key)
			if !e.Bare {
				got.WriteString("\n" + e.Value)
			}
			got.WriteString("\x00")
		}
		if spaces(got.String()) != spaces(want) {
			t.Errorf("%q:\n%q, git has\n%q", data, got.String(), want)
		}
	})
}

// list returns what git lists of a file, and whether it accepts the file.
func list(t testing.TB, path string, data []byte) (string, bool) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "config", "--list", "-z", "--no-includes", "-f", path)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), err == nil
}
