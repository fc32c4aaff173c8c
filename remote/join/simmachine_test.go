package join_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/record"
)

// A machine has a workspace and syncs it. What it has but view is on its disk.
type machine struct {
	*sim
	id        record.Machine
	name      string
	published *join.State                     // the records that are known to be in the store
	spool     []spooled                       // its own records that are not yet in published
	bases     map[uint64]bool                 // that it made
	known     map[int]bool                    // what its user knows: acts
	included  map[record.Machine]map[int]bool // the acts in published, by stream
	view      *join.State                     // published and the spool

	// For controls, which do not believe in view.
	arrived map[string]string // registers by their last arrival
	hidden  map[record.Stamp]bool
	dead    map[string]bool
}

// A spooled is a record that waits, in its final bytes.
type spooled struct {
	record *record.Record
	data   string
	acts   []int
}

func recordName(m record.Machine, seq uint64) string { return fmt.Sprintf("m/%s/%08d", m, seq) }
func baseName(m record.Machine, seq uint64) string   { return fmt.Sprintf("m/%s/base-%08d", m, seq) }

func (s *sim) newMachine(name string) *machine {
	m := &machine{
		sim: s, id: s.newKey(), name: name,
		published: join.New(), view: join.New(),
		bases: map[uint64]bool{}, known: map[int]bool{}, included: map[record.Machine]map[int]bool{},
		arrived: map[string]string{}, hidden: map[record.Stamp]bool{}, dead: map[string]bool{},
	}
	s.machines = append(s.machines, m)
	return m
}

// copied adds a machine with a copy of the disk of m.
func (m *machine) copied() *machine {
	c := *m
	c.bases, c.known, c.included = maps.Clone(m.bases), maps.Clone(m.known), map[record.Machine]map[int]bool{}
	for id, acts := range m.included {
		c.included[id] = maps.Clone(acts)
	}
	c.arrived, c.hidden, c.dead = maps.Clone(m.arrived), maps.Clone(m.hidden), maps.Clone(m.dead)
	c.spool = slices.Clone(m.spool)
	c.crash()
	m.machines = append(m.machines, &c)
	return &c
}

// crash forgets the memory of a machine.
func (m *machine) crash() {
	m.count["crashes"]++
	m.published = cloned(m.published)
	m.look()
}

func cloned(s *join.State) *join.State {
	c, err := join.Decode(s.Encode())
	if err != nil {
		panic(err)
	}
	return c
}

// look makes view again.
func (m *machine) look() {
	m.view = cloned(m.published)
	for _, sp := range m.spool {
		if err := m.view.Add(sp.record); err != nil {
			panic(fmt.Sprint("own record: ", err))
		}
	}
}

// write spools a record of one act of the user.
func (m *machine) write(act int, ops ...record.Op) {
	seen := m.view.Vector()
	r := &record.Record{Format: record.Format, Machine: m.id, Seq: seen[m.id] + 1, Lamport: m.view.Lamport() + 1, Seen: seen, Ops: ops}
	delete(seen, m.id)
	m.arrive(r)
	if err := m.view.Add(r); err != nil {
		panic(fmt.Sprint("own record: ", err))
	}
	m.spool = append(m.spool, newSpooled(r, act))
}

func newSpooled(r *record.Record, acts ...int) spooled {
	data, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return spooled{r, string(data), acts}
}

// renew takes a new machine, because another machine writes to this stream.
func (m *machine) renew() {
	m.count["new keys"]++
	var unsent []*record.Record
	for _, sp := range m.spool {
		unsent = append(unsent, sp.record)
	}
	m.id = m.newKey()
	m.bases = map[uint64]bool{}
	again := map[int]int{} // the acts of the spool, by what they were
	for i, r := range join.Reissue(unsent, m.id) {
		old := m.spool[i].acts[0]
		again[old] = m.acts.repeat(old, again)
		delete(m.known, old)
		m.known[again[old]] = true
		m.spool[i] = newSpooled(r, again[old])
	}
	m.look()
}

// push sends the spool. A sent record stays in it until pull has seen that no base replaces its
// number: one that a copy of this disk wrote and deleted is free to be created again.
func (m *machine) push() {
	for _, sp := range m.spool {
		name := recordName(sp.record.Machine, sp.record.Seq)
		m.acts.of[sp.data] = sp.acts
		err := m.store.put(name, sp.data)
		if !m.store.calm && m.random.IntN(15) == 0 {
			m.crash()
			return
		}
		if err == errExists && !m.broken.believeExists {
			data, err := m.store.get(name)
			switch {
			case err != nil:
				return
			case data == sp.data:
				m.count["lost answers"]++
			default:
				m.renew()
				return
			}
		} else if err == errUnknown {
			m.count["outcomes unknown"]++
			return
		}
		if m.broken.believeExists || m.broken.trustCreate {
			m.confirm()
		}
	}
}

// confirm moves the first record of the spool to published.
func (m *machine) confirm() {
	sp := m.spool[0]
	if err := m.published.Add(sp.record); err != nil {
		panic(fmt.Sprint("own record: ", err))
	}
	m.include(sp.record.Machine, sp.acts)
	m.spool = m.spool[1:]
}

func (m *machine) include(stream record.Machine, acts []int) {
	if m.included[stream] == nil {
		m.included[stream] = map[int]bool{}
	}
	for _, act := range acts {
		m.included[stream][act], m.known[act] = true, true
	}
}

// pull applies the records in the store.
func (m *machine) pull() {
	names, err := m.store.list("m/")
	if err != nil {
		return
	}
	bases := map[record.Machine]uint64{} // the newest of each stream
	streams := m.published.Vector()
	for name := range names {
		parts := strings.Split(name, "/")
		id := record.Machine(parts[1])
		streams[id] = 0
		var seq uint64
		if _, err := fmt.Sscanf(parts[2], "base-%d", &seq); err == nil {
			bases[id] = max(bases[id], seq)
		}
	}
	if n := bases[m.id]; len(m.spool) > 0 && n >= m.spool[0].record.Seq && !m.bases[n] {
		m.renew() // the numbers were used, and may be free again
	}
	ids := slices.Sorted(maps.Keys(streams))
	for again := true; again; {
		again = false
		for _, id := range ids {
			again = m.fetch(id, names, bases[id]) || again
		}
	}
	m.look()
}

// fetch receives the next record of a stream, or a base of it, and reports whether it did.
func (m *machine) fetch(id record.Machine, names map[string]bool, base uint64) bool {
	next := m.published.Vector()[id] + 1
	if next == 1 && base > 0 {
		return m.fetchBase(id, base)
	}
	data, err := m.store.get(recordName(id, next))
	if err == errUnknown {
		return false
	}
	if err == errAbsent {
		return base >= next && m.fetchBase(id, base)
	}
	var r record.Record
	if err := json.Unmarshal([]byte(data), &r); err != nil {
		panic(err)
	}
	if id == m.id && len(m.spool) > 0 {
		switch {
		case m.spool[0].data != data:
			m.renew()
		case !names[recordName(id, next)]: // not in the list, so a base may not be either
			return false
		default:
			m.confirm()
			return true
		}
	}
	var held *join.HeldError
	if err := m.published.Add(&r); errors.As(err, &held) {
		m.count["records held"]++
		return false
	} else if err != nil {
		panic(err)
	}
	m.arrive(&r)
	m.include(id, m.acts.of[data])
	return true
}

// fetchBase receives a base of a stream.
func (m *machine) fetchBase(id record.Machine, seq uint64) bool {
	if m.broken.skipBases && m.published.Vector()[id] > 0 {
		return false
	}
	data, err := m.store.get(baseName(id, seq))
	if err != nil {
		return false
	}
	b, err := join.DecodeBase([]byte(data))
	if err != nil {
		panic(err)
	}
	if id == m.id && len(m.spool) > 0 {
		m.renew()
	}
	m.count["bases received"]++
	if m.published.Vector()[id] > 0 {
		m.count["bases after records"]++
	}
	m.published.AddBase(b)
	if len(m.published.Missing()) > 0 {
		m.count["incomplete states"]++
	}
	m.include(id, m.acts.of[data])
	return true
}

// collect publishes a base, and deletes the own records that an earlier base replaces.
func (m *machine) collect() {
	names, err := m.store.list("m/" + string(m.id))
	if err != nil || len(m.published.Missing()) > 0 {
		return
	}
	deletable := m.published.Acknowledged()[m.id]
	if m.broken.collectUnseen {
		deletable = m.published.Vector()[m.id]
	}
	var old uint64
	for seq := range m.bases {
		if name := baseName(m.id, seq); names[name] && m.store.requests-m.store.born[name] > staleFor {
			old = max(old, seq)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		var seq uint64
		if _, err := fmt.Sscanf(name[len("m/")+32:], "/%d", &seq); err == nil && seq <= min(deletable, old) {
			m.count["records deleted"]++
			m.store.remove(name)
		} else if _, err := fmt.Sscanf(name[len("m/")+32:], "/base-%d", &seq); err == nil && seq < old {
			m.store.remove(name)
		}
	}
	b := m.published.Base(m.id)
	if b.Seq == 0 {
		return
	}
	data := string(b.Encode())
	if m.broken.forgetTitle {
		data = withoutTitles(data)
	}
	m.acts.of[data] = slices.Collect(maps.Keys(m.included[m.id]))
	if m.store.put(baseName(m.id, b.Seq), data) == nil {
		m.bases[b.Seq] = true
	}
}
