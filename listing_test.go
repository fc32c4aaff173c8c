package bough_test

import (
	"flag"
	"go/ast"
	"go/build"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the listings in docs/api")

// listings is the folder of the listings: one file for each public package, with its path
// and .txt as name.
const listings = "docs/api"

// TestAPI: docs/api lists what each public package exports, as 'go doc -all' prints it for
// linux/amd64. So no exported name and no documented promise changes without a line in the
// same commit. White space does not count, because Go versions format code differently.
func TestAPI(t *testing.T) {
	found := map[string]string{}
	for _, pkg := range publicPackages(t) {
		found[pkg] = listing(t, pkg)
	}
	if *update {
		writeListings(t, found)
	}
	stored := readListings(t)
	for _, pkg := range slices.Sorted(maps.Keys(found)) {
		if was, ok := stored[pkg]; !ok {
			t.Errorf("%s/%s.txt is missing; go test . -run TestAPI -update writes it", listings, pkg)
		} else if is := found[pkg]; !slices.Equal(strings.Fields(was), strings.Fields(is)) {
			t.Errorf("%s/%s.txt differs from the package; if the change is intended, go test . -run TestAPI -update writes it:\n%s", listings, pkg, differingLines(was, is))
		}
	}
	for pkg := range stored {
		if _, ok := found[pkg]; !ok {
			t.Errorf("%s/%s.txt is of no public package; go test . -run TestAPI -update removes it", listings, pkg)
		}
	}
}

// publicPackages returns the packages of the module that other modules can import, but for the one
// of the root, which has only the documents.
func publicPackages(t *testing.T) []string {
	set := map[string]bool{}
	for _, f := range goFiles(t) {
		pkg := path.Dir(f.path)
		if f.own && pkg != "." && !f.isTest() && f.syntax.Name.Name != "main" && !strings.Contains("/"+pkg+"/", "/internal/") {
			set[pkg] = true
		}
	}
	if len(set) < 10 {
		t.Fatalf("found only %d packages", len(set))
	}
	return slices.Sorted(maps.Keys(set))
}

// listing returns what a package exports, with its documentation.
func listing(t *testing.T, pkg string) string {
	t.Helper()
	target := build.Default
	target.GOOS, target.GOARCH, target.CgoEnabled = "linux", "amd64", true
	found, err := target.ImportDir(filepath.FromSlash(pkg), 0)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range slices.Concat(found.GoFiles, found.CgoFiles) {
		f, err := parser.ParseFile(fset, filepath.Join(filepath.FromSlash(pkg), name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	d, err := doc.NewFromFiles(fset, files, module+pkg)
	if err != nil {
		t.Fatal(err)
	}
	p := printer{t: t, fset: fset, d: d}
	p.out.WriteString("package " + d.Name + " // import \"" + module + pkg + "\"\n\n")
	p.text(d.Doc, "")
	p.values("CONSTANTS", d.Consts)
	p.values("VARIABLES", d.Vars)
	if len(d.Funcs) > 0 {
		p.out.WriteString("\nFUNCTIONS\n")
		p.funcs(d.Funcs)
	}
	if len(d.Types) > 0 {
		p.out.WriteString("\nTYPES\n")
	}
	for _, typ := range d.Types {
		p.decl(typ.Decl, typ.Doc)
		p.values("", typ.Consts)
		p.values("", typ.Vars)
		p.funcs(typ.Funcs)
		p.funcs(typ.Methods)
	}
	return p.out.String()
}

// A printer writes the documentation of a package.
type printer struct {
	t    *testing.T
	fset *token.FileSet
	d    *doc.Package
	out  strings.Builder
}

func (p *printer) text(comment, indent string) {
	text := p.d.Printer()
	text.TextPrefix = indent
	p.out.Write(text.Text(p.d.Parser().Parse(comment)))
}

func (p *printer) decl(node ast.Node, comment string) {
	p.t.Helper()
	p.out.WriteByte('\n')
	if err := format.Node(&p.out, p.fset, node); err != nil {
		p.t.Fatal(err)
	}
	p.out.WriteByte('\n')
	p.text(comment, "    ")
}

func (p *printer) values(title string, list []*doc.Value) {
	if title != "" && len(list) > 0 {
		p.out.WriteString("\n" + title + "\n")
	}
	for _, v := range list {
		p.decl(v.Decl, v.Doc)
	}
}

func (p *printer) funcs(list []*doc.Func) {
	for _, f := range list {
		f.Decl.Body = nil
		p.decl(f.Decl, f.Doc)
	}
}

func readListings(t *testing.T) map[string]string {
	t.Helper()
	stored := map[string]string{}
	err := filepath.WalkDir(filepath.FromSlash(listings), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		pkg := strings.TrimPrefix(filepath.ToSlash(name), listings+"/")
		stored[strings.TrimSuffix(pkg, ".txt")] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

func writeListings(t *testing.T, found map[string]string) {
	t.Helper()
	if err := os.RemoveAll(filepath.FromSlash(listings)); err != nil {
		t.Fatal(err)
	}
	for pkg, text := range found {
		name := filepath.FromSlash(listings + "/" + pkg + ".txt")
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// differingLines returns the lines that only one of two texts has.
func differingLines(was, is string) string {
	count := map[string]int{}
	lines := func(s string) []string { return strings.Split(strings.TrimSpace(s), "\n") }
	for _, l := range lines(was) {
		count[l]--
	}
	for _, l := range lines(is) {
		count[l]++
	}
	var out strings.Builder
	for _, side := range []struct{ sign, text string }{{"-", was}, {"+", is}} {
		for _, l := range lines(side.text) {
			if n := count[l]; n < 0 && side.sign == "-" || n > 0 && side.sign == "+" {
				count[l] -= max(-1, min(n, 1))
				out.WriteString(side.sign + " " + strings.TrimSpace(l) + "\n")
			}
		}
	}
	return out.String()
}
