package bough_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A goFile is a Go file of this module or of one below it.
type goFile struct {
	path   string // with slashes
	source []byte
	syntax *ast.File
	own    bool // it belongs to this module
}

// goFiles returns all Go files, tests included.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	files, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 100 {
		t.Fatalf("found only %d Go files", len(files))
	}
	return files
}

// parsed reads and parses the files once for all tests.
var parsed = sync.OnceValues(func() (files []goFile, err error) {
	fset := token.NewFileSet()
	other := "" // the folder of another module
	err = filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case d.IsDir():
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && name != "." {
				other = name + string(filepath.Separator)
			}
			return nil
		case filepath.Ext(name) != ".go":
			return nil
		}
		f := goFile{path: filepath.ToSlash(name), own: other == "" || !strings.HasPrefix(name, other)}
		if f.source, err = os.ReadFile(name); err != nil {
			return err
		}
		f.syntax, err = parser.ParseFile(fset, name, f.source, parser.SkipObjectResolution)
		files = append(files, f)
		return err
	})
	return files, err
})

// isTest reports whether go build ignores the file.
func (f goFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// imports returns the packages of the module that a file imports.
func (f goFile) imports(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, spec := range f.syntax.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if own, ok := strings.CutPrefix(name, module); ok {
			list = append(list, own)
		}
	}
	return list
}
