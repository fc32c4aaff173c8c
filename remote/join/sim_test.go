package join_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote/record"
)

// A broken rule is one that the machines of a simulation do not keep.
type broken struct {
	arrival       bool // a register has the value that arrived last
	dropByName    bool // a drop takes all bookmarks of a label
	believeExists bool // a name that exists is taken for one's own success
	collectUnseen bool // records are deleted that others have not seen
	trustCreate   bool // what was created counts as published, without a look at the bases of the stream
	skipBases     bool // only a newcomer receives a base
	forgetTitle   bool // a base has no titles
	deleteWins    bool // a removed session is gone, whatever was added to it
	overwrite     bool // the store ignores create-only
}

// A setting is what happens in a simulation.
type setting struct {
	machines, steps         int
	copies, garbage, retire bool
	broken                  broken
}

type sim struct {
	setting
	random   *rand.Rand
	store    *store
	machines []*machine
	acts     acts
	keys     int
	count    map[string]int // of what happened
}

func (s *sim) newKey() record.Machine {
	s.keys++
	return record.Machine(fmt.Sprintf("%016x%016x", uint64(s.keys)*0x9e3779b97f4a7c15, s.keys))
}

func newSim(o setting, seed uint64) *sim {
	s := &sim{setting: o, random: rand.New(rand.NewPCG(seed, 2)), acts: acts{of: map[string][]int{}}, count: map[string]int{}}
	s.store = &store{random: s.random, objects: map[string]string{}, born: map[string]int{}, overwrite: o.broken.overwrite}
	return s
}

// simulate returns why a simulation failed, "" if it did not, and counts what happened.
func simulate(o setting, seed uint64, count map[string]int) string {
	s := newSim(o, seed)
	s.count = count
	names := []string{"laptop", "desktop", "laptop", "server"}
	for i := range o.machines {
		s.newMachine(names[i%len(names)])
	}
	for range o.steps {
		m := s.machines[s.random.IntN(len(s.machines))]
		switch n := s.random.IntN(40); {
		case n < 12:
			m.do()
		case n < 23:
			m.push()
		case n < 34:
			m.pull()
		case n < 35:
			m.crash()
		case n < 36 && o.copies && len(s.machines) < o.machines+2:
			m.copied()
		case n < 37 && o.garbage && len(s.machines) < o.machines+4:
			s.newMachine("newcomer")
		case n < 40 && o.garbage:
			m.pull()
			m.collect()
			if other := s.machines[s.random.IntN(len(s.machines))]; o.retire && other != m && s.random.IntN(8) == 0 {
				m.act(act{kind: "retire"}, record.Op{Do: record.Remove, Entity: "machine/" + string(other.id)})
			}
		}
	}
	return s.settle()
}

// settle lets all machines sync until nothing is new, and judges.
func (s *sim) settle() string {
	s.store.calm = true
	s.newMachine("newcomer")
	for round := 0; ; round++ {
		before := len(s.store.objects)
		for _, m := range s.machines {
			m.pull()
			m.push()
		}
		for _, m := range s.machines {
			m.pull()
		}
		quiet := len(s.store.objects) == before
		for _, m := range s.machines {
			quiet = quiet && len(m.spool) == 0 && len(m.published.Missing()) == 0 && reflect.DeepEqual(m.published.Vector(), s.machines[0].published.Vector())
		}
		if quiet {
			break
		}
		if round == 20 {
			return "the machines do not come to rest"
		}
	}
	first := s.machines[0].show()
	for _, m := range s.machines[1:] {
		if x := m.show(); !reflect.DeepEqual(x, first) {
			return fmt.Sprintf("the machines differ:\n%+v\n%+v", first, x)
		}
	}
	if problems := s.acts.lost(first, s.machines[0].known); len(problems) > 0 {
		return fmt.Sprintf("%d problems: %s", len(problems), strings.Join(problems[:min(4, len(problems))], "; "))
	}
	return ""
}

// more is how many times as many histories a full test has.
var more = flag.Int("more", 1, "")

// TestSimulation: over a bad line, with crashes, copied disks, garbage and newcomers, all machines
// come to show the same, and nothing that a user did is lost.
func TestSimulation(t *testing.T) {
	count := map[string]int{}
	for _, c := range []struct {
		name string
		setting
		plain, full int
	}{
		{"three", setting{machines: 3, steps: 120, copies: true}, 10, 80},
		{"six", setting{machines: 6, steps: 240, copies: true}, 1, 16},
		{"garbage", setting{machines: 3, steps: 200, garbage: true, retire: true}, 4, 16},
		{"garbage and copies", setting{machines: 3, steps: 200, garbage: true, copies: true}, 4, 16},
		{"garbage that others have not seen", setting{machines: 3, steps: 200, garbage: true, broken: broken{collectUnseen: true}}, 2, 16},
		{"create-only is ignored", setting{machines: 3, steps: 120, garbage: true, broken: broken{overwrite: true}}, 2, 24},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(testsize.Of(1, c.plain, c.full**more)) {
				if why := simulate(c.setting, seed, count); why != "" {
					t.Errorf("seed %d: %s", seed, why)
				}
			}
		})
	}
	t.Log(count)
	for _, what := range []string{"crashes", "new keys", "records held", "bases received", "bases after records", "incomplete states", "records deleted", "outcomes unknown", "lost answers"} {
		if count[what] == 0 && !testing.Short() {
			t.Errorf("there were no %s", what)
		}
	}
}

// TestControls: a simulation with a broken rule fails, so it would show if the rule were not kept.
func TestControls(t *testing.T) {
	for _, c := range []struct {
		name string
		setting
		from  uint64 // a plain run tries the seeds from here on
		share int    // percent of the runs of a full run, at least
	}{
		{"registers by arrival", setting{machines: 3, steps: 120, broken: broken{arrival: true}}, 10, 12},
		{"labels dropped by name", setting{machines: 3, steps: 160, broken: broken{dropByName: true}}, 9, 18},
		{"any name that exists believed", setting{machines: 3, steps: 120, copies: true, broken: broken{believeExists: true}}, 11, 20},
		{"garbage without acknowledgements", setting{machines: 3, steps: 200, garbage: true, broken: broken{collectUnseen: true, skipBases: true}}, 0, 40},
		{"titles omitted from bases", setting{machines: 3, steps: 200, garbage: true, broken: broken{forgetTitle: true}}, 0, 45},
		{"delete wins", setting{machines: 3, steps: 160, broken: broken{deleteWins: true}}, 0, 50},
		{"copied disks and create-only ignored", setting{machines: 3, steps: 120, copies: true, garbage: true, broken: broken{overwrite: true}}, 2, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			var caught []uint64
			first, runs := c.from, uint64(2)
			if testsize.Full() {
				first, runs = 0, 25*uint64(*more)
			}
			for seed := first; seed < first+runs; seed++ {
				if simulate(c.setting, seed, map[string]int{}) != "" {
					caught = append(caught, seed)
				}
			}
			t.Logf("caught in %d of %d: %d", len(caught), runs, caught)
			if len(caught) == 0 || testsize.Full() && len(caught)*100 < c.share*int(runs) {
				t.Errorf("caught in %d of %d", len(caught), runs)
			}
		})
	}
}

// TestFreedNumber: a copy of a disk used numbers of the stream and deleted them as garbage, so that
// the create of the other one succeeds. Only the base of the copy shows that no machine will read it.
func TestFreedNumber(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		s := newSim(setting{broken: broken{trustCreate: trusted}}, 1)
		s.store.calm = true
		a, b := s.newMachine("laptop"), s.newMachine("desktop")
		sync := func(list ...*machine) {
			for range 3 {
				for _, m := range list {
					m.pull()
					m.push()
					m.pull()
				}
			}
		}
		a.act(act{kind: "create", session: "s"}, set("session/s", "shell", "s"))
		sync(a, b)
		other := a.copied()
		a.act(act{kind: "rename", session: "s", text: "x"}, set("session/s", "title", "x"))
		for range 3 {
			other.act(act{kind: "new"})
			b.act(act{kind: "new"})
			sync(other, b)
			other.collect()
		}
		if _, there := s.store.objects[recordName(a.id, 2)]; there {
			t.Fatal("the number was not freed")
		}
		a.push()
		if _, there := s.store.objects[recordName(a.id, 2)]; !there {
			t.Fatal("the number was not used again")
		}
		if why := s.settle(); (why != "") != trusted {
			t.Errorf("creation trusted: %v: %s", trusted, why)
		}
	}
}
