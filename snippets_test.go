package bough_test

import (
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSnippets: each Go block of docs/embedding.md and of the comment of package workspace is
// in a file of examples of that package, which go test compiles and runs. So is each output
// that the page shows. White space at the beginning of lines does not count.
func TestSnippets(t *testing.T) {
	code, outputs := examples(t, "workspace")
	page := readPage(t, "docs/embedding.md")
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```go\n(.*?)^```").FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, m[1])
	}
	if len(blocks) < 8 {
		t.Fatalf("the page has %d Go blocks", len(blocks))
	}
	inComment := 0
	for _, f := range goFiles(t) {
		if filepath.ToSlash(filepath.Dir(f.path)) == "workspace" && !f.isTest() {
			for _, b := range codeBlocks(t, f.path) {
				if strings.Contains(b, ":=") {
					blocks, inComment = append(blocks, b), inComment+1
				}
			}
		}
	}
	if inComment == 0 {
		t.Error("the comment of package workspace has no code")
	}
	for _, b := range blocks {
		if !strings.Contains(code, "\n"+flat(b)) {
			t.Errorf("no example of package workspace has\n%s", b)
		}
	}
	shown := regexp.MustCompile("(?ms)^```text\n(.*?)^```").FindAllStringSubmatch(page, -1)
	if len(shown) == 0 {
		t.Error("the page shows no output")
	}
	for _, m := range shown {
		if !strings.Contains(outputs, "\n"+flat(m[1])) {
			t.Errorf("no example prints\n%s", m[1])
		}
	}
}

// examples returns the code of the test files of a package in which each example has an
// output, and these outputs.
func examples(t *testing.T, pkg string) (code, outputs string) {
	names, err := filepath.Glob(filepath.Join(pkg, "example*_test.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s has the files of examples %q, %v", pkg, names, err)
	}
	code, outputs = "\n", "\n"
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range doc.Examples(f) {
			if e.Output == "" {
				t.Errorf("%s: Example%s has no output, so go test does not run it", name, e.Name)
			}
			outputs += flat(e.Output)
		}
		code += flat(readPage(t, name))
	}
	return code, outputs
}

// codeBlocks returns the code in the comment of a package.
func codeBlocks(t *testing.T, file string) (blocks []string) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	var p comment.Parser
	for _, b := range p.Parse(f.Doc.Text()).Content {
		if c, ok := b.(*comment.Code); ok {
			blocks = append(blocks, c.Text)
		}
	}
	return blocks
}

// flat returns the lines of a text that are not blank, without white space around them. Each
// ends in a line break.
func flat(text string) string {
	var out strings.Builder
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l != "" {
			out.WriteString(l + "\n")
		}
	}
	return out.String()
}
