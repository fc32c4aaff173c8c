package ignore_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/ignore"
)

func TestBuiltIn(t *testing.T) {
	ordinary := ignore.Marks(0)
	workspace := ignore.Mark(".bough", true)
	git := ignore.Mark("HEAD", false) | ignore.Mark("objects", true) | ignore.Mark("refs", true)
	for _, c := range []struct {
		in    ignore.Marks
		names string // directories end in a slash
		why   ignore.Reason
	}{
		{ordinary, ".git/ .git .GIT/ .hg/ .svn/ .jj/ .bzr/ .sl/ .pijul/ _darcs/", ignore.VersionControl},
		{ordinary, "node_modules/", ignore.Dependencies},
		{ordinary, "__pycache__/", ignore.Bytecode},
		{ordinary, ".head.json.bough-tmp", ignore.Temporary},
		{workspace, ".bough/ head.json bookmarks.json config.json", ignore.Workspace},
		{workspace, "src/ README.md files conversations/ agents/ states/ head.json/ docs/ .gitignore .env x.json", ""},
		{workspace.Inside("conversations"), "session_index.json session_index.journal session_1.json", ignore.Workspace},
		{workspace.Inside("conversations"), "talk.go talk/ session.json/ .bough/", ""},
		{workspace.Inside("agents"), "ada.json", ignore.Workspace},
		{workspace.Inside("agents"), "ada.py tools/", ""},
		{workspace.Inside("explorations"), "config.json 4b9ad01c.json", ignore.Workspace},
		{workspace.Inside("packed"), "session_1.json session_1.zst", ignore.Workspace},
		{workspace.Inside("packed"), "session_1.zip", ""},
		{workspace.Inside("files"), strings.Repeat("0a", 32), ignore.Workspace},
		{workspace.Inside("files"), "0a a.json " + strings.Repeat("0g", 32), ""},
		{workspace.Inside("states"), "folders.json states.jsonl links.jsonl forgotten.jsonl 000001.zst restore-1.journal restoring/", ignore.Workspace},
		{workspace.Inside("states"), "machine.py machine.json a.zst restore-1 restoring deep/", ""},
		{workspace.Inside("src") | ordinary.Inside("states"), "states.jsonl a.json 000001.zst", ""},
		{git, "HEAD objects/ refs/ index packed-refs config worktrees/ FETCH_HEAD", ignore.GitData},
		{git, "main/ README.md src/ AHEAD", ""},
		{ordinary, "HEAD objects/ refs/ index config FETCH_HEAD", ""},
		{ordinary, ".bough/ conversations/ agents/ files/ head.json config.json .boughignore", ""},
		{ordinary, ".hg .svn .gitignore .gitmodules .github/ git/ .git.d/ node_modules node_modules2/ Node_Modules/ __pycache__ pycache/ venv/ .venv/ .cache/ CACHEDIR.TAG pyvenv.cfg", ""},
	} {
		for name := range strings.FieldsSeq(c.names) {
			name, isDir := strings.CutSuffix(name, "/")
			if got := c.in.BuiltIn(name, isDir); got != c.why {
				t.Errorf("%s in %v: %q, want %q", name, c.in, got, c.why)
			}
		}
	}
}

func TestWhole(t *testing.T) {
	tag := "Signature: 8a477f597d28d172789f06886806bc55"
	for _, c := range []struct {
		entries, tag string
		why          ignore.Reason
	}{
		{"bin/ pyvenv.cfg", "", ignore.Environment},
		{"CACHEDIR.TAG x", tag + "\n# made by x\n", ignore.Cache},
		{"CACHEDIR.TAG", tag[:len(tag)-1], ""},
		{"CACHEDIR.TAG", " " + tag, ""},
		{"CACHEDIR.TAG", strings.ToUpper(tag), ""},
		{"CACHEDIR.TAG/", tag, ""},
		{"cachedir.tag pyvenv.cfg/ pyvenv.cfg.txt", tag, ""},
		{".bough/ conversations/", "", ""},
		{"HEAD objects/ refs/ config", "", ignore.GitData},
		{"HEAD/ objects/ refs/", "", ""},
		{"HEAD objects refs/", "", ""},
		{"HEAD objects/ Refs/", "", ""},
	} {
		var marks ignore.Marks
		for name := range strings.FieldsSeq(c.entries) {
			name, isDir := strings.CutSuffix(name, "/")
			marks |= ignore.Mark(name, isDir)
		}
		head := c.tag[:min(len(c.tag), ignore.MaxTag)]
		if got := marks.Whole([]byte(head)); got != c.why {
			t.Errorf("%s with %q: %q, want %q", c.entries, c.tag, got, c.why)
		}
		if marks.Tagged() != slices.Contains(strings.Fields(c.entries), ignore.CacheTag) {
			t.Errorf("%s: tagged is %v", c.entries, marks.Tagged())
		}
	}
}

// TestSecret has for each name that is a secret another one that is not.
func TestSecret(t *testing.T) {
	for secret, other := range map[string]string{
		".env": "env", ".env.local": ".env.example", ".ENV": "x.env.md", ".envrc": ".editorconfig", ".env.production.local": ".env.local.sample", ".env~": ".env.template", ".env.dist.bak": ".env.dist",
		"id_rsa": "id_rsa.pub", "ID_RSA": "my_id_rsa", "id_dsa": "id_dsa2", "id_ecdsa": "id_ecdsa.pub", "id_ed25519": "id_ed25519.pub", "id_ed25519_sk": "id_x25519", "id_ecdsa_sk": "id_sk",
		"server.pem": "server.pem.txt", "server.KEY": "server.keys", "a.p12": "a.p11", "a.p8": "a.p7s", "a.pfx": "a.pfxx", "a.ppk": "a.ppkx", "a.jks": "a.js", "a.keystore": "a.keystore.md",
		"a.kdbx": "a.kdb", "a.pkcs12": "pkcs12", ".pem": "pem", "monkey.key": "monkey",
		".netrc": "netrc", "_netrc": "__netrc", ".npmrc": ".npmignore", ".pypirc": "pypirc", ".pgpass": "pgpass.go", ".my.cnf": "my.cnf", ".mylogin.cnf": "mylogin.cnf",
		".git-credentials": "git-credentials.c", ".dockercfg": "dockercfg", ".htpasswd": ".htaccess", ".vault-token": "vault-token", ".s3cfg": "s3cfg", ".boto": "boto", ".terraformrc": ".terraform.lock.hcl",
		"terraform.rc": "terraform.tf", "credentials.tfrc.json": "tfrc.json", "credentials.json": "credentials.go", "application_default_credentials.json": "default_credentials.json",
		"service-account.json": "service.json", "service_account.json": "account.json", "serviceAccountKey.json": "serviceAccount.go", "accessTokens.json": "tokens.json", "secring.gpg": "pubring.gpg", "rclone.conf": "rclone.md",
		".aws/credentials": "aws/credentials", ".docker/config.json": "docker/config.json", ".kube/config": "kube/config", ".cargo/credentials": ".cargo/config.toml", ".cargo/credentials.toml": "cargo/credentials.toml",
		".gem/credentials": "gem/credentials", "gh/hosts.yml": "ansible/hosts.yml", "glab-cli/config.yml": "cli/config.yml", "gcloud/credentials.db": "x/credentials.db", "gcloud/access_tokens.db": "gcloud/tokens.db",
		".azure/msal_token_cache.json": ".azure/config",
	} {
		for path, want := range map[string]bool{secret: true, other: false} {
			dir, name, ok := strings.Cut(path, "/")
			if !ok {
				dir, name = "", path
			}
			for _, dir := range []string{dir, strings.ToUpper(dir)} {
				if why := ignore.Secret(dir, name); (why != "") != want {
					t.Errorf("%s: %q", path, why)
				}
			}
			if !ok {
				if (ignore.Secret(strings.Repeat("d", 300), name) != "") != want {
					t.Errorf("%s in a directory with a long name: %v", path, !want)
				}
			}
		}
	}
	long := strings.Repeat("x", 500)
	for name, want := range map[string]bool{long + ".pem": true, ".env." + long: true, ".env." + long + ".example": false, long: false, long + "id_rsa": false} {
		if (ignore.Secret("", name) != "") != want {
			t.Errorf("%.10s…: %v", name, !want)
		}
	}
}

// TestSecretNames: the lists are sorted and in small letters, every name in them is found, and
// a look-up takes no allocations.
func TestSecretNames(t *testing.T) {
	for _, list := range ignore.SecretLists() {
		if !slices.IsSorted(list) {
			t.Errorf("not sorted: %q", list)
		}
		for _, name := range list {
			dir, file, ok := strings.Cut(name, "/")
			if !ok {
				dir, file = "", name
			}
			if ignore.Secret(dir, file) == "" || strings.ToLower(name) != name {
				t.Errorf("%s is not found", name)
			}
		}
	}
	if n := testing.AllocsPerRun(10, func() { ignore.Secret("directory", "component.tsx"); ignore.Secret("", ".env") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestParallel: rules of one directory serve several walks at once, and take no allocations
// for a name.
func TestParallel(t *testing.T) {
	root := ignore.Root(false, ignore.Source{Data: []byte(fifty)})
	done := make(chan bool)
	for range 4 {
		go func() {
			r := root
			for range 100 {
				r = r.Enter("packages").Enter("x", ignore.Source{Data: []byte("*.go\n")})
			}
			done <- r.Ignored("a.go", false) && !root.Ignored("a.go", false)
		}()
	}
	for range 4 {
		if !<-done {
			t.Error("wrong")
		}
	}
	if n := testing.AllocsPerRun(10, func() { root.Ignored("component.tsx", false) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestMemory: the rules of many directories share the patterns above them.
func TestMemory(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "/d%d/*/x%d\n*.e%d\n**/a%d/b\n", i, i, i, i)
	}
	root := ignore.Root(false, ignore.Source{Data: []byte(b.String())})
	var before, after runtime.MemStats
	kept := make([]*ignore.Rules, 0, 600)
	root.Enter("other").Enter("other") // what all of them share
	runtime.ReadMemStats(&before)
	for i := range 200 {
		own := root.Enter(fmt.Sprintf("other%d", i), ignore.Source{Data: []byte("*.o\n")})
		kept = append(kept, own, own.Enter("x"), own.Enter("x").Enter("y"))
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / uint64(len(kept)); each > 2000 {
		t.Errorf("each of %d directories takes %d bytes", len(kept), each)
	}
	for _, r := range kept[:3] {
		if !r.Ignored("x.e1999", false) || !r.Ignored("x.o", false) || r.Ignored("b", false) || !r.Enter("a77").Ignored("b", false) {
			t.Fatal("wrong")
		}
	}
}
