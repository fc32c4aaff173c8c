package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/rewrite"
	"github.com/urfave/cli/v2"
)

func (p *program) editVerb() verb {
	agentFlag := &cli.StringFlag{Name: "agent", Usage: "let the agent `A` answer"}
	return verb{
		name:  "edit",
		args:  "REF [--text T] [--keep-head] [--answer [--agent A] " + turnWords + "]",
		short: "change a message of the user, as a branch beside the original",
		long: `Opens the message of the user at REF in $VISUAL, $EDITOR or vi, and adds the changed text as another
reply to the same message, beside the original, which stays with all that follows it. --text sets
the text without an editor; '-' reads standard input. Without a terminal, one of --text, $VISUAL and
$EDITOR is needed. Images and files in the message are kept. The head moves to the new message. If
the text is unchanged or empty, nothing changes. In a checkpoint, the new message begins a branch of
it. Prints SESSION@MESSAGE.

--answer lets an agent answer the new message, with tools, as 'bough agent chat' does, and the head
moves to the answer. The agent is the one that --agent names, else the owner of the conversation,
else one named replay, which is created if --model is given. If the conversation is not one of that
agent's trees, the new message begins a branch.

'bough replay --edit' also sends the later messages of the user again.`,
		example: `bough edit HEAD~1
bough edit "Plan the trip@msg_2b0c3457" --text "And by train?"
bough edit HEAD~1 --answer --model openai:gpt-5`,
		flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "text", Usage: "the new text `T`; '-' reads standard input"},
			keepHeadFlag(),
			&cli.BoolFlag{Name: "answer", DisableDefaultText: true, Usage: "let an agent answer the new message"},
			agentFlag,
			streamFlag(),
		}, turnFlags()),
		min:     1,
		max:     1,
		choices: []choice{chooseSession},
		action: func(c *cli.Context, w *workspace.Workspace) error {
			ref, o := c.Args().First(), rewrite.EditOptions{KeepHead: c.Bool("keep-head")}
			if !c.Bool("answer") {
				for _, f := range slices.Concat(turnFlags(), []cli.Flag{streamFlag(), agentFlag}) {
					if err := needs(c, "--answer", f.Names()[0]); err != nil {
						return err
					}
				}
			}
			t := p.newTeller(c, w)
			t.typed = true
			turn, err := p.turnOptions(c, t)
			if err != nil {
				return err
			}
			was, err := w.UserText(c.Context, ref)
			if err != nil {
				return err
			}
			if o.Text, err = p.newText(c, was); err != nil {
				return err
			}
			var done *rewrite.Edited
			run := func(ctx context.Context) error {
				done, err = w.EditMessage(ctx, ref, o)
				return err
			}
			if c.Bool("answer") {
				o.Answer = &rewrite.AnswerOptions{Agent: c.String("agent"), Turn: turn}
				err = t.watch(c.Context, run)
			} else {
				ctx, stop := untilInterrupt(c.Context) // not while the editor runs
				defer stop()
				err = run(ctx)
			}
			switch {
			case err != nil || t.stream:
				return err
			case p.json:
				return p.printJSON(done)
			}
			p.edited(done)
			return nil
		},
	}
}

// edited prints what an edit did.
func (p *program) edited(done *rewrite.Edited) {
	if done.Unchanged {
		fmt.Fprintln(p.stderr, "The text is the same; nothing was changed")
		return
	}
	p.forked(string(done.ForkedFrom), done.Session, false)
	p.mixed(done.Mixed, done.Session, string(done.Message))
	at := string(done.Message)
	if done.Answer != nil {
		at = string(done.Answer.Message)
	}
	fmt.Fprintln(p.stdout, place(done.Session, at))
}

// newText returns the text that replaces another one: --text or, without it, what the user
// makes of it in an editor.
func (p *program) newText(c *cli.Context, was string) (string, error) {
	if c.IsSet("text") {
		return p.text(c.String("text"))
	}
	if editorCommand(os.Getenv) == "" && !p.hasTerminal() {
		return "", usageError("no terminal for an editor; give --text TEXT, or set $EDITOR")
	}
	return edited(c.Context, editorOrDefault(), was)
}

// editorOrDefault returns the command line of the user's editor, or of one that most systems have.
func editorOrDefault() string {
	switch command := editorCommand(os.Getenv); {
	case command != "":
		return command
	case runtime.GOOS == "windows":
		return "notepad"
	}
	return "vi"
}

// edited returns what the user makes of a text in an editor. The line end that editors add to
// the last line is removed.
func edited(ctx context.Context, command, text string) (string, error) {
	dir, err := os.MkdirTemp("", "bough-edit-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "MESSAGE.md")
	if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", command+` "$@"`, command, file)
	if runtime.GOOS == "windows" {
		words := strings.Fields(command)
		cmd = exec.CommandContext(ctx, words[0], append(words[1:], file)...)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stderr, os.Stderr // standard output is for the result
	if err := cmd.Run(); err != nil {
		e := &fault.Error{Code: fault.Failed, Message: fmt.Sprintf("the editor %q failed; nothing was changed: %v", command, err), Err: err}
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() == 127 {
			e.Hint = "set VISUAL or EDITOR, or give --text"
		}
		return "", e
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	changed := strings.ReplaceAll(string(data), "\r\n", "\n")
	if changed == text+"\n" || changed == text {
		return text, nil
	}
	return strings.TrimSuffix(changed, "\n"), nil
}

// editorCommand returns the command line of the editor that the user set, "" if none is set.
func editorCommand(env func(string) string) string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if command := strings.TrimSpace(env(name)); command != "" {
			return command
		}
	}
	return ""
}
