package main

import (
	"cmp"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testnetwork"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/tidwall/gjson"
)

var remoteKills = flag.Int("remotekills", 0, "how many exchanges TestRemoteKills kills; 0 for what the size of the tests says")

// TestRemoteKills kills processes that exchange the workspaces of two machines with a remote, at random
// moments, while users change both workspaces. The remote is a folder, or a bucket behind a network that
// loses, repeats and delays requests. In the end a third machine has what each acknowledged push sent;
// all machines have the same; nothing that users did is lost; and doctor and 'remote check' find
// nothing.
func TestRemoteKills(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGKILL")
	}
	t.Parallel()
	goal, seed := cmp.Or(*remoteKills, testsize.Of(4, 4, 200)), *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-killseed %d", seed)
	siege := func(t *testing.T, goal int, open func(t *testing.T, round int) (url string, net *testnetwork.Network)) {
		for round := 0; goal > 0 && !t.Failed(); round++ {
			t.Run(fmt.Sprint(round), func(t *testing.T) {
				url, net := open(t, round)
				each := 60 // kills of one remote
				if round%4 == 3 {
					each = 240 // then streams get bases
				}
				s := newRemoteSiege(t, url, net, [2]uint64{seed, uint64(round)}, min(goal, each))
				s.fight()
				s.judge()
				goal -= s.killed
				t.Logf("%d of %d exchanges killed, usually %v; %d messages; %v", s.killed, s.exchanges, s.usual.Round(time.Millisecond), len(s.told.texts), cmp.Or(net, &testnetwork.Network{}))
			})
		}
	}
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		siege(t, goal/2, func(t *testing.T, _ int) (string, *testnetwork.Network) {
			return "file://" + filepath.ToSlash(t.TempDir()), nil
		})
	})
	t.Run("bucket", func(t *testing.T) {
		t.Parallel()
		service := startService(t)
		siege(t, goal-goal/2, func(t *testing.T, round int) (string, *testnetwork.Network) {
			net := testnetwork.New(t, service, seed+uint64(round))
			return fmt.Sprintf("http://%s/my-bucket/%d", net.Address, round), net
		})
	})
}

// A remoteSiege is a remote, and machines whose exchanges are killed.
type remoteSiege struct {
	t    *testing.T
	dir  string
	url  string
	net  *testnetwork.Network // nil if the remote is a folder
	seed [2]uint64
	goal int

	machines []*testMachine

	mu        sync.Mutex
	killed    int
	exchanges int
	usual     time.Duration // of an exchange
	told      told
	log       []string
}

func newRemoteSiege(t *testing.T, url string, net *testnetwork.Network, seed [2]uint64, goal int) *remoteSiege {
	s := &remoteSiege{t: t, dir: t.TempDir(), url: url, net: net, seed: seed, goal: goal, usual: 50 * time.Millisecond}
	s.told = told{texts: map[string]string{}, gone: map[string]bool{}, titles: map[string][]string{}, labels: map[string]string{}, sent: map[string]bool{}}
	for n, name := range []string{"laptop", "desktop"} {
		m := s.join(name, uint64(n))
		for range m.random.IntN(3) {
			m.run(m.delay(), nothing, m.add()...)
		}
		if reply, _ := m.run(0, nothing, m.add()...); reply.Get("error").Exists() && !strings.Contains(reply.Raw, "already") {
			t.Fatalf("remote add: %s", reply.Raw)
		}
	}
	return s
}

// join returns a new machine, without the remote.
func (s *remoteSiege) join(name string, n uint64) *testMachine {
	m := &testMachine{s: s, name: name, dir: filepath.Join(s.dir, name), random: rand.New(rand.NewPCG(s.seed[0], s.seed[1]<<8|n))}
	m.open()
	s.machines = append(s.machines, m)
	return m
}

func (m *testMachine) add() []string {
	return []string{"remote", "add", "home", m.s.url, "--key", filepath.Join(m.s.dir, "key"), "--machine", m.name}
}

func (s *remoteSiege) note(m *testMachine, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, m.name+": "+fmt.Sprintf(format, args...))
}

// fail reports a failure, with what happened.
func (s *remoteSiege) fail(format string, args ...any) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.t.Errorf("-killseed %d, remote %d: %s", s.seed[0], s.seed[1], fmt.Sprintf(format, args...))
	if log := s.log; len(log) > 0 {
		s.t.Logf("%s", strings.Join(log[max(0, len(log)-400):], "\n"))
		s.log = nil
	}
}

// fight has all machines work until enough exchanges are killed.
func (s *remoteSiege) fight() {
	if s.net != nil {
		s.net.Disturb(12)
	}
	var wg sync.WaitGroup
	for _, m := range s.machines {
		wg.Go(func() {
			for !s.t.Failed() {
				s.mu.Lock()
				enough := s.killed >= s.goal
				s.mu.Unlock()
				if enough {
					return
				}
				for range m.random.IntN(3) {
					m.act(true)
				}
				m.exchange()
			}
		})
	}
	wg.Wait()
}

// delay returns after how long an exchange is killed: at any moment of one, and sometimes after it.
func (m *testMachine) delay() time.Duration {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	return 1 + time.Duration(m.random.Int64N(int64(m.s.usual*5/4)))
}

// exchange runs a push, pull or sync, which may be killed, while the user may go on.
func (m *testMachine) exchange() {
	verb, delay := []string{"push", "pull", "sync"}[m.random.IntN(3)], time.Duration(0)
	if m.random.IntN(4) > 0 {
		delay = m.delay()
	}
	before := slices.Clone(m.added)
	reply, killed := m.run(delay, func() {
		if m.random.IntN(3) == 0 {
			m.act(false)
		}
	}, verb)
	m.s.note(m, "%s: %.300s, killed %v", verb, reply.Raw, killed)
	switch code := reply.Get("error.code").Str; {
	case !reply.Exists():
		if !killed {
			m.s.fail("%s prints nothing", verb)
		}
	case code == "" && verb != "pull":
		m.s.told.send(&m.s.mu, before)
	case code == "failed" && m.s.net != nil: // lost requests
	case code != "":
		m.s.fail("%s on %s: %s", verb, m.name, reply.Raw)
	}
}

// run runs a command, which is killed after the delay unless that is 0, and returns the document that it
// printed, if that is whole. Meanwhile is called once the command runs.
func (m *testMachine) run(delay time.Duration, meanwhile func(), args ...string) (reply gjson.Result, killed bool) {
	s := m.s
	cmd := exec.Command("bough", append([]string{"-w", m.dir, "--json"}, args...)...)
	cmd.Env = s.environment()
	begin := time.Now()
	out, stderr, killed, err := runKilled(cmd, delay, meanwhile)
	s.mu.Lock()
	s.exchanges++
	if killed {
		s.killed++
	} else {
		s.usual = (9*s.usual + min(time.Since(begin), time.Second)) / 10
	}
	s.mu.Unlock()
	switch {
	case strings.HasSuffix(out, "\n") && gjson.Valid(out):
		return gjson.Parse(out), killed
	case !killed:
		s.fail("%q ends with %v and says\n%s%s", cmd.Args, err, out, stderr)
	}
	return gjson.Result{}, killed
}

// environment returns that of the processes, with the credentials of the bucket and nothing else of
// the user.
func (s *remoteSiege) environment() []string {
	list := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") })
	return append(list, "HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir, "AWS_EC2_METADATA_DISABLED=true", "AWS_ACCESS_KEY_ID=test-key", "AWS_SECRET_ACCESS_KEY=test-secret")
}

// judge compares what machines have with each other and with what users did.
func (s *remoteSiege) judge() {
	if s.t.Failed() {
		return
	}
	if s.net != nil {
		s.net.Settle()
	}
	third := s.join("third", 99)
	third.must(third.add()...)
	s.note(third, "pull: %s", third.must("pull").Raw)
	have := third.texts()
	for text := range s.told.sent {
		if !have[text] && !s.told.gone[text] {
			s.fail("a push that was acknowledged sent %q in %s, and it is not in the remote", text, s.told.texts[text])
		}
	}
	for round, quiet := 0, false; !quiet && !s.t.Failed(); round++ {
		if round > 12 {
			s.fail("the machines exchange for ever")
		}
		quiet = true
		for _, m := range s.machines {
			reply := m.must("sync")
			s.note(m, "settles: %.300s", reply.Raw)
			if reply.Get("sent.records").Int()+reply.Get("got.records").Int()+reply.Get("sessions.#").Int() > 0 {
				quiet = false
			}
		}
	}
	if s.t.Failed() {
		return
	}
	first := s.machines[0].answers()
	for _, m := range s.machines {
		if got := m.answers(); got != first {
			s.fail("%s and %s differ:\n%s", s.machines[0].name, m.name, differing(first, got))
		}
		m.judge(&s.told)
		if report := m.must("remote", "check"); !report.Get("ok").Bool() {
			s.fail("remote check on %s: %s", m.name, report.Raw)
		}
		m.healthy()
	}
}

// differing returns the lines that only one of two texts has.
func differing(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	only := func(sign string, list, others []string) (lines []string) {
		for _, line := range list {
			if !slices.Contains(others, line) {
				lines = append(lines, sign+line)
			}
		}
		return lines
	}
	return strings.Join(append(only("- ", x, y), only("+ ", y, x)...), "\n")
}

// must runs a command that must work.
func (m *testMachine) must(args ...string) gjson.Result {
	m.s.t.Helper()
	reply, _ := m.run(0, nothing, args...)
	if !reply.Exists() || reply.Get("error").Exists() {
		m.s.fail("%q on %s: %s", args, m.name, reply.Raw)
	}
	return reply
}

// randomText returns a text that begins with a word; a large one does not fit into a record.
func (m *testMachine) randomText(word string) string {
	if m.random.IntN(12) > 0 {
		return word
	}
	noise := make([]byte, 40<<10)
	for i := range noise {
		noise[i] = byte(m.random.Uint32())
	}
	return word + " " + hex.EncodeToString(noise)
}
