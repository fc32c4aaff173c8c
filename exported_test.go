package bough_test

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxExported is the maximum number of types and functions that a public package exports.
// Methods, constants and variables do not count.
const maxExported = 25

// exported lists the packages that export more.
var exported = map[string]int{
	"workspace": 51, // the front door
}

// TestExported holds the number of exported names of the public packages, and that none of
// them has a type of an internal package in its documentation.
func TestExported(t *testing.T) {
	counts := map[string]int{}
	var found []string
	for _, f := range goFiles(t) {
		pkg := path.Dir(f.path)
		if !f.own || f.isTest() || strings.HasPrefix(pkg, "cmd/") || strings.Contains("/"+pkg+"/", "/internal/") {
			continue
		}
		internal := internalImports(t, f)
		for _, d := range f.syntax.Decls {
			for _, e := range exportedOf(d) {
				if e.counts {
					counts[pkg]++
				}
				if showsInternal(e.shown, internal) {
					found = append(found, pkg+"."+e.name)
				}
			}
		}
	}
	if len(counts) < 10 {
		t.Fatalf("found only %d packages", len(counts))
	}
	for pkg, n := range counts {
		if most := max(maxExported, exported[pkg]); n > most {
			t.Errorf("%s exports %d types and functions, at most %d are allowed", pkg, n, most)
		}
	}
	slices.Sort(found)
	for _, name := range slices.Compact(found) {
		t.Errorf("%s has a type of an internal package", name)
	}
}

// internalImports returns the names under which a file imports internal packages of the
// module.
func internalImports(t *testing.T, f goFile) []string {
	var names []string
	for _, spec := range f.syntax.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		own, ok := strings.CutPrefix(path, module)
		if !ok || !strings.Contains("/"+own, "/internal/") {
			continue
		}
		if spec.Name != nil {
			names = append(names, spec.Name.Name)
		} else {
			names = append(names, own[strings.LastIndex(own, "/")+1:])
		}
	}
	return names
}

// A declared is an exported name with its documented types.
type declared struct {
	name   string
	counts bool // it is a type, or a function that is no method
	shown  []ast.Node
}

func exportedOf(d ast.Decl) (list []declared) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if !d.Name.IsExported() {
			return nil
		}
		if d.Recv == nil {
			return []declared{{d.Name.Name, true, []ast.Node{d.Type}}}
		}
		recv := d.Recv.List[0].Type
		if star, ok := recv.(*ast.StarExpr); ok {
			recv = star.X
		}
		if generic, ok := recv.(*ast.IndexExpr); ok {
			recv = generic.X
		}
		if id, ok := recv.(*ast.Ident); ok && id.IsExported() {
			return []declared{{id.Name + "." + d.Name.Name, false, []ast.Node{d.Type}}}
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					list = append(list, declared{spec.Name.Name, true, shownOf(spec.Type)})
				}
			case *ast.ValueSpec:
				if spec.Names[0].IsExported() && spec.Type != nil {
					list = append(list, declared{spec.Names[0].Name, false, []ast.Node{spec.Type}})
				}
			}
		}
	}
	return list
}

// shownOf returns the parts of a type that its documentation shows: of a struct its
// exported fields.
func shownOf(e ast.Expr) []ast.Node {
	st, ok := e.(*ast.StructType)
	if !ok {
		return []ast.Node{e}
	}
	var list []ast.Node
	for _, f := range st.Fields.List {
		if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
			list = append(list, f.Type)
		}
	}
	return list
}

func showsInternal(nodes []ast.Node, internal []string) (shows bool) {
	for _, n := range nodes {
		ast.Inspect(n, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(internal, x.Name) {
					shows = true
				}
			}
			return true
		})
	}
	return shows
}
