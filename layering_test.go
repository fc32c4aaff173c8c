package bough_test

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/bough-dev/bough/"

// layers lists the packages from the top layer to the bottom one. A package imports only
// packages of lower lines; a name that ends in "/" means all packages below it.
var layers = [][]string{
	{"cmd/bough", "docs/pictures", "docs/pictures/terminal"},
	{"cmd/bough/internal/ui"},
	{"server", "agent/model/openai", "agent/model/anthropic", "agent/model/command", "agent/mcp"},
	{"server/internal/native"},
	{"server/internal/eventstream", "server/page"},
	{"server/internal/exchange", "server/mcp"},
	{"internal/api", "internal/feed", "internal/treegraph", "internal/treerows", "internal/sentence"},
	{"convert/redact", "convert/html"},
	{"agent/model/internal/modeltest"},
	{"cmd/bough/internal/", "agent/model/internal/"},
	{"remote/s3"},
	{"remote"},
	{"remote/travel"},
	{"remote/plan"},
	{"remote/stream"},
	{"remote/internal/storetest"},
	{"remote/internal/faults"},
	{"remote/internal/rows"},
	{"remote/join", "remote/seal", "remote/bucket"},
	{"remote/record"},
	{"explore"},
	{"explore/recognize"},
	{"internal/tokens"},
	{"internal/buffer"},
	{"workspace"},
	{"workspace/internal/checkup", "workspace/internal/eraser", "workspace/internal/reverter", "workspace/internal/searcher", "workspace/internal/follower", "workspace/internal/mirrorer"},
	{"workspace/internal/folders", "workspace/internal/digest", "workspace/internal/replay"},
	{"workspace/internal/importer", "workspace/internal/edits"},
	{"workspace/internal/store"},
	{"workspace/rewrite"},
	{"workspace/agents", "workspace/inspect"},
	{"workspace/mirror"},
	{"workspace/bookmark", "workspace/compare", "workspace/provenance", "internal/lookup", "internal/outfile", "internal/register", "workspace/search"},
	{"workspace/doctor", "workspace/fault", "workspace/forget", "workspace/history", "workspace/imports", "workspace/lines", "workspace/merge", "workspace/trash", "workspace/usage", "workspace/origin", "workspace/project", "workspace/suggest"},
	{"workspace/restores"},
	{"workspace/files"},
	{"checkpoint"},
	{"workspace/task"},
	{"index", "internal/operation", "convert", "internal/title"},
	{"workspace/events"},
	{"agent"},
	{"agent/turn", "internal/cited"},
	{"agent/model"},
	{"convert/internal/aider", "convert/internal/aisdk", "convert/internal/amp", "convert/internal/anthropic", "convert/internal/antigravity", "convert/internal/atif", "convert/internal/chatgpt", "convert/internal/claude", "convert/internal/claudeai", "convert/internal/cline", "convert/internal/codex", "convert/internal/copilot", "convert/internal/copilotchat", "convert/internal/cursor",
		"convert/internal/gemini", "convert/internal/goose", "convert/internal/librechat", "convert/internal/llm", "convert/internal/markdown", "convert/internal/messages", "convert/internal/oasst", "convert/internal/openai", "convert/internal/opencode", "convert/internal/openwebui", "convert/internal/otel",
		"convert/internal/penguin", "convert/internal/pi", "convert/internal/qwen", "convert/internal/sharegpt", "convert/internal/sillytavern", "convert/internal/zed"},
	{"convert/internal/request", "internal/testtranscript"},
	{"convert/internal/nodes"},
	{"convert/internal/thread", "convert/internal/export"},
	{"convert/internal/jsondoc"},
	{"convert/internal/jsonl", "convert/internal/nested", "convert/internal/times", "convert/internal/report"},
	{"convert/internal/"},
	{"internal/stored"},
	{"convert/transcript"},
	{"internal/records", "internal/sessions", "internal/copymerge", "internal/spoken"},
	{"internal/fileedit"},
	{"session", "convert/content"},
	{"internal/integration", "internal/states", "internal/coverage", "internal/restore", "internal/isolate"},
	{"internal/scan", "internal/gitrepo"},
	{"internal/filetree", "internal/database"},
	{"internal/ignore", "internal/gitconfig", "internal/gitcommit", "internal/config", "internal/child", "internal/pack", "internal/settingsfile", "internal/hooklog", "internal/treepicture"},
	{"internal/"},
	{"internal/testsize"},
	{"docs/pictures/internal/cast"},
}

// apart are the packages outside the layers, with the packages that may import them beside
// tests.
var apart = map[string][]string{
	"fixtures":          {"cmd/bough", "docs/pictures"},
	"internal/testsize": {"remote/internal/storetest"},
}

func layerOf(pkg string) (layer int, ok bool) {
	for i, line := range layers {
		for _, name := range line {
			switch {
			case pkg == name:
				return len(layers) - i, true
			case !ok && strings.HasSuffix(name, "/") && strings.HasPrefix(pkg, name):
				layer, ok = len(layers)-i, true
			}
		}
	}
	return layer, ok
}

// TestLayering: each import of the module goes to a lower layer.
func TestLayering(t *testing.T) {
	for _, f := range goFiles(t) {
		if !f.own {
			continue // a module of its own, which uses this one
		}
		for _, imported := range f.imports(t) {
			if why := forbidden(path.Dir(f.path), imported, f.isTest()); why != "" {
				t.Errorf("%s imports %s: %s", f.path, imported, why)
			}
		}
	}
}

// TestRoot: beside the five folders that users know, at most ten folders of the root have Go files.
func TestRoot(t *testing.T) {
	rest := map[string]bool{}
	for _, f := range goFiles(t) {
		if top, _, ok := strings.Cut(f.path, "/"); ok {
			rest[top] = true
		}
	}
	for _, name := range []string{"cmd", "session", "checkpoint", "index", "fixtures"} {
		if !rest[name] {
			t.Errorf("no folder %s", name)
		}
		delete(rest, name)
	}
	if len(rest) > 10 {
		t.Errorf("%d more folders: %v", len(rest), slices.Sorted(maps.Keys(rest)))
	}
}

// forbidden returns why pkg must not import another package of the module, "" if it may.
// Tests may import the packages in apart.
func forbidden(pkg, imported string, test bool) string {
	if allowed, ok := apart[imported]; ok {
		if test {
			return ""
		}
		for _, name := range allowed {
			if pkg == name {
				return ""
			}
		}
		return "only tests and " + strings.Join(allowed, ", ") + " use it"
	}
	if test && pkg == "." || pkg == imported {
		return ""
	}
	from, ok := layerOf(pkg)
	if _, isApart := apart[pkg]; isApart {
		return "it stands apart"
	}
	if !ok {
		return "add " + pkg + " to layers in layering_test.go: it is in no layer"
	}
	to, ok := layerOf(imported)
	switch {
	case !ok:
		return "add " + imported + " to layers in layering_test.go: it is in no layer"
	case to >= from:
		why := "imports point strictly down, and layers in layering_test.go does not have it below " + pkg
		if !slices.ContainsFunc(layers, func(line []string) bool { return slices.Contains(line, imported) }) {
			why += "; add " + imported + " by its own name"
		}
		return why
	}
	return ""
}

// TestForbidden: the check finds an import of each forbidden kind.
func TestForbidden(t *testing.T) {
	for _, c := range []struct {
		pkg, imported string
		test          bool
		forbidden     bool
	}{
		{"workspace", "session", false, false},
		{"session", "workspace", false, true},
		{"index", "index", true, false},
		{"internal/durable", "internal/rawjson", false, true},
		{"session", "fixtures", false, true},
		{"session", "fixtures", true, false},
		{"cmd/bough", "fixtures", false, false},
		{"elsewhere", "session", false, true},
		{"workspace", "elsewhere", false, true},
		{"workspace/internal/store", "workspace", false, true},
		{"workspace/internal/searcher", "workspace/internal/eraser", false, true},
	} {
		if why := forbidden(c.pkg, c.imported, c.test); (why != "") != c.forbidden {
			t.Errorf("forbidden(%q, %q, %v) = %q", c.pkg, c.imported, c.test, why)
		}
	}
}

// TestSQLite: one package links SQLite, for the databases of other programs, and another one makes
// those of tests.
func TestSQLite(t *testing.T) {
	found := 0
	for _, f := range goFiles(t) {
		dir := path.Dir(f.path)
		for _, spec := range f.syntax.Imports {
			switch name := strings.Trim(spec.Path.Value, `"`); {
			case !f.own || !strings.HasPrefix(name, "modernc.org/"):
			case dir == "internal/database" || dir == "internal/testdatabase":
				found++
			default:
				t.Errorf("%s imports %s; only internal/database links SQLite", f.path, name)
			}
		}
		for _, imported := range f.imports(t) {
			if imported == "internal/testdatabase" && !f.isTest() {
				t.Errorf("%s imports %s, which is for tests", f.path, imported)
			}
		}
	}
	if found < 2 {
		t.Errorf("only %d imports of SQLite found", found)
	}
}
