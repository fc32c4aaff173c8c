package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// The programs are large, and need a recent version of node, so these tests are run by
// '.ci/run --deep', which has the versions, and by hand:
//
//	npm install --prefix DIR @anthropic-ai/claude-code @openai/codex opencode-ai @google/gemini-cli @mariozechner/pi-coding-agent @github/copilot cline
//	npm install --prefix DIR --ignore-scripts --force @kilocode/cli-linux-x64
//	ln -s ../@kilocode/cli-linux-x64/bin/kilo DIR/node_modules/.bin/kilo
//	go test ./cmd/bough -run TestPrograms -timeout 60m -programs claude-code,codex,opencode,gemini,pi,copilot-cli,cline,kilo -programs-in DIR
//
// If npm runs no scripts of packages, run 'node install.cjs' in
// DIR/node_modules/@anthropic-ai/claude-code and 'node postinstall.mjs' in
// DIR/node_modules/opencode-ai between the two.
var (
	programList = flag.String("programs", "", "the assistants that resume exports of bough: claude-code,codex,opencode,gemini,pi,copilot-cli,cline,kilo")
	programsIn  = flag.String("programs-in", "", "the folder where npm installed the assistants")
)

// An assistant is a program that resumes a conversation exported by bough, without
// interaction.
type assistant struct {
	format string
	// setUp writes the settings that direct it to the stand-in at a URL, and returns its
	// environment beside HOME and PATH.
	setUp func(home, url string) (env []string, err error)
	// prompt turns the command that bough prints into one with a single prompt.
	prompt func(argv []string, text string) []string
	// thinks reports whether its model receives the thinking in a transcript.
	thinks func(from telling) bool
	aloud  bool           // thinking is sent as ordinary text, because the model is another one
	fails  bool           // its model receives the failure marks of results
	whole  bool           // bough exports no compaction to it, but all messages and the summary
	alone  bool           // a compaction keeps none of the messages before it, which the export says
	words  *regexp.Regexp // what the program adds to messages, nil for nothing
	// fork turns the command that bough prints into one that continues in a copy. It is nil
	// if the program makes no copies, or, as opencode, copies that neither name their
	// origin nor keep an id.
	fork func(argv []string) []string
	// wraps is what the program adds to a prompt, and stores; its first group is the prompt. It is
	// nil for nothing.
	wraps *regexp.Regexp
	// exports reports whether it keeps conversations in a database and exports them.
	exports bool
}

func assistants() []assistant {
	return []assistant{
		{
			format: "claude-code",
			thinks: func(from telling) bool { return from.signed },
			fails:  true,
			setUp: func(home, url string) ([]string, error) {
				return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=k", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}, nil
			},
			prompt: func(argv []string, text string) []string { return append(argv, "-p", text) },
			fork:   func(argv []string) []string { return append(argv, "--fork-session") },
		},
		{
			format: "codex",
			thinks: func(from telling) bool { return from.format() == "codex" },
			setUp: func(home, url string) ([]string, error) {
				return []string{"STANDIN_KEY=k"}, writeSettings(filepath.Join(home, ".codex", "config.toml"), `model = "stand-in"
model_provider = "standin"
[model_providers.standin]
name = "stand-in"
base_url = "`+url+`/v1"
wire_api = "responses"
env_key = "STANDIN_KEY"
request_max_retries = 0
stream_max_retries = 0
`)
			},
			prompt: func(argv []string, text string) []string {
				return append(append([]string{argv[0], "exec", "--skip-git-repo-check"}, argv[1:]...), text)
			},
			fork: func(argv []string) []string { return append([]string{argv[0], "fork"}, argv[2:]...) },
		},
		builtOnOpencode("opencode", "OPENCODE"),
		kilo(),
		{
			format: "gemini",
			thinks: func(from telling) bool { return false },
			fails:  true,
			whole:  true,
			setUp: func(home, url string) ([]string, error) {
				return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=k", "GEMINI_CLI_TRUST_WORKSPACE=true"},
					writeSettings(filepath.Join(home, ".gemini", "settings.json"), `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false}}`)
			},
			prompt: func(argv []string, text string) []string {
				return append(argv, "-m", "gemini-2.5-flash", "-p", text)
			},
		},
		{
			format: "pi",
			thinks: func(from telling) bool { return true },
			aloud:  true,
			fails:  true,
			setUp: func(home, url string) ([]string, error) {
				return []string{"PI_OFFLINE=1"}, writeSettings(filepath.Join(home, ".pi", "agent", "models.json"), `{"providers":{"anthropic":{"baseUrl":"`+url+`","apiKey":"k"}}}`)
			},
			prompt: func(argv []string, text string) []string {
				return append(argv, "--model", "anthropic/claude-haiku-4-5", "-p", text)
			},
			fork: func(argv []string) []string { return []string{argv[0], "--fork", argv[2]} },
		},
		{
			format: "cline",
			thinks: func(from telling) bool { return from.signed },
			fails:  true,
			whole:  true,
			words:  regexp.MustCompile(`</?user_input[^>]*>`),
			setUp: func(home, url string) ([]string, error) {
				return nil, writeSettings(filepath.Join(home, ".cline", "data", "settings", "providers.json"), `{"version":1,"lastUsedProvider":"anthropic","modes":{},
"providers":{"anthropic":{"settings":{"provider":"anthropic","apiKey":"k","model":"claude-haiku-4-5","baseUrl":"`+url+`"},"updatedAt":"2026-11-01T00:00:00.000Z","tokenSource":"manual"}}}`)
			},
			prompt: func(argv []string, text string) []string { return append([]string{"sh", "-c", typing, text}, argv...) },
		},
		{
			format: "copilot-cli",
			thinks: func(from telling) bool { return false },
			alone:  true,
			words:  regexp.MustCompile(`<current_datetime>[^<]*</current_datetime>\n\n|(?m:^user: (Attached image|a\.png)\n)`),
			setUp: func(home, url string) ([]string, error) {
				return []string{"COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_BASE_URL=" + url, "COPILOT_PROVIDER_API_KEY=k", "COPILOT_MODEL=m", "COPILOT_OFFLINE=true"}, nil
			},
			prompt: func(argv []string, text string) []string { return append(argv, "--allow-all-tools", "-p", text) },
		},
	}
}

// kilo returns Kilo Code, which tells the model about the folder, and which agent it was before.
func kilo() assistant {
	a := builtOnOpencode("kilo", "KILO")
	setUp := a.setUp
	a.setUp = func(home, url string) ([]string, error) {
		env, err := setUp(home, url)
		return append(env, "KILO_TELEMETRY_LEVEL=off", "KILO_DISABLE_SESSION_INGEST=1", "KILO_DISABLE_CODEBASE_INDEXING=1"), err
	}
	a.words = regexp.MustCompile(`\nuser: \s*<(environment_details>[^<]*</environment_details>|system-reminder>[^<]*</system-reminder>\n)`)
	a.wraps = regexp.MustCompile(`\[\{"type":"text","text":"([^"]*)"\},\{"type":"text","text":"[^"]*<system-reminder>[^"]*"\}\]`)
	return a
}

// builtOnOpencode returns opencode or Kilo Code, whose environment variables begin with prefix.
func builtOnOpencode(name, prefix string) assistant {
	return assistant{
		format:  name,
		exports: true,
		thinks:  func(from telling) bool { return true },
		aloud:   true,
		fails:   true,
		whole:   true,
		setUp: func(home, url string) ([]string, error) {
			var env []string
			for _, set := range []string{"_DISABLE_MODELS_FETCH=1", "_DISABLE_AUTOUPDATE=1", "_DISABLE_LSP_DOWNLOAD=1", "_DISABLE_DEFAULT_PLUGINS=1"} {
				env = append(env, prefix+set)
			}
			return env, writeSettings(filepath.Join(home, ".config", name, name+".json"), `{"model":"standin/m","small_model":"standin/m","autoupdate":false,"share":"disabled",
"provider":{"standin":{"npm":"@ai-sdk/anthropic","name":"stand-in","options":{"baseURL":"`+url+`/v1","apiKey":"k"},
"models":{"m":{"name":"m","attachment":true,"modalities":{"input":["text","image"],"output":["text"]}}}}}}`)
		},
		prompt: func(argv []string, text string) []string {
			// The stand-in does not have the model of the conversation.
			return append(append([]string{argv[0], "run"}, argv[1:]...), "-m", "standin/m", text)
		},
	}
}

// typing runs a program that resumes a session in a terminal only, types a prompt, and ends the
// program after the answer.
const typing = `t="tmux -u -L bough-$$ -f /dev/null"
screen() { $t capture-pane -p; }
answers() { screen | grep -c "` + standInSays + `"; }
wait_for() { # at most a minute
	n=0
	until "$@"; do
		n=$((n + 1))
		[ $n -lt 300 ] || { screen >&2; $t kill-server; exit 1; }
		sleep 0.2
	done
}
ready() { screen | grep -q Auto-approve; }
answered() { [ "$(answers)" -gt "$before" ]; }
ended() { ! $t has-session 2>/dev/null; }
$t new-session -d -x 200 -y 400 "$@" || exit
wait_for ready
before=$(answers)
$t send-keys -l "$0"
sleep 0.5
$t send-keys Enter
wait_for answered
sleep 1
$t send-keys C-c
wait_for ended`

// assistantsAsked returns the assistants that the flags name, nil if there are none.
func assistantsAsked(t *testing.T) (list []assistant) {
	t.Helper()
	if *programList == "" {
		return nil
	}
	for _, name := range strings.Split(*programList, ",") {
		at := slices.IndexFunc(assistants(), func(a assistant) bool { return a.format == name })
		if at < 0 {
			t.Fatalf("%q is not one of the programs", name)
		}
		list = append(list, assistants()[at])
	}
	return list
}

func writeSettings(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// A seat is the place where an assistant is tried: an empty home and working folder, a
// workspace, and the stand-in for its provider.
type seat struct {
	assistant
	home, work, ws string
	env            []string
	in             *standIn
	told           gjson.Result // by the last resume
}

func newSeat(t *testing.T, a assistant) *seat {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &seat{assistant: a, home: filepath.Join(root, "home"), work: filepath.Join(root, "work"), ws: filepath.Join(root, "ws"), in: &standIn{}}
	for _, dir := range []string{s.home, s.work} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(s.in)
	t.Cleanup(server.Close)
	more, err := a.setUp(s.home, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	bin, err := filepath.Abs(filepath.Join(*programsIn, "node_modules", ".bin"))
	if err != nil {
		t.Fatal(err)
	}
	s.env = append(more, "HOME="+s.home, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return s
}

// run runs a program in the working folder with a minimal environment and returns its
// output.
func (s *seat) run(t *testing.T, argv ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// The program is looked up in the PATH of the test.
	name := argv[0]
	for _, dir := range filepath.SplitList(strings.TrimPrefix(s.env[len(s.env)-1], "PATH=")) {
		if found, err := exec.LookPath(filepath.Join(dir, argv[0])); err == nil {
			name = found
			break
		}
	}
	cmd := exec.CommandContext(ctx, name, argv[1:]...)
	cmd.Dir, cmd.Env = s.work, s.env
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", argv, err, out, errs.String())
	}
	return string(out)
}

// bough runs bough on the workspace and returns its JSON output.
func (s *seat) bough(t *testing.T, args ...string) gjson.Result {
	t.Helper()
	return gjson.Parse(s.run(t, append([]string{"bough", "-w", s.ws, "--json"}, args...)...))
}

// bringIn imports a file of testdata/transcripts.txtar, as if it had been written in the
// working folder, and returns the session.
func (s *seat) bringIn(t *testing.T, from telling) string {
	t.Helper()
	path := filepath.Join(transcripts(t), from.file)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := string(must(json.Marshal(s.work)))
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(data), `"/home/dev/ini"`, dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	return s.bough(t, "import", path).Get("imported.0.session_id").String()
}

// resume continues a branch in the assistant and returns the requests to its model.
func (s *seat) resume(t *testing.T, ref, prompt string) string {
	t.Helper()
	s.handOver(t, ref)
	return s.goOn(t, s.told, s.told.Get("path").String(), s.command(), prompt)
}

// handOver exports a branch to where the assistant finds it.
func (s *seat) handOver(t *testing.T, ref string) {
	t.Helper()
	s.told = s.bough(t, "resume", ref, "--in", s.format)
	if dir := s.told.Get("directory").String(); dir != s.work {
		t.Errorf("it continues in %s, want %s", dir, s.work)
	}
	if before := textsOf(s.told.Get("before")); before != nil {
		s.run(t, before...)
	}
}

// command returns the command that continues the exported conversation.
func (s *seat) command() []string { return textsOf(s.told.Get("command")) }

// textsOf returns the strings of an array.
func textsOf(array gjson.Result) (list []string) {
	for _, v := range array.Array() {
		list = append(list, v.String())
	}
	return list
}

// goOn runs the command of an assistant with a prompt, checks what it writes to the
// exported file, and returns the requests to its model.
func (s *seat) goOn(t *testing.T, export gjson.Result, file string, command []string, prompt string) string {
	t.Helper()
	l := s.leaves(t, export.Get("session_id").String(), export.Get("message_id").String(), file)
	said := s.ask(t, command, prompt)
	s.comesBack(t, l, prompt)
	return said
}

// resumeTree is resume with all branches: an export that replaces the last one, under its
// own name.
func (s *seat) resumeTree(t *testing.T, ref, prompt string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tree")
	export := s.bough(t, "export", ref, "--tree", "--to", s.format, "-o", file)
	id := export.Get("id").String()
	old := s.told.Get("id").String()
	// The names of Gemini's files have the first eight letters of the id.
	named := strings.NewReplacer(old, id, old[:8], id[:8])
	dir, name := filepath.Split(s.told.Get("path").String())
	path := filepath.Join(dir, named.Replace(name))
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var command []string
	for _, a := range s.told.Get("command").Array() {
		if a.String() == s.told.Get("path").String() {
			command = append(command, path)
			continue
		}
		command = append(command, strings.ReplaceAll(a.String(), old, id))
	}
	return s.goOn(t, export, path, command, prompt)
}

// ask runs the command of an assistant with a prompt and returns the requests to its model.
func (s *seat) ask(t *testing.T, command []string, prompt string) string {
	t.Helper()
	s.run(t, s.prompt(command, prompt)...)
	all := s.in.said()
	if len(all) == 0 {
		t.Fatalf("%s requests no model, but %q", s.format, s.in.other)
	}
	said := strings.Join(all[len(all)-1], "\n")
	if s.words != nil {
		said = s.words.ReplaceAllString(said, "")
	}
	return said
}

// hears returns the messages that the model receives for a conversation.
func (a assistant) hears(said string) string {
	if a.aloud {
		return strings.ReplaceAll(said, "assistant thinks: ", "assistant: ")
	}
	return said
}

// TestPrograms: each assistant continues a conversation exported by bough, and sends its
// model exactly the messages of that path. What it writes is imported as that path with
// another prompt and answer.
func TestPrograms(t *testing.T) {
	const said, reply, prompt = "Use PEG.", "PEG it is.", "Onwards"
	for _, a := range assistantsAsked(t) {
		name := a.format
		for _, from := range tellings() {
			t.Run(fmt.Sprintf("%s/%s", name, from.format()), func(t *testing.T) {
				s := newSeat(t, a)
				session := s.bringIn(t, from)
				thinks := a.thinks(from)

				branch := s.bough(t, "branch", session+"@"+messageOf(t, s.ws, session, firstReply)).Get("id").String()
				s.bough(t, "append", branch, said)
				s.bough(t, "append", branch, reply, "--role", "assistant")
				want := a.hears(from.beginning(thinks) + "\nuser: " + said + "\nassistant: " + reply + "\nuser: " + prompt)
				if got := s.resume(t, branch, prompt); got != want {
					t.Errorf("after a branch the model receives:\n%s\nwant:\n%s", got, want)
				}
				want = a.hears(from.beginning(thinks) + "\nuser: " + prompt)
				if got := s.resume(t, session+"@"+messageOf(t, s.ws, session, firstReply), prompt); got != want {
					t.Errorf("from the middle the model receives:\n%s\nwant:\n%s", got, want)
				}
				if !from.tree && !from.tools {
					return
				}
				want = a.hears(from.beginning(thinks) + "\n" + from.reading(a.fails) + "\nuser: " + prompt)
				if got := s.resume(t, session+"@"+messageOf(t, s.ws, session, "One section"), prompt); got != want {
					t.Errorf("from the other leaf the model receives:\n%s\nwant:\n%s", got, want)
				}
				if f := must(formatNamed("in", name)); !f.Branches || !from.tree {
					return
				}
				want = a.hears(from.beginning(thinks) + "\n" + from.choosing() + "\nuser: " + prompt)
				if got := s.resumeTree(t, session+"@"+messageOf(t, s.ws, session, "Regexes it is."), prompt); got != want {
					t.Errorf("from the whole tree the model receives:\n%s\nwant:\n%s", got, want)
				}
			})
		}
		for _, from := range []string{"pi", "claude-code"} {
			t.Run(fmt.Sprintf("%s/%s-compacted", name, from), func(t *testing.T) {
				s := newSeat(t, a)
				session := s.bringIn(t, telling{file: from + "-compacted.jsonl"})
				got := s.resume(t, session, prompt)
				before, after, _ := strings.Cut(got, "A parser with regexes was planned.")
				// Each program puts words of its own around a summary.
				_, after, _ = strings.Cut(after, "\n")
				if !a.whole {
					_, want, _ := strings.Cut(compactedTelling(from, name), "\n")
					if a.alone {
						want = strings.TrimPrefix(want, "user: "+thirdPrompt+"\nassistant: Regexes it is.\n")
					}
					if !strings.HasSuffix("\n"+after, "\n"+want+"\nuser: "+prompt) || strings.Contains(got, firstReply) || !strings.HasPrefix(got, "user: ") {
						t.Errorf("the model receives:\n%s\nwant a summary and:\n%s", got, want)
					}
					return
				}
				if want := beforeCompaction + "\nuser: "; before != want {
					t.Errorf("before the summary the model receives:\n%s\nwant:\n%s", before, want)
				}
				if want := "user: Go on.\nassistant: Done.\nuser: " + prompt; after != want {
					t.Errorf("after the summary the model receives:\n%s\nwant:\n%s", after, want)
				}
			})
		}
	}
}
