package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// A traffic is what went over the network.
type traffic struct {
	requests, puts, sent, received int64
}

func (t traffic) String() string {
	return fmt.Sprintf("%d, %s, %s", t.requests, bytesText(t.sent), bytesText(t.received))
}

func bytesText(n int64) string {
	switch {
	case n == 0:
		return "0"
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.2f MB", float64(n)/1e6)
}

// A counter is a proxy before a server, which counts requests and the bytes of their bodies.
type counter struct {
	address                        string // host and port
	requests, puts, sent, received atomic.Int64
}

// newCounter returns a proxy before the server at an address. The requests stay as they are: they are
// signed.
func newCounter(server string) (c *counter, stop func()) {
	c = &counter{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: server})
			r.Out.Host = r.In.Host
		},
		ModifyResponse: func(a *http.Response) error {
			a.Body = counted{a.Body, &c.received}
			return nil
		},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.requests.Add(1)
		if r.Method == http.MethodPut || r.Method == http.MethodPost {
			c.puts.Add(1)
		}
		r.Body = counted{r.Body, &c.sent}
		proxy.ServeHTTP(w, r)
	}))
	c.address = strings.TrimPrefix(s.URL, "http://")
	return c, s.Close
}

type counted struct {
	io.ReadCloser
	n *atomic.Int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.n.Add(int64(n))
	return n, err
}

func (c *counter) now() traffic {
	return traffic{c.requests.Load(), c.puts.Load(), c.sent.Load(), c.received.Load()}
}

// of returns the traffic of do.
func (c *counter) of(do func() error) (traffic, error) {
	before := c.now()
	err := do()
	after := c.now()
	return traffic{after.requests - before.requests, after.puts - before.puts, after.sent - before.sent, after.received - before.received}, err
}

// startBucket starts versitygw, with a bucket called bucket in a folder.
func startBucket(ctx context.Context, dir string) (address string, stop func(), err error) {
	program, err := exec.LookPath("versitygw")
	if err != nil {
		return "", nil, fmt.Errorf("%w: go install github.com/versity/versitygw/cmd/versitygw@v1.8.0", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	address = l.Addr().String()
	l.Close()
	if err := os.MkdirAll(filepath.Join(dir, "bucket"), 0o700); err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, program, "--access", bucketKey, "--secret", bucketSecret, "--port", address, "--quiet", "posix", dir)
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	for range 500 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return address, stop, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	return "", nil, errors.New("versitygw does not listen")
}

const bucketKey, bucketSecret = "bench-key", "bench-secret"

// A carrier exchanges the conversations of two machines through a bucket.
type carrier struct {
	name  string
	need  string // the program, "" for bough
	setUp func(m machines) error
	// push and pull run on the first and the second machine.
	push, pull func(m machines) error
	about      string // what the columns are for it
}

// machines are two folders and the bucket of a carrier.
type machines struct {
	ctx           context.Context
	w             *work
	endpoint      string // URL
	path          string // BUCKET/PREFIX
	home          string // for settings and caches
	first, second string // workspaces
}

// run runs a program on a machine.
func (m machines) run(machine, program string, args ...string) error {
	cmd := exec.CommandContext(m.ctx, program, args...)
	home := filepath.Join(m.home, machine)
	others := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") })
	cmd.Env = append(others, "AWS_ACCESS_KEY_ID="+bucketKey, "AWS_SECRET_ACCESS_KEY="+bucketSecret, "AWS_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true",
		"HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "RESTIC_PASSWORD=bench", "RESTIC_REPOSITORY=s3:"+m.endpoint+"/"+m.path,
		"RCLONE_CONFIG="+filepath.Join(home, "rclone.conf"), "RCLONE_CONFIG_B_TYPE=s3", "RCLONE_CONFIG_B_PROVIDER=Other", "RCLONE_CONFIG_B_ENV_AUTH=true",
		"RCLONE_CONFIG_B_ENDPOINT="+m.endpoint, "RCLONE_CONFIG_B_REGION=us-east-1", "RCLONE_CONFIG_B_NO_CHECK_BUCKET=true")
	_, err := output(cmd)
	return err
}

// bough runs the command on a machine.
func (m machines) bough(machine string, args ...string) error {
	dir := m.first
	if machine == "second" {
		dir = m.second
	}
	return m.run(machine, m.w.bough, append([]string{"-w", dir}, args...)...)
}

func carriers() []carrier {
	conversations := func(dir string) string { return filepath.Join(dir, "conversations") }
	add := func(m machines, machine string) error {
		return m.bough(machine, "remote", "add", "home", m.endpoint+"/"+m.path, "--key", filepath.Join(m.home, "key"), "--machine", machine)
	}
	return []carrier{
		{
			name:  "bough",
			about: "`remote add`, `push`, `pull`",
			setUp: func(m machines) error { return add(m, "first") },
			push:  func(m machines) error { return m.bough("first", "push") },
			pull: func(m machines) error {
				if _, err := os.Stat(filepath.Join(m.second, ".bough", "remotes")); err != nil {
					if err := add(m, "second"); err != nil {
						return err
					}
				}
				return m.bough("second", "pull")
			},
		},
		{
			name: "restic", need: "restic",
			about: "`init`, `backup`, `restore latest`",
			setUp: func(m machines) error { return m.run("first", "restic", "init") },
			push:  func(m machines) error { return m.run("first", "restic", "backup", conversations(m.first)) },
			pull: func(m machines) error {
				return m.run("second", "restic", "restore", "latest", "--target", m.second)
			},
		},
		{
			name: "rclone", need: "rclone",
			about: "`sync` there, `sync` back",
			setUp: func(machines) error { return nil },
			push: func(m machines) error {
				return m.run("first", "rclone", "sync", conversations(m.first), "b:"+m.path)
			},
			pull: func(m machines) error {
				return m.run("second", "rclone", "sync", "b:"+m.path, conversations(m.second))
			},
		},
	}
}

// A carried is what a carrier transferred.
type carried struct {
	carrier
	add, first, newcomer, nothing, nothingBack, one, oneBack traffic
}

// carry measures a carrier.
func carry(c carrier, m machines, count *counter) (r carried, err error) {
	r.carrier = c
	measure := func(what string, to *traffic, do func(machines) error) {
		if err != nil {
			return
		}
		var e error
		if *to, e = count.of(func() error { return do(m) }); e != nil {
			err = fmt.Errorf("%s: %s: %w", c.name, what, e)
		}
	}
	message := func(text string) func(machines) error {
		return func(m machines) error { return m.bough("first", "append", m.w.transcript, text) }
	}
	var unmeasured traffic
	measure("add", &r.add, c.setUp)
	measure("first push", &r.first, c.push)
	measure("first pull", &r.newcomer, c.pull)
	if c.need == "" { // each machine of bough learns that the other one is there, once
		for i, do := range []func(machines) error{
			func(m machines) error { return m.bough("second", "push") },
			func(m machines) error { return m.bough("first", "sync") },
			message("A message before"), c.push, c.pull,
		} {
			measure(fmt.Sprint("settling, ", i), &unmeasured, do)
		}
	}
	measure("nothing new", &r.nothing, c.push)
	measure("nothing new, back", &r.nothingBack, c.pull)
	measure("append", &unmeasured, message("One message, of a usual length: what do we still have to do before the trip?"))
	measure("one message", &r.one, c.push)
	measure("one message, back", &r.oneBack, c.pull)
	return r, err
}

// remotes compares bough with programs that carry the same files to a bucket.
func (r *runner) remotes(ctx context.Context, to io.Writer) error {
	server, stop, err := startBucket(ctx, filepath.Join(r.dir, "bucket"))
	if err != nil {
		fmt.Fprintf(r.log, "the remotes are omitted: %v\n", err)
		return nil
	}
	defer stop()
	rows, size, err := r.carryAll(ctx, server)
	if err == nil {
		printRemotes(to, size, rows)
	}
	return err
}

// carryAll measures the carriers that are installed, and returns the size of what they carry.
func (r *runner) carryAll(ctx context.Context, server string) (rows []carried, size int64, err error) {
	if r.bough == "" {
		if err := buildBough(ctx, r.work); err != nil {
			return nil, 0, err
		}
	}
	count, end := newCounter(server)
	defer end()
	for _, c := range carriers() {
		if c.need != "" {
			if _, err := exec.LookPath(c.need); err != nil {
				fmt.Fprintf(r.log, "%s is omitted: %v\n", c.name, err)
				continue
			}
		}
		dir := filepath.Join(r.dir, "remote-"+c.name)
		m := machines{ctx: ctx, w: r.work, endpoint: "http://" + count.address, path: "bucket/" + c.name, home: filepath.Join(dir, "home"),
			first: filepath.Join(dir, "first"), second: filepath.Join(dir, "second")}
		for _, d := range []string{filepath.Join(m.home, "first"), filepath.Join(m.home, "second"), m.second} {
			if err := os.MkdirAll(d, 0o700); err != nil {
				return nil, 0, err
			}
		}
		if size, err = r.writeTranscripts(m.first); err != nil {
			return nil, 0, err
		}
		row, err := carry(c, m, count)
		if err != nil {
			return nil, 0, err
		}
		rows = append(rows, row)
	}
	return rows, size, nil
}

func printRemotes(to io.Writer, size int64, rows []carried) {
	fmt.Fprintf(to, "\n%s of transcripts through a bucket, requests, bytes sent and bytes received:\n\n|", bytesText(size))
	for _, r := range rows {
		fmt.Fprintf(to, " | %s: %s", r.name, r.about)
	}
	fmt.Fprint(to, " |\n|---|", strings.Repeat("---|", len(rows)), "\n")
	for _, line := range []struct {
		what string
		of   func(carried) traffic
	}{
		{"add, init", func(c carried) traffic { return c.add }},
		{"first push", func(c carried) traffic { return c.first }},
		{"first pull of another machine", func(c carried) traffic { return c.newcomer }},
		{"nothing new, push", func(c carried) traffic { return c.nothing }},
		{"nothing new, pull", func(c carried) traffic { return c.nothingBack }},
		{"one message, push", func(c carried) traffic { return c.one }},
		{"one message, pull", func(c carried) traffic { return c.oneBack }},
	} {
		fmt.Fprintf(to, "| %s", line.what)
		for _, r := range rows {
			fmt.Fprintf(to, " | %s", line.of(r))
		}
		fmt.Fprintln(to, " |")
	}
	for _, r := range rows {
		fmt.Fprintf(to, "\n%s: %d objects in the first push", r.name, r.first.puts)
	}
	fmt.Fprintln(to)
}
