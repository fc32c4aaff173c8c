package workspace_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

func TestToken(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	const whole = "sk-ac-bough-0123456789012345678901234567890123456789012"
	for _, c := range []struct {
		name  string
		there string // the content of the file, "-" for no file
		kept  string // "" for a new token
		fails fault.Code
	}{
		{name: "none", there: "-"},
		{name: "empty", there: ""},
		{name: "blank", there: " \n\n"},
		{name: "zeros", there: "\x00\x00\x00\x00"},
		{name: "torn", there: whole[:30]},
		{name: "torn in its first letters", there: "sk-a"},
		{name: "torn with zeros", there: whole[:20] + "\x00\x00"},
		{name: "complete", there: whole + "\n", kept: whole},
		{name: "complete without a line break", there: whole, kept: whole},
		{name: "a person's", there: "sk-ac-mine\n", kept: "sk-ac-mine"},
		{name: "two lines", there: "a\nb\n", fails: fault.Damaged},
		{name: "no ASCII", there: "schlüssel\n", fails: fault.Damaged},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, ".bough", "token")
			if c.there != "-" {
				if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(c.there), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w := openToken(t, dir)
			token, err := w.Token(ctx)
			if c.fails != "" {
				if e := workspace.Explain(err); e == nil || e.Code != c.fails {
					t.Fatalf("Token() = %q, %v, want code %s", token, err, c.fails)
				}
				if data, _ := os.ReadFile(file); string(data) != c.there {
					t.Errorf("the file is %q now", data)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.kept != "" && token != c.kept {
				t.Errorf("Token() = %q, want %q", token, c.kept)
			}
			if c.kept == "" && (len(token) != len(whole) || !strings.HasPrefix(token, "sk-ac-bough-")) {
				t.Errorf("a new token is %q", token)
			}
			if again, err := openToken(t, dir).Token(ctx); again != token || err != nil {
				t.Errorf("then %q, %v", again, err)
			}
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if c.kept == "" && info.Mode().Perm() != 0o600 && filepath.Separator == '/' {
				t.Errorf("a new token has the permissions %v", info.Mode())
			}
		})
	}
}

func openToken(t *testing.T, dir string) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestTokenLink: a symbolic link in place of the token is refused, wherever it leads.
func TestTokenLink(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"../conversations/x", "/etc/hostname", "../../elsewhere"} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, ".bough"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(dir, ".bough", "token")); err != nil {
			t.Skip(err)
		}
		token, err := openToken(t, dir).Token(t.Context())
		if e := workspace.Explain(err); e == nil || e.Code != fault.Refused {
			t.Errorf("a link to %s: %q, %v", to, token, err)
		}
	}
}

// TestTokenConcurrent: several processes that create the token at once all get the same one.
func TestTokenConcurrent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tokens := make([]string, 8)
	var all sync.WaitGroup
	for i := range tokens {
		all.Go(func() {
			w, err := workspace.Open(context.Background(), dir, nil)
			if err == nil {
				tokens[i], err = w.Token(context.Background())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, token := range tokens {
		if token != tokens[0] {
			t.Fatalf("several tokens: %q", tokens)
		}
	}
}
