package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testchat"
)

// The benchmarks here measure whole processes, from start to end. Ratios are of medians of
// one run, in which both sides alternate.

// BenchmarkStart measures the shortest commands. The metric x-git is the time of bough
// --version divided by that of git --version, and the time of bough ls of 100 sessions
// divided by that of git branch of 100 branches.
func BenchmarkStart(b *testing.B) {
	git, err := exec.LookPath("git")
	if err != nil {
		b.Skip("git is not installed")
	}
	bough := build(b)
	space, repository := b.TempDir(), b.TempDir()
	fill(b, space, 100)
	output(b, exec.Command(bough, "-w", space, "new"))
	inGit := func(args ...string) *exec.Cmd {
		cmd := exec.Command(git, append([]string{"-C", repository, "-c", "user.name=x", "-c", "user.email=x"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		return cmd
	}
	output(b, inGit("init", "-q"))
	output(b, inGit("commit", "-q", "--allow-empty", "-m", "x"))
	for i := range 100 {
		output(b, inGit("branch", fmt.Sprint("b", i)))
	}
	for _, c := range []struct {
		name string
		ours func() *exec.Cmd
		git  func() *exec.Cmd
	}{
		{"version", func() *exec.Cmd { return exec.Command(bough, "--version") }, func() *exec.Cmd { return exec.Command(git, "--version") }},
		{"ls", func() *exec.Cmd { return exec.Command(bough, "-w", space, "ls") }, func() *exec.Cmd { return inGit("branch") }},
	} {
		b.Run(c.name, func(b *testing.B) { against(b, "x-git", c.ours, c.git) })
	}
}

// BenchmarkLarge measures commands in a workspace of 100,000 sessions that did not change
// since the last command. The metric x-100 is their time divided by the time in a workspace
// of 100.
func BenchmarkLarge(b *testing.B) {
	bough := build(b)
	few, many := b.TempDir(), b.TempDir()
	fill(b, few, 100)
	fill(b, many, 100_000)
	time.Sleep(time.Second) // recently changed files are not cached
	for _, dir := range []string{few, many} {
		output(b, exec.Command(bough, "-w", dir, "new"))
	}
	for _, verb := range []string{"lineage", "branch"} {
		in := func(dir string) func() *exec.Cmd {
			return func() *exec.Cmd { return exec.Command(bough, "-w", dir, verb, smallID(55)) }
		}
		b.Run(verb, func(b *testing.B) { against(b, "x-100", in(many), in(few)) })
	}
}

// BenchmarkCheckpoint measures a checkpoint of 10,000 messages in 12 files, which were read
// before. The metric x-raw is its time, less that of bough --version, divided by the time to
// read the files through one buffer and to write one file of their bytes.
func BenchmarkCheckpoint(b *testing.B) {
	bough := build(b)
	dir := b.TempDir()
	files := testchat.Chat{Messages: 10_000, PerFile: 834, Text: 1530}.Files()
	if err := testchat.Write(dir, files); err != nil {
		b.Fatal(err)
	}
	conversations := filepath.Join(dir, "conversations")
	var names []string
	for _, f := range files {
		names = append(names, filepath.Join(conversations, f.ID+".json"))
	}
	time.Sleep(time.Second) // recently changed files are not cached
	checkpoint := func() *exec.Cmd {
		return exec.Command(bough, "-w", dir, "checkpoint", files[len(files)-1].ID)
	}
	remove := func(id string) {
		if err := os.Remove(filepath.Join(conversations, strings.TrimSpace(id)+".json")); err != nil {
			b.Fatal(err)
		}
	}
	remove(output(b, checkpoint()))
	var raw, start, ours []time.Duration
	for b.Loop() {
		raw = append(raw, timed(func() { copyAll(b, names, filepath.Join(conversations, "raw")) }))
		if err := os.Remove(filepath.Join(conversations, "raw")); err != nil {
			b.Fatal(err)
		}
		start = append(start, timed(func() { output(b, exec.Command(bough, "--version")) }))
		var id string
		ours = append(ours, timed(func() { id = output(b, checkpoint()) }))
		remove(id)
	}
	b.ReportMetric(float64(median(ours)-median(start))/float64(median(raw)), "x-raw")
	b.ReportMetric(float64(median(start).Microseconds())/1000, "ms-start")
}

// BenchmarkMillion measures a checkpoint of 1,000,000 messages in 1,000 files, 1.9 GB:
// first of files never read before, then of the same files again. The metric x-raw is the
// time divided by the time to read the files through one buffer and to write one file of
// their bytes: write, fsync, rename, fsync of the folder. MB-resident is the peak resident
// memory of the process, as Linux reports it; on other systems it is 0. The files of each
// run are removed outside of the measured time.
func BenchmarkMillion(b *testing.B) {
	bough := build(b)
	dir := b.TempDir()
	from := ""
	for i := range 100 {
		files := testchat.Chat{Messages: 10_000, PerFile: 1000, Text: 1530, Seed: uint64(i), From: from}.Files()
		if err := testchat.Write(dir, files); err != nil {
			b.Fatal(err)
		}
		from = files[len(files)-1].ID
	}
	conversations := filepath.Join(dir, "conversations")
	names, err := filepath.Glob(filepath.Join(conversations, "*.json"))
	if err != nil || len(names) != 1000 {
		b.Fatalf("%d files, %v", len(names), err)
	}
	for _, seen := range []bool{false, true} {
		name := "unseen"
		if seen {
			name = "seen"
		}
		b.Run(name, func(b *testing.B) {
			var raw, ours []time.Duration
			most := int64(0)
			for b.Loop() {
				raw = append(raw, timed(func() { copyAll(b, names, filepath.Join(conversations, "raw")) }))
				os.Remove(filepath.Join(conversations, "raw"))
				if !seen {
					os.RemoveAll(filepath.Join(dir, ".bough"))
					os.Remove(filepath.Join(conversations, "session_index.json"))
				}
				cmd := exec.Command(bough, "-w", dir, "checkpoint", from)
				var id string
				var memory int64
				ours = append(ours, timed(func() { id, memory = observe(b, cmd) }))
				most = max(most, memory)
				info, err := os.Stat(filepath.Join(conversations, id+".json"))
				if err != nil || info.Size() < 1_700_000_000 {
					b.Fatalf("the checkpoint is %v, %v", info, err)
				}
				if err := os.Remove(filepath.Join(conversations, id+".json")); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(ratio(ours, raw), "x-raw")
			b.ReportMetric(float64(most)/1e6, "MB-resident")
		})
	}
}

// build builds the command as go build does.
func build(b *testing.B) string {
	name := filepath.Join(b.TempDir(), "bough.exe")
	output(b, exec.Command("go", "build", "-o", name, "."))
	return name
}

func output(b *testing.B, cmd *exec.Cmd) string {
	b.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%v: %v\n%s", cmd.Args, err, stderr.Bytes())
	}
	return string(out)
}

func smallID(i int) string { return fmt.Sprintf("session_20260101_%06d_%08x", i%240_000, i) }

// fill makes a workspace of n small sessions in bough's dialect: conversations of ten files
// each.
func fill(b *testing.B, dir string, n int) {
	dir = filepath.Join(dir, "conversations")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		from := ""
		if i%10 > 0 {
			from = fmt.Sprintf("%q", smallID(i-1))
		}
		data := fmt.Sprintf(`{"created_at":"2026-01-01T%02d:%02d:%02d+00:00","metadata":{"title":"Conversation %d","message_count":1,"continued_from":[%s],"continued_to":[]},"messages":[{"id":"m%d"}]}`,
			i/3600%24, i/60%60, i%60, i, from, i)
		if err := os.WriteFile(filepath.Join(dir, smallID(i)+".json"), []byte(data), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// against measures one command against another.
func against(b *testing.B, metric string, ours, other func() *exec.Cmd) {
	var a, o []time.Duration
	for b.Loop() {
		for range 10 {
			cmd := other()
			o = append(o, timed(func() { output(b, cmd) }))
			cmd = ours()
			a = append(a, timed(func() { output(b, cmd) }))
		}
	}
	b.ReportMetric(ratio(a, o), metric)
}

// copyAll reads files through one buffer and writes one file of their bytes.
func copyAll(b *testing.B, names []string, to string) {
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	out, err := os.Create(to + ".temp")
	check(err)
	buf := make([]byte, 4<<20)
	for _, name := range names {
		in, err := os.Open(name)
		check(err)
		n, err := io.ReadFull(in, buf)
		if err != io.ErrUnexpectedEOF {
			b.Fatalf("%s does not fit the buffer: %v", name, err)
		}
		_, err = out.Write(buf[:n])
		check(err)
		check(in.Close())
	}
	check(out.Sync())
	check(out.Close())
	check(os.Rename(to+".temp", to))
	dir, err := os.Open(filepath.Dir(to))
	check(err)
	check(dir.Sync())
	check(dir.Close())
}

// observe runs a command and returns its output and its peak memory in bytes. It asks for
// the memory while the command runs, because the number for an ended process includes the
// process that started it.
func observe(b *testing.B, cmd *exec.Cmd) (out string, most int64) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				b.Fatalf("%v: %v\n%s", cmd.Args, err, stderr.Bytes())
			}
			return strings.TrimSpace(stdout.String()), most
		case <-time.After(5 * time.Millisecond):
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
				var kB int64
				fmt.Sscan(rest, &kB)
				most = max(most, kB*1024)
			}
		}
	}
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func ratio(a, b []time.Duration) float64 { return float64(median(a)) / float64(median(b)) }

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
