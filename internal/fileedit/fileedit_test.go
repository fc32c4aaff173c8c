package fileedit_test

import (
	"slices"
	"testing"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/fileedit"
)

const patch = `*** Begin Patch
*** Add File: a.txt
+one
+
*** Update File: old.go
*** Move to: new.go
@@ func f() {
 keep
-gone
+here

@@
-x
+y
*** End of File
*** Delete File: z
*** End Patch`

func patched() []fileedit.Edit {
	return []fileedit.Edit{
		{Kind: fileedit.Write, Path: "a.txt", New: "one\n\n"},
		{Kind: fileedit.Move, Path: "old.go", New: "new.go"},
		{Path: "new.go", Old: "keep\ngone\n\n", New: "keep\nhere\n\n"},
		{Path: "new.go", Old: "x\n", New: "y\n"},
		{Kind: fileedit.Delete, Path: "z"},
	}
}

// TestOf: the edits of the calls of each program.
func TestOf(t *testing.T) {
	quoted := `"*** Begin Patch\n*** Add File: a b\n+x\n*** End Patch"`
	for _, c := range []struct {
		name, arguments string
		want            []fileedit.Edit
	}{
		{"Edit", `{"file_path":"/p/a.go","old_string":"x","new_string":"y"}`, []fileedit.Edit{{Path: "/p/a.go", Old: "x", New: "y"}}},
		{"Edit", `{"file_path":"/p/a.go","old_string":"x","new_string":"y","replace_all":true}`, []fileedit.Edit{{Path: "/p/a.go", Old: "x", New: "y", All: true}}},
		{"MultiEdit", `{"file_path":"a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"1","new_string":"2"}]}`, []fileedit.Edit{{Path: "a", Old: "x", New: "y"}, {Path: "a", Old: "1", New: "2"}}},
		{"Write", `{"file_path":"a","content":"x\n"}`, []fileedit.Edit{{Kind: fileedit.Write, Path: "a", New: "x\n"}}},
		{"write_file", `{"file_path":"a","content":""}`, []fileedit.Edit{{Kind: fileedit.Write, Path: "a"}}},
		{"replace", `{"file_path":"a","old_string":"x","new_string":"y","expected_replacements":3}`, []fileedit.Edit{{Path: "a", Old: "x", New: "y", All: true}}},
		{"edit", `{"filePath":"a","oldString":"x","newString":"y"}`, []fileedit.Edit{{Path: "a", Old: "x", New: "y"}}},
		{"edit", `{"path":"a","edits":[{"oldText":"x","newText":"y"}]}`, []fileedit.Edit{{Path: "a", Old: "x", New: "y"}}},
		{"str_replace_based_edit_tool", `{"command":"create","path":"a","file_text":"x"}`, []fileedit.Edit{{Kind: fileedit.Write, Path: "a", New: "x"}}},
		{"str_replace_based_edit_tool", `{"command":"insert","path":"a","insert_line":3,"insert_text":"x\n"}`, []fileedit.Edit{{Path: "a", New: "x\n"}}},
		{"str_replace_based_edit_tool", `{"command":"view","path":"a"}`, nil},
		{"apply_patch", patch, patched()},
		{"shell", `{"command":["bash","-lc",` + quoted + `]}`, []fileedit.Edit{{Kind: fileedit.Write, Path: "a b", New: "x\n"}}},
		{"Read", `{"file_path":"a","offset":3}`, nil},
		{"grep", `{"path":"a","content":"x"}`, nil},
		{"Write", `{"content":"x"}`, nil},
		{"Bash", `{"command":"echo x > a"}`, nil},
		{"Edit", `no JSON`, nil},
		{"Edit", ``, nil},
	} {
		if got := fileedit.Of(content.Call{Name: c.name, Arguments: c.arguments}); !slices.Equal(got, c.want) {
			t.Errorf("%s %s:\n%+v, want\n%+v", c.name, c.arguments, got, c.want)
		}
	}
}

func TestIn(t *testing.T) {
	for _, c := range []struct {
		dir, from, name, want string
		ok                    bool
	}{
		{"/p", "", "/p/a/b", "a/b", true},
		{"/p/", "", "/p/./a/../b", "b", true},
		{"/p", "/p/sub", "b", "sub/b", true},
		{"/p", "/p/sub", "../b", "b", true},
		{"/p", "/p", "../q/b", "", false},
		{"/p", "", "b", "", false},
		{"/p", "", "/px/b", "", false},
		{`C:\p`, "", `C:\p\a\b`, "a/b", true},
		{`C:\p`, `C:\p`, `a`, "a", true},
		{"/", "", "/a", "a", true},
	} {
		if got, ok := fileedit.In(c.dir, c.from, c.name); ok != c.ok || ok && got != c.want {
			t.Errorf("In(%q, %q, %q) = %q, %v", c.dir, c.from, c.name, got, ok)
		}
	}
}
