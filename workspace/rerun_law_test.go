package workspace_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

// rerun are the functions that call their function again if a file changes meanwhile.
var rerun = []string{"Read", "Update", "Create", "Locked", "CreateGroup", "updateAgent", "updateIdleAgent"}

// TestClosuresKeepNothing: a function that may run again does not write to captured
// variables, so that nothing remains of a run whose result is dropped.
func TestClosuresKeepNothing(t *testing.T) {
	t.Parallel()
	var names []string
	for _, pattern := range []string{"*.go", "internal/*/*.go"} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, list...)
	}
	files, checked := token.NewFileSet(), 0
	for _, name := range names {
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, closure := range rerunClosures(f) {
			checked++
			for _, at := range writesOutside(closure) {
				t.Errorf("%s: the closure writes to %s, which it captures", files.Position(at.Pos()), at.Name)
			}
		}
	}
	if checked < 40 {
		t.Errorf("checked only %d closures", checked)
	}
}

// TestClosuresKeepNothingFinds: the check finds each way to write to a captured variable.
func TestClosuresKeepNothingFinds(t *testing.T) {
	t.Parallel()
	const source = `package p
func f() {
	var n int; var p *int; var s struct{ m int }; var list []int; k := 0
	store.Read(ctx, b, func(v *store.View) (int, error) {
		n = 1; *p = 2; s.m = 3; list[0] = 4; k++
		for k = range list {}
		func() { n += 1 }()
		own := 5; own = n
		v.x = own
		return own, nil
	})
	other(func() { n = 1 })
}`
	f, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, closure := range rerunClosures(f) {
		for _, at := range writesOutside(closure) {
			got = append(got, at.Name)
		}
	}
	if want := []string{"n", "p", "s", "list", "k", "k", "n"}; !slices.Equal(got, want) {
		t.Errorf("writes to %v, want %v", got, want)
	}
}

// rerunClosures returns the function literals that are passed to one of rerun.
func rerunClosures(f *ast.File) (list []*ast.FuncLit) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if slices.Contains(rerun, called(call.Fun)) {
			for _, arg := range call.Args {
				if closure, ok := arg.(*ast.FuncLit); ok {
					list = append(list, closure)
				}
			}
		}
		return true
	})
	return list
}

// called returns the name of a function, without its package.
func called(fun ast.Expr) string {
	switch f := fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// writesOutside returns the variables that f assigns to and that are declared outside of f.
func writesOutside(f *ast.FuncLit) (list []*ast.Ident) {
	write := func(to ast.Expr) {
		if at := variable(to); at != nil && at.Obj != nil && (at.Obj.Pos() < f.Pos() || at.Obj.Pos() > f.End()) {
			list = append(list, at)
		}
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			for _, to := range s.Lhs {
				write(to)
			}
		case *ast.IncDecStmt:
			write(s.X)
		case *ast.RangeStmt:
			write(s.Key)
			write(s.Value)
		}
		return true
	})
	return list
}

// variable returns the variable that an expression is part of, or nil.
func variable(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}
