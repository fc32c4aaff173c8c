// Command bench runs the same work with bough, git, SQLite and bbolt,
// alternately in one run, and prints the ratio of each to the raw limit: the
// time to read the bytes and to write them durably. The part remote counts the requests and bytes with
// which bough, restic and rclone carry the same conversations to a bucket and back. docs/performance.md
// describes the measurements and contains the tables that this program prints.
//
// Usage, in its folder:
//
//	go run . [-rounds N] [-dir DIR] [-only WORDS]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// A candidate is one implementation of the jobs. A job that it cannot do is
// nil.
type candidate struct {
	key, name string
	peer      string // the key of the candidate of bough that is of its kind: a library or a process
	need      func(context.Context, *work) error
	chat      opener // opened anew in each round
	index     opener // opened once
	fifty     func(ctx context.Context, w *work, dir string) ([]footprint, error)
}

var candidates = []candidate{
	{key: "raw", name: "raw limit", chat: openRaw, index: openLines},
	{key: "bough", name: "bough, library", chat: openBough, index: openIndex, fifty: plainBough},
	{key: "packed", name: "bough, library, packed", fifty: packedBough},
	{key: "process", name: "bough, process", need: buildBough, chat: openProcess},
	{key: "git", name: "git, the chat's files", peer: "process", need: findGit,
		chat: git{fsync: "all"}.open, fifty: git{fsync: "all"}.fifty},
	{key: "git-lax", name: "git, the chat's files, fsync as git sets it", peer: "process", need: findGit,
		chat: git{fsync: "default"}.open},
	{key: "git-one", name: "git, the chat as one file", peer: "process", need: findGit,
		chat: git{fsync: "all", oneFile: true}.open, fifty: git{fsync: "all", oneFile: true}.fifty},
	{key: "sqlite", name: "SQLite, rows copied", peer: "bough",
		chat: sqlite{}.open, index: openTable, fifty: sqlite{}.fifty},
	{key: "sqlite-wal", name: "SQLite, rows copied, log folded in later", peer: "bough",
		chat: sqlite{foldLater: true}.open},
	{key: "bbolt", name: "bbolt", peer: "bough", index: openBolt},
}

// The parts of a run that -only can name beside candidates.
var parts = []string{"chat", "index", "fifty", "remote"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch err := run(ctx, os.Args[1:], full, os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, size size, stdout, stderr io.Writer) (err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	rounds := flags.Int("rounds", 9, "how often everything is measured")
	dir := flags.String("dir", os.TempDir(), "where to work: `DIR` on the disk to be measured")
	only := flags.String("only", "", "comma-separated `WORDS`: of candidates ("+strings.Join(keys(), ", ")+
		") and of parts ("+strings.Join(parts, ", ")+"); raw always runs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rounds < 1 || flags.NArg() > 0 {
		return errors.New("at least one round, and no arguments")
	}
	chosen, in, err := choose(*only)
	if err != nil {
		return err
	}
	w, err := newWork(*dir, size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(w.dir)) }()
	r := &runner{work: w, rounds: *rounds, log: stderr, times: times{}}
	for _, c := range chosen {
		if c.need != nil {
			if err := c.need(ctx, w); err != nil {
				fmt.Fprintf(stderr, "%s is omitted: %v\n", c.name, err)
				continue
			}
		}
		r.candidates = append(r.candidates, c)
	}
	if err := r.run(ctx, in); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s\n", r.describe(ctx, args))
	r.tables(stdout)
	if in["remote"] {
		return r.remotes(ctx, stdout)
	}
	return nil
}

func keys() []string {
	var list []string
	for _, c := range candidates {
		list = append(list, c.key)
	}
	return list
}

// choose returns the candidates and the parts that words name: all of either if
// none of its kind is named.
func choose(words string) (chosen []candidate, in map[string]bool, err error) {
	var named []string
	in = map[string]bool{}
	for _, word := range strings.FieldsFunc(words, func(r rune) bool { return r == ',' }) {
		switch {
		case slices.Contains(parts, word):
			in[word] = true
		case slices.Contains(keys(), word):
			named = append(named, word)
		default:
			return nil, nil, fmt.Errorf("-only: %q is neither a candidate nor a part", word)
		}
	}
	for _, c := range candidates {
		if c.key == "raw" || len(named) == 0 || slices.Contains(named, c.key) {
			chosen = append(chosen, c)
		}
	}
	if len(in) == 0 {
		for _, part := range parts {
			in[part] = true
		}
	}
	return chosen, in, nil
}
