package main

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace/fault"
)

// TestPhrases: the command has a phrase for each action, and for nothing else.
func TestPhrases(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "workspace", "fault", "step.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	actions := map[fault.Action]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			word, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			actions[fault.Action(word)] = true
		}
		return true
	})
	if len(actions) < 30 {
		t.Fatalf("found only %d actions", len(actions))
	}
	for a := range actions {
		if phrases()[a] == "" {
			t.Errorf("no phrase for %s", a)
		}
	}
	for a := range phrases() {
		if !actions[a] {
			t.Errorf("%s is not an action", a)
		}
	}
}

// ofCommand matches text of the command: an invocation, or a flag. verbInLog matches the verb
// of an operation, and what another program expects: these are data.
var (
	ofCommand = regexp.MustCompile(`'bough |(^|[^-a-z])--[a-z]`)
	verbInLog = regexp.MustCompile(`^"([a-z]+ )?--[a-z-]+(=[a-z]+)?"$|^"diff --git "$`)
)

// TestNoCommandInLibrary: only the command names its verbs in strings.
func TestNoCommandInLibrary(t *testing.T) {
	files := 0
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "cmd" || d.Name() == "testdata" || d.Name() == "bench" || d.Name() == ".git" || d.Name() == "fixtures") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file := token.NewFileSet().AddFile(path, -1, len(source))
		var s scanner.Scanner
		s.Init(file, source, nil, 0)
		for {
			switch pos, kind, text := s.Scan(); {
			case kind == token.EOF:
				return nil
			case kind == token.STRING && ofCommand.MatchString(text) && !verbInLog.MatchString(text):
				t.Errorf("%s: %s", file.Position(pos), text)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Fatalf("found only %d files", files)
	}
}

func TestHint(t *testing.T) {
	for _, c := range []struct {
		e    fault.Error
		want string
	}{
		{fault.Error{}, ""},
		{fault.Error{Hint: "a fact"}, "a fact"},
		{fault.Error{Next: fault.Do(fault.ListAgents)}, "'bough agent ls' lists them"},
		{fault.Error{Hint: "a fact", Next: fault.Do(fault.ListTrees, "ada")}, "a fact; 'bough agent trees ada --all' lists them"},
		{fault.Error{Next: fault.Do(fault.RetryTurnOrQueue, "ada", "2 messages")}, "'bough agent chat ada --retry' repeats the turn; 'bough queue ada --resume' delivers 2 messages"},
	} {
		if got := hint(&c.e); got != c.want {
			t.Errorf("hint of %+v is %q, want %q", c.e, got, c.want)
		}
	}
}
