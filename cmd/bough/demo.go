package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/fixtures"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

func (p *program) demoVerb() verb {
	return verb{
		name:  "demo",
		args:  "[FOLDER] [--no-pause]",
		short: "show the main verbs on a built-in conversation",
		long: `Runs a sequence of commands in FOLDER and prints each with its output. The folder stays, so you can
look at its files. FOLDER must be new or empty; by default it is a temporary folder. On a terminal
the demo waits for a key after each step; q ends it.`,
		example: `bough demo ~/bough-demo`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "no-pause", DisableDefaultText: true, Usage: "do not wait for a key after each step"},
		},
		max: 1,
		standalone: func(c *cli.Context) error {
			dir, err := demoFolder(c.Args().First())
			if err != nil {
				return err
			}
			d := &demo{program: p, dir: dir}
			if !c.Bool("no-pause") && !p.json && p.paint.width > 0 {
				d.keys = keyboard(p.stdin)
			}
			if err := d.tell(c.Context); err != nil {
				return err
			}
			if p.json {
				return p.printJSON(struct {
					Path  string     `json:"path"`
					Steps [][]string `json:"steps"`
				}{dir, d.steps})
			}
			return nil
		},
	}
}

// demoFolder returns the absolute path of an empty folder.
func demoFolder(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "bough-demo-")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(entries) > 0 {
		return "", usageError("%s is not empty", dir)
	}
	return filepath.Abs(dir)
}

// A demo runs the steps of the demo in a folder.
type demo struct {
	*program
	dir   string
	steps [][]string // the command lines so far
	err   error      // of the first step that failed
	keys  *os.File   // the terminal; the demo waits for a key after each step. nil for none
	typed []byte     // keys read and not yet used
	over  bool       // the user ended it
}

// The conversation that the demo is about.
const (
	demoTitle = "A weekend in Lisbon"
	demoSaved = "Before the budget"
	demoOther = "By the sea instead"
)

func (d *demo) tell(ctx context.Context) error {
	if err := os.CopyFS(d.dir, fixtures.Demo()); err != nil {
		return err
	}
	answer, err := d.secondAnswer(ctx)
	if err != nil {
		return err
	}
	d.say("A workspace is a folder of plain JSON files. This one holds a conversation:")
	d.say("  export BOUGH_WORKSPACE=%s", d.dir)
	d.do("ls")
	d.do("show", demoTitle)

	d.say("The conversation went well so far. Freeze it before trying something else:")
	d.do("checkpoint", demoTitle, "--name", demoSaved)
	d.do("append", demoTitle, "Now do it all for half the money.")
	d.do("append", demoTitle, "Then we skip the hotel by the river and take a room in Graça.", "--role", "assistant")

	d.say("What if an earlier answer had led elsewhere? Branch from it; nothing is overwritten:")
	d.do("branch", demoTitle+"@"+answer, "--name", demoOther)
	d.do("append", "What if we stay by the sea instead?")
	d.do("append", "Then take the train to Cascais: forty minutes, and you wake up to the waves.", "--role", "assistant")
	d.do("diff", demoTitle, demoOther)

	d.say("Back to the frozen moment. A checkpoint is read-only: the next message makes a branch.")
	d.do("restore", demoSaved)
	d.do("append", "Let us leave money out of it.")

	d.say("A conversation can also branch in place: rewind, and continue from there.")
	d.do("rewind", demoTitle+"@"+answer)
	d.do("append", "And if it rains all weekend?")
	d.do("tree", demoTitle, "--messages")

	d.say("This is the tree of all conversations ('*' marks the head, where the next message goes):")
	d.do("tree")
	d.say("An assistant saves a checkpoint before each risky step. Packed ones share their messages, so")
	d.plain("each costs only what is new since the one before:")
	for _, step := range []string{"Then book the room.", "And the train."} {
		d.do("append", demoTitle, step)
		d.automatic(ctx)
	}
	d.say("Automatic checkpoints are pruned by age and number ('bough config' has the limits):")
	d.do("prune", "--limit", "1")

	d.say("Snapshots are self-contained. Remove the original conversation, and they stay complete:")
	d.do("rm", demoTitle, "--force")
	d.do("show", demoSaved)
	d.do("doctor")
	if d.over {
		fmt.Fprintf(d.stdout, "\nThe demo is in %s.\n", d.dir)
	} else {
		d.say("Everything is in %s, in plain JSON files:", d.dir)
		d.files()
	}
	d.next()
	return d.err
}

// secondAnswer returns the id of the assistant's second answer in words.
func (d *demo) secondAnswer(ctx context.Context) (string, error) {
	w, err := workspace.Open(ctx, d.dir, nil)
	if err != nil {
		return "", err
	}
	conv, err := w.Show(ctx, demoTitle, session.ReadOptions{})
	if err != nil {
		return "", err
	}
	answers := 0
	for i, m := range conv.Messages {
		last := i+1 == len(conv.Messages) || conv.Messages[i+1].Role() == "user"
		if m.Role() == "assistant" && last {
			if answers++; answers == 2 {
				return m.ID, nil
			}
		}
	}
	return "", fmt.Errorf("the built-in conversation has only %d answers", answers)
}

func (d *demo) say(format string, args ...any) {
	if d.err == nil && !d.json && !d.over {
		fmt.Fprintf(d.stdout, "\n"+format+"\n", args...)
	}
}

// plain prints a line of text.
func (d *demo) plain(text string) {
	if d.err == nil && !d.json && !d.over {
		fmt.Fprintln(d.stdout, text)
	}
}

// automatic saves a packed automatic checkpoint of the conversation, as an assistant does,
// and prints what it costs.
func (d *demo) automatic(ctx context.Context) {
	if d.err != nil || d.over {
		return
	}
	w, err := workspace.Open(ctx, d.dir, &workspace.Options{Packing: checkpoint.PackAll})
	if err != nil {
		d.err = err
		return
	}
	s, err := w.Checkpoint(ctx, demoTitle, workspace.SnapshotOptions{Auto: true})
	if err != nil {
		d.err = err
		return
	}
	d.say("(automatic checkpoint: %s, %s, stored in %s)", count(s.MessageCount, "message"), size(s.Bytes), size(s.Stored))
}

// do prints a command line of bough and runs it.
func (d *demo) do(args ...string) {
	if d.err != nil || d.over {
		return
	}
	d.steps = append(d.steps, append([]string{"bough"}, args...))
	var out io.Writer = d.stdout
	if d.json {
		out = io.Discard
	} else {
		fmt.Fprintf(d.stdout, "\n%s\n", d.paint.bold("$ bough "+quoteArgs(args)))
	}
	if code := run(append([]string{"-w", d.dir}, args...), strings.NewReader(""), out, out); code != 0 {
		d.err = fmt.Errorf("'bough %s' exited with %d", quoteArgs(args), code)
		return
	}
	d.pause()
}

// keyboard returns in if it is a terminal, else nil.
func keyboard(in io.Reader) *os.File {
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// pause waits for a key. After q or an interrupt the demo is over.
func (d *demo) pause() {
	if d.keys == nil {
		return
	}
	fmt.Fprint(d.stdout, "\n"+d.paint.dim("Press a key to continue, q to quit."))
	d.stdout.Flush()
	switch d.key() {
	case 'q', 'Q', interruptKey, endKey:
		d.over = true
	}
	fmt.Fprint(d.stdout, "\r\x1b[K")
}

const (
	interruptKey = 3 // Ctrl-C
	endKey       = 4 // Ctrl-D
)

// key reads a key and returns its first byte, endKey at the end of the input. All bytes of
// an escape sequence, such as an arrow key, are one key.
func (d *demo) key() byte {
	const escape = 0x1b
	if len(d.typed) > 0 {
		first := d.typed[0]
		d.typed = d.typed[1:]
		return first
	}
	fd := int(d.keys.Fd())
	was, err := term.MakeRaw(fd)
	if err == nil {
		defer term.Restore(fd, was)
	}
	typed := make([]byte, 16)
	n, err := d.keys.Read(typed)
	if err != nil || n == 0 {
		return endKey
	}
	if typed[0] != escape {
		d.typed = typed[1:n]
	}
	return typed[0]
}

// next prints the commands to try after the demo.
func (d *demo) next() {
	if d.err != nil || d.json {
		return
	}
	from := ""
	m := machine()
	for _, f := range formats() {
		for _, root := range f.Roots(m) {
			if _, err := os.Stat(root); err == nil {
				from += " --from " + f.Name
				break
			}
		}
	}
	from = cmp.Or(from, " FILE")
	fmt.Fprintf(d.stdout, `
Now with your own conversations:

  bough import%s
  bough ls
  bough show TITLE
  bough branch TITLE@MESSAGE
  bough resume TITLE --in TOOL

'bough help VERB' describes each verb.
`, from)
}

// files lists the files of the demo's folder.
func (d *demo) files() {
	if d.err != nil || d.json {
		return
	}
	fmt.Fprintln(d.stdout)
	d.err = fs.WalkDir(os.DirFS(d.dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			fmt.Fprintln(d.stdout, "  "+name)
		}
		return err
	})
}

// quoteArgs formats arguments as they are typed in a shell.
func quoteArgs(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a
		if strings.ContainsAny(a, " ?!'()") {
			words[i] = `"` + a + `"`
		}
	}
	return strings.Join(words, " ")
}
