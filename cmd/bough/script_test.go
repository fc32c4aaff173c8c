package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testmcp"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

// noSleep is the value of GORACE for the programs that tests start.
const noSleep = "atexit_sleep_ms=0"

// TestMain makes the command itself available to the scripts, as bough.
func TestMain(m *testing.M) {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "bough" {
		boughMain()
	}
	// The race detector lets a program sleep for a second at its end by default.
	os.Setenv("GORACE", noSleep)
	testscript.Main(withBough{testsize.InMemory(testsize.Waiting(testsize.LazyGC(m)))}, map[string]func(){
		"runner":  runnerMain,
		"canned":  canned,
		"testmcp": testmcp.Main,
		"age":     ageMain,
		"zstd":    zstdMain,
	})
}

// withBough are tests that find bough in the PATH, beside the programs of testscript. It is
// none of those: testscript would start it in place of cmdBough.
type withBough struct{ testsize.Tests }

func (w withBough) Run() int {
	runner, err := exec.LookPath("runner")
	if err == nil {
		err = os.Link(runner, filepath.Join(filepath.Dir(runner), "bough"+filepath.Ext(runner)))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return w.Tests.Run()
}

func boughMain() {
	code := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if newPaint(os.Stdout).width > 0 || newPaint(os.Stderr).width > 0 {
		// testscript closes its end of the terminal as soon as this process ends, and
		// drops the output that it has not read by then.
		time.Sleep(200 * time.Millisecond)
	}
	os.Exit(code)
}

// TestScript runs the scripts in testdata/script, one per subject. They have these commands
// beside those of testscript:
//
//	[!] bough ARG...                runs bough; 'exec bough ARG...' does with input, and in the background
//	exits CODE [exec] PROGRAM ARG... runs a program that must exit with CODE
//	as-nobody CODE PROGRAM ARG...   the same, never as root (unix)
//	giveaway DIR                    changes the owner of a folder and its files, if run by root (unix)
//	sameowner DIR                   all files and folders in a folder have its owner (unix)
//	mkfifo FILE...                  makes named pipes, in place of existing files if there are any (unix)
//	idof VAR [MESSAGEVAR]           sets variables to the last output, ID or SESSION@MESSAGE
//	refof VAR                       sets a variable to the first word of the last line of the last output
//	jsonof VAR PATH                 sets a variable to a value of the last output
//	[!] jsonis FILE PATH VALUE      FILE has VALUE, as JSON or as the text of a string, at PATH
//	jsonsame FILE PATH FILE PATH    both values are the same bytes
//	messages FILE ID...             FILE has exactly the messages with these ids, in this order
//	samebytes FILE FILE...          each message of the first FILE is in one of the others, byte for byte, or, if
//	                                that is stdout, without the white space between tokens
//	remember DIR NAME               stores the state of a folder under a name
//	unchanged DIR NAME              the folder has that state, in every byte and mode, except for locks and caches
//	penguinfresh DIR                Penguin accepts the workspace: see cmdPenguinFresh
//	give DIR..., own DIR...         gives folders to another user, or back to this one; only as root (unix)
//	interrupts PROGRAM ARG...       interrupts a program while it reads standard input; it must end then (unix)
//	mode OCTAL FILE...              files have these permissions
//	size FILE BYTES                 a file has this size
//	trashed DIR NAME FILE...        the trash of the workspace has files NAME with exactly the bytes of these files
//	session DIR ID METADATA MSG...  writes a session as Penguin does: see cmdSession
//	index DIR                       writes the index as Penguin does
//	edit FILE OLD NEW               replaces text that occurs once; \xff and the like are bytes
//	truncate FILE SIZE              truncates a file; a negative SIZE counts from its end
//	gzip FILE GZFILE                compresses a file
//	helps [VERB]                    runs 'bough help [VERB] VERB' for each verb of the last output, and checks for an example
//	hold DIR VERB                   holds the lock of writers until release or the end of the script
//	release DIR                     releases the lock
//	await FILE...                   waits until files exist
//	awaitline FILE REGEXP           waits until a line of a file matches
//	awaitoutput REGEXP ARG...       runs bough until its output matches
//
// The program canned is a model.
func TestScript(t *testing.T) {
	t.Parallel()
	cmds := map[string]scriptCommand{
		"bough":        cmdBough,
		"exits":        plain(2, cmdExits),
		"idof":         plain(1, cmdIDOf),
		"refof":        plain(1, cmdRefOf),
		"jsonof":       plain(2, cmdJSONOf),
		"jsonis":       cmdJSONIs,
		"jsonsame":     plain(4, cmdJSONSame),
		"messages":     plain(1, cmdMessages),
		"samebytes":    plain(2, cmdSameBytes),
		"remember":     plain(2, cmdRemember),
		"unchanged":    plain(2, cmdUnchanged),
		"penguinfresh": plain(1, cmdPenguinFresh),
		"mode":         plain(2, cmdMode),
		"size":         plain(2, cmdSize),
		"trashed":      plain(3, cmdTrashed),
		"session":      plain(3, cmdSession),
		"index":        plain(1, cmdIndex),
		"edit":         plain(3, cmdEdit),
		"truncate":     plain(2, cmdTruncate),
		"gzip":         plain(2, cmdGzip),
		"helps":        plain(0, cmdHelps),
		"hold":         plain(2, cmdHold),
		"release":      plain(1, cmdRelease),
		"await":        plain(1, cmdAwait),
		"awaitline":    plain(2, cmdAwaitLine),
		"awaitoutput":  plain(2, cmdAwaitOutput),
	}
	maps.Copy(cmds, systemCommands)
	t.Cleanup(closeIdle)
	scripts, err := filepath.Glob("testdata/script/*.txt*")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("scripts: %q, %v", scripts, err)
	}
	if n := testsize.Of(1, 0, 0); n > 0 {
		scripts = beginnings(t, scripts, n)
	}
	testscript.Run(t, testscript.Params{
		Files:              scripts,
		RequireUniqueNames: true,
		Cmds:               cmds,
		Condition:          condition,
		Setup:              setUp,
	})
}

// condition is true for root if root runs the tests.
func condition(name string) (bool, error) {
	if name != "root" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return os.Getuid() == 0, nil
}

type scriptCommand = func(ts *testscript.TestScript, neg bool, args []string)

// A memory is the state that the commands of one script share.
type memory struct {
	folders map[string]map[string]string // of remember, by name
	locks   map[string]func()            // of hold, by folder
	runner  *runner
}

type memoryKey struct{}

func memoryOf(ts *testscript.TestScript) *memory { return ts.Value(memoryKey{}).(*memory) }

// setUp gives a script its own home and an environment that is the same on all systems.
func setUp(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	env.Setenv("HOME", home)
	env.Setenv("TZ", "UTC")
	env.Setenv("GORACE", noSleep)
	r, err := newRunner(env)
	env.Values[memoryKey{}] = &memory{map[string]map[string]string{}, map[string]func(){}, r}
	return errors.Join(err, os.Mkdir(home, 0o700))
}

// plain makes a script command that takes at least so many arguments and cannot be negated.
func plain(atLeast int, f func(ts *testscript.TestScript, args []string)) scriptCommand {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < atLeast {
			ts.Fatalf("takes at least %d arguments and no '!'", atLeast)
		}
		f(ts, args)
	}
}

func cmdExits(ts *testscript.TestScript, args []string) {
	code, program, args := args[0], args[1], args[2:]
	switch {
	case program == "bough":
		checkExit(ts, code, shown(ts, args).Code)
	case program == "exec" && len(args) > 0:
		checkExit(ts, code, exitOf(ts, ts.Exec(args[0], args[1:]...)))
	default:
		checkExit(ts, code, exitOf(ts, ts.Exec(program, args...)))
	}
}

// checkExit fails the script unless the exit code of a program is the given one.
func checkExit(ts *testscript.TestScript, code string, got int) {
	if want, err := strconv.Atoi(code); err != nil || got != want {
		ts.Fatalf("exit code %d, want %s", got, code)
	}
}

func cmdIDOf(ts *testscript.TestScript, args []string) {
	out := strings.TrimSuffix(ts.ReadFile("stdout"), "\n")
	session, message, found := strings.Cut(out, "@")
	if session == "" || strings.ContainsAny(out, "\n ") || found != (len(args) > 1) {
		ts.Fatalf("unexpected output: %q", out)
	}
	ts.Setenv(args[0], session)
	if found {
		ts.Setenv(args[1], message)
	}
}

func cmdRefOf(ts *testscript.TestScript, args []string) {
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	words := strings.Fields(lines[len(lines)-1])
	if len(words) == 0 {
		ts.Fatalf("the output has no last line")
	}
	ts.Setenv(args[0], words[0])
}

func cmdJSONOf(ts *testscript.TestScript, args []string) {
	v := gjson.Get(ts.ReadFile("stdout"), args[1])
	if !v.Exists() {
		ts.Fatalf("no %s in the output", args[1])
	}
	ts.Setenv(args[0], v.String())
}

func cmdEdit(ts *testscript.TestScript, args []string) {
	text := func(s string) string {
		out, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
		ts.Check(err)
		return out
	}
	data, old := ts.ReadFile(args[0]), text(args[1])
	if n := strings.Count(data, old); n != 1 {
		ts.Fatalf("%s holds %q %d times, want once", args[0], old, n)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(data, old, text(args[2]), 1)), 0o666))
}

func cmdTruncate(ts *testscript.TestScript, args []string) {
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	if size < 0 {
		size += len(ts.ReadFile(args[0]))
	}
	ts.Check(os.Truncate(ts.MkAbs(args[0]), int64(size)))
}

func cmdGzip(ts *testscript.TestScript, args []string) {
	data := ts.ReadFile(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[1])), 0o777))
	f, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	z := gzip.NewWriter(f)
	_, err = z.Write([]byte(data))
	ts.Check(errors.Join(err, z.Close(), f.Close()))
}

func cmdHelps(ts *testscript.TestScript, args []string) {
	_, list, _ := strings.Cut(ts.ReadFile("stdout"), "\nVerbs:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	verbs := strings.Split(list, "\n")
	if least := 15; len(args) == 0 && len(verbs) < least || len(verbs) < 2 {
		ts.Fatalf("only %d verbs in %q", len(verbs), list)
	}
	for _, l := range verbs {
		words := append(slices.Clone(args), strings.Trim(strings.Fields(l)[0], ","))
		name := strings.Join(words, " ")
		help := bough(ts, append([]string{"help"}, words...)...)
		_, example, _ := strings.Cut(help.Stdout, "\nExample:\n")
		if example, _, _ = strings.Cut(example, "\n\n"); help.Code != 0 || !strings.Contains(example, "bough "+name) {
			ts.Fatalf("the example for %s is %q", name, example)
		}
	}
}

func cmdMode(ts *testscript.TestScript, args []string) {
	for _, name := range args[1:] {
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		if got := fmt.Sprintf("%03o", info.Mode().Perm()); got != args[0] {
			ts.Fatalf("%s has the mode %s, want %s", name, got, args[0])
		}
	}
}

func cmdSize(ts *testscript.TestScript, args []string) {
	if got := strconv.Itoa(len(ts.ReadFile(args[0]))); got != args[1] {
		ts.Fatalf("%s has %s bytes, want %s", args[0], got, args[1])
	}
}

func cmdTrashed(ts *testscript.TestScript, args []string) {
	var files []string
	for _, dir := range []string{"", "conversations"} {
		found, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), ".bough", "trash", "*", dir, args[1]))
		ts.Check(err)
		files = append(files, found...)
	}
	if len(files) != len(args[2:]) {
		ts.Fatalf("the trash has %d files %s, want %d", len(files), args[1], len(args[2:]))
	}
	for i, name := range args[2:] {
		if got, want := ts.ReadFile(files[i]), ts.ReadFile(name); got != want {
			ts.Fatalf("%s in the trash is\n%s\nwant\n%s", args[1], got, want)
		}
	}
}

func cmdHold(ts *testscript.TestScript, args []string) {
	dir := filepath.Join(ts.MkAbs(args[0]), ".bough")
	ts.Check(os.MkdirAll(dir, 0o700))
	holder := writelock.Holder{PID: os.Getpid(), Verb: args[1], Since: time.Now()}
	root, err := os.OpenRoot(dir)
	ts.Check(err)
	defer root.Close()
	unlock, err := writelock.Lock(context.Background(), root, ".", holder, 0)
	ts.Check(err)
	ts.Defer(unlock)
	ts.Setenv("HOLDER", strconv.Itoa(os.Getpid()))
	memoryOf(ts).locks[args[0]] = unlock
}

func cmdRelease(ts *testscript.TestScript, args []string) {
	memoryOf(ts).locks[args[0]]()
}
