package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/cmd/bough/internal/manual"
	"github.com/urfave/cli/v2"
)

func (p *program) manVerb() verb {
	return verb{
		name:  "man",
		args:  "[VERB [VERB]] [--dir DIR]",
		short: "show or write the man pages",
		long: `Shows the man page of bough or of a verb with man, on a terminal; without a terminal or man, its
source is printed. The pages have the same text as 'bough help'.

--dir writes all pages into the folder DIR, which is created if it is missing, as bough.1,
bough-branch.1, bough-agent-chat.1 and so on, and replaces those that are there. If DIR is the folder
man1 of a folder that man searches, 'man bough-branch' finds them.`,
		example: `bough man branch
bough man --dir ~/.local/share/man/man1`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "write all pages into the folder `DIR`"},
		},
		max:        2,
		standalone: p.man,
	}
}

func (p *program) man(c *cli.Context) error {
	if c.IsSet("dir") {
		if c.NArg() > 0 || c.String("dir") == "" {
			return usageError("--dir takes a folder and no VERB")
		}
		return p.writeMan(c.String("dir"))
	}
	page, err := p.manualPage(c.Args().Slice())
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := page.WriteRoff(&b, stamp()); err != nil {
		return err
	}
	if !p.json && p.paint.width > 0 {
		if shown, err := p.showMan(manual.File(page.Name), b.Bytes()); shown || err != nil {
			return err
		}
	}
	return p.printText("man", b.String())
}

// manualPage returns the page of the verb that words name, that of bough for none.
func (p *program) manualPage(words []string) (manual.Page, error) {
	v, err := p.findVerb(words)
	if err != nil {
		return manual.Page{}, err
	}
	name := strings.TrimSpace("bough " + v.full())
	for _, page := range p.manualPages() {
		if page.Name == name {
			return page, nil
		}
	}
	panic("no page of " + name)
}

// showMan shows a page with man. It returns false if there is no man.
func (p *program) showMan(name string, page []byte) (shown bool, err error) {
	program, err := exec.LookPath("man")
	if err != nil {
		return false, nil
	}
	dir, err := os.MkdirTemp("", "bough-man-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, name) // a name with a slash is a file for every man
	if err := os.WriteFile(file, page, 0o600); err != nil {
		return false, err
	}
	cmd := exec.Command(program, file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, p.terminal, os.Stderr
	if err := cmd.Run(); err != nil {
		return false, fmt.Errorf("man: %w", err)
	}
	return true, nil
}

// writtenMan is the document of 'bough man --dir'.
type writtenMan struct {
	Dir   string   `json:"dir"`
	Pages []string `json:"pages"` // names of files
}

// writeMan writes all pages into a folder.
func (p *program) writeMan(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	written := writtenMan{Dir: dir}
	for _, page := range p.manualPages() {
		var b bytes.Buffer
		if err := page.WriteRoff(&b, stamp()); err != nil {
			return err
		}
		name := manual.File(page.Name)
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o666); err != nil {
			return err
		}
		written.Pages = append(written.Pages, name)
	}
	if p.json {
		return p.printJSON(written)
	}
	fmt.Fprintf(p.stderr, "Wrote %s to %s\n", count(len(written.Pages), "page"), clean(dir))
	return nil
}
