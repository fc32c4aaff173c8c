package bough_test

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages returns the documents whose names are checked: all but docs/explore.md, which names
// files of its example.
func pages(t *testing.T) []string {
	list, err := filepath.Glob("docs/*.md")
	if err != nil || len(list) == 0 {
		t.Fatalf("docs: %q, %v", list, err)
	}
	list = slices.DeleteFunc(list, func(name string) bool { return filepath.Base(name) == "explore.md" })
	return append(list, "CONTRIBUTING.md", "README.md", "CHANGELOG.md")
}

var (
	fenced   = regexp.MustCompile("(?sm)^```.*?^```")
	quoted   = regexp.MustCompile("`[^`]+`")
	link     = regexp.MustCompile(`\]\(([^)#]+)\)`)
	testName = regexp.MustCompile(`^((?:Test|Fuzz|Benchmark)[A-Z]\w*)(/.*)?$`)
	function = regexp.MustCompile(`^(\w+)\(\)$`)
	selected = regexp.MustCompile(`^([A-Za-z]\w*)\.([A-Z]\w*)$`)
	testRun  = regexp.MustCompile(`^(?:\w+=\w+ )?go test `)
	testsRun = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*`)
	// placeholder matches names of files that a reader is to create.
	placeholder = regexp.MustCompile(`\b(VERB|FORMAT|PROVIDER)\b`)
)

// TestPages checks that each path, test and function that a page names in backticks exists,
// and each file that it links to. A path begins with a folder of the root, or ends in .go. A
// function ends in () and is declared in the file that was named last before it, or after it in
// the same sentence. A name such as Options.Now is that of a field or a method, and fault.Code
// that of a declaration in a package of the module. A command line of go test names existing
// packages and tests.
func TestPages(t *testing.T) {
	src := readSource(t)
	for _, page := range pages(t) {
		text := fenced.ReplaceAllString(readPage(t, page), "")
		for _, problem := range src.check(text) {
			t.Errorf("%s: %s", page, problem)
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}

// TestPagesFinds: the check finds a missing name of each kind.
func TestPagesFinds(t *testing.T) {
	src := readSource(t)
	for text, wrong := range map[string]int{
		"see `docs_test.go`, `docs/architecture.md` and `go test ./...`": 0,
		"see `docs/nothing.md`":                                    1,
		"see `docs_tests.go`":                                      1,
		"see `TestPages` and `TestPages/sub`":                      0,
		"see `TestNoPages`":                                        1,
		"see `readPage()` in `docs_test.go`":                       0,
		"see `readPage()` in `layering_test.go`":                   1,
		"in `docs_test.go`, `readPage()` and `readNone()`":         1,
		"see `cmd/bough/VERB.go`":                                  0,
		"see `go.mod/config.json`":                                 0,
		"see `.bough/operations.jsonl`":                            0,
		"see `go test ./cmd/bough -run 'TestPag'`":                 0,
		"see `X=y go test ./nowhere -run 'TestNoPages|TestPages'`": 2,
	} {
		if problems := src.check(text); len(problems) != wrong {
			t.Errorf("%s: %q; want %d", text, problems, wrong)
		}
	}
}

// TestArchitecturePicture: the picture in docs/architecture.md has exactly the packages of
// the module, and no package imports one of a higher group. The last group is beside the
// others.
func TestArchitecturePicture(t *testing.T) {
	picture, _, _ := strings.Cut(readPage(t, "docs/architecture.md"), "\n## The way of a message")
	parts := strings.Split(picture, "\n```\n")
	if len(parts) != 3 {
		t.Fatalf("there are %d pictures", len(parts)/2)
	}
	row := regexp.MustCompile(`(?m)^  (\S+)(?: +(.*))?$`)
	groupOf := map[string]int{}
	groups := strings.Split(parts[1], "\n\n")
	for i, group := range groups {
		for _, m := range row.FindAllStringSubmatch(group, -1) {
			names := []string{m[1]}
			if parent, many := strings.CutSuffix(m[1], ":"); many {
				names = nil
				for name := range strings.FieldsSeq(m[2]) {
					names = append(names, parent+name)
				}
			}
			for _, name := range names {
				if _, twice := groupOf[name]; twice {
					t.Errorf("the picture has %s twice", name)
				}
				groupOf[name] = i
			}
		}
	}
	known, missing := map[string]bool{}, map[string]bool{}
	for _, f := range goFiles(t) {
		pkg := path.Dir(f.path)
		if pkg == "." || !f.own {
			continue
		}
		known[pkg] = true
		group, ok := groupOf[pkg]
		if !ok {
			missing[pkg] = true
			continue
		}
		for _, imported := range f.imports(t) {
			if at, ok := groupOf[imported]; ok && at < group && group < len(groups)-1 && !f.isTest() {
				t.Errorf("%s imports %s, which the picture in docs/architecture.md has above it", f.path, imported)
			}
		}
	}
	for pkg := range missing {
		t.Errorf("the picture of the packages in docs/architecture.md has no %s: add it to its group", pkg)
	}
	for name := range groupOf {
		if !known[name] {
			t.Errorf("the picture of the packages in docs/architecture.md has %s, which is not a package", name)
		}
	}
}

// A source has the functions of each file of the module, by path, and what it declares:
// fields and methods as TYPE.NAME, other names as PACKAGE.NAME.
type source struct {
	files    map[string][]string
	tests    map[string]bool
	packages map[string]bool
	declared map[string]bool
}

func readSource(t *testing.T) source {
	t.Helper()
	s := source{map[string][]string{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, f := range goFiles(t) {
		s.files[f.path] = []string{}
		s.declare(f)
	}
	return s
}

// declare adds the declarations of a file.
func (s *source) declare(f goFile) {
	pkg := f.syntax.Name.Name
	s.packages[pkg] = true
	for _, d := range f.syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name, of := d.Name.Name, pkg
			if d.Recv != nil {
				of = receiver(d.Recv.List[0].Type)
			}
			s.files[f.path] = append(s.files[f.path], name)
			s.tests[name] = s.tests[name] || f.isTest()
			s.declared[of+"."+name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				s.declareSpec(pkg, spec)
			}
		}
	}
}

func (s *source) declareSpec(pkg string, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			s.declared[pkg+"."+name.Name] = true
		}
	case *ast.TypeSpec:
		s.declared[pkg+"."+spec.Name.Name] = true
		if t, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range t.Fields.List {
				for _, name := range field.Names {
					s.declared[spec.Name.Name+"."+name.Name] = true
				}
			}
		}
	}
}

// receiver returns the name of the type of a method.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// check returns the names in a text that do not exist.
func (s *source) check(text string) (problems []string) {
	last := "" // the file that was named last
	spans := quoted.FindAllString(text, -1)
	for i, span := range spans {
		name := strings.Join(strings.Fields(strings.Trim(span, "`")), " ")
		switch {
		case placeholder.MatchString(name):
		case testName.MatchString(name):
			if !s.tests[testName.FindStringSubmatch(name)[1]] {
				problems = append(problems, "no test "+name)
			}
		case testRun.MatchString(name):
			problems = append(problems, s.checkRun(name)...)
		case selected.MatchString(name):
			of := selected.FindStringSubmatch(name)[1]
			if !s.declared[name] && (s.packages[of] || ast.IsExported(of)) {
				problems = append(problems, "no declaration of "+name)
			}
		case function.MatchString(name):
			next := ""
			for _, after := range spans[i+1:] {
				if after = strings.Trim(after, "`"); !function.MatchString(after) {
					next = after
					break
				}
			}
			f := function.FindStringSubmatch(name)[1]
			if !slices.Contains(s.files[last], f) && !slices.Contains(s.files[next], f) {
				problems = append(problems, name+" is neither in "+last+" nor in "+next)
			}
		case isPath(name):
			if _, err := os.Stat(filepath.FromSlash(name)); err != nil {
				problems = append(problems, err.Error())
			}
			last = name
		}
	}
	return problems
}

// checkRun returns the packages and tests of a command line that do not exist.
func (s *source) checkRun(line string) (problems []string) {
	for _, word := range strings.Fields(line) {
		if dir, ok := strings.CutPrefix(word, "./"); ok && dir != "..." {
			if _, err := os.Stat(filepath.FromSlash(dir)); err != nil {
				problems = append(problems, err.Error())
			}
		}
	}
	for _, name := range testsRun.FindAllString(line, -1) {
		found := false
		for test, isTest := range s.tests {
			found = found || isTest && strings.HasPrefix(test, name)
		}
		if !found {
			problems = append(problems, "no test "+name)
		}
	}
	return problems
}

// isPath reports whether name is a path from the root. Its first name is that of a folder: go
// build leaves a file bough at the root, and pages name files in folders bough elsewhere.
func isPath(name string) bool {
	if strings.ContainsAny(name, " *{<") {
		return false
	}
	if strings.HasSuffix(name, ".go") {
		return true
	}
	first, _, below := strings.Cut(name, "/")
	info, err := os.Stat(first)
	return below && err == nil && info.IsDir()
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
