package service

import (
	"encoding/xml"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the expected files")

// hostile is a program whose every text needs quoting.
var hostile = Program{
	Name: "bough-1a2b3c4d", About: `bough: import into /home/a & <b> 100%`,
	Path: `/opt/my "tools"/bough`, Args: []string{"-w", `/home/a b/$HOME/50%/<c>`, "daemon", "run", `back\slash`, ""},
	Dir: "/home/a & b/100%", Env: []string{"CODEX_HOME=/home/a b/<x>&$y"}, Log: "/home/a/log",
}

func TestPlans(t *testing.T) {
	for name, p := range map[string]Plan{
		"bough.service": Systemd(hostile, "/home/a/.config"),
		"bough.plist":   Launchd(hostile, "/Users/a", "501"),
		"bough.xml":     Task(hostile, "/data", `PC\a`),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, p.Text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(p.Text) != string(want) {
			t.Errorf("%s is\n%s\nwant\n%s", name, p.Text, want)
		}
		if len(p.Install) == 0 || len(p.Remove) == 0 || !filepath.IsAbs(filepath.ToSlash(p.Path)) {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestXML: the documents of launchd and Windows are well-formed and have the texts unchanged.
func TestXML(t *testing.T) {
	for _, p := range []Plan{Launchd(hostile, "/Users/a", "501"), Task(hostile, "/data", `PC\a`)} {
		var texts []string
		for d := xml.NewDecoder(strings.NewReader(string(p.Text))); ; {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", p.Manager, err)
			}
			if data, ok := token.(xml.CharData); ok {
				texts = append(texts, string(data))
			}
		}
		all := strings.Join(texts, "\n")
		for _, want := range []string{hostile.Path, hostile.Dir} {
			if !strings.Contains(all, want) {
				t.Errorf("%s: %q is not among\n%s", p.Manager, want, all)
			}
		}
	}
}

func TestWindowsWord(t *testing.T) {
	for word, want := range map[string]string{
		"plain": "plain", "": `""`, "a b": `"a b"`, `C:\dir`: `C:\dir`, `C:\a b\`: `"C:\a b\\"`, `say "x"`: `"say \"x\""`, `a\"b`: `"a\\\"b"`,
	} {
		if got := windowsWord(word); got != want {
			t.Errorf("windowsWord(%q) = %s, want %s", word, got, want)
		}
	}
}

// TestSystemdVerify: systemd accepts the unit.
func TestSystemdVerify(t *testing.T) {
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	p := hostile
	dir := t.TempDir()
	p.Path, p.Dir = filepath.Join(dir, "my tools 100%"), dir
	if err := os.WriteFile(p.Path, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	plan := Systemd(p, dir)
	path := filepath.Join(dir, filepath.Base(plan.Path))
	if err := os.WriteFile(path, plan.Text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(verify, "--user", "verify", path)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil || len(out) > 0 && strings.Contains(string(out), filepath.Base(path)) {
		t.Errorf("%v: %s", err, out)
	}
}
