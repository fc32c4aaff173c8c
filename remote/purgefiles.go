package remote

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/travel"
	"github.com/bough-dev/bough/workspace/mirror"
)

// An objectRun is a run of objects of this machine.
type objectRun struct {
	folder string
	join.Element
	objects []mirror.Object
	dead    bool // no state needs some of the objects
}

// purgeFiles adds to a batch what drops the own records of states that belong to purged sessions alone.
// It returns all own runs of objects, and the objects that are still needed. Without such states there is
// nothing to do. If it is not known what other states need, the content stays, which is noted.
func (j *job) purgeFiles(b *batch) (runs []objectRun, live map[mirror.Object]bool, err error) {
	there := travel.Project(j.state)
	own := j.writer.Machine()
	ops, dead := travel.Purge(there, own, j.view().IsPurged)
	if len(dead) == 0 {
		return nil, nil, nil
	}
	if err := b.add(ops...); err != nil {
		return nil, nil, err
	}
	if live, err = j.liveObjects(there, dead); err != nil {
		if j.ctx.Err() != nil {
			return nil, nil, err
		}
		j.opts.note("content of files stays in the remote, because not all states can be read: " + err.Error())
		return nil, nil, nil
	}
	known, err := j.objectsOf()
	if err != nil {
		return nil, nil, err
	}
	for _, folder := range there.Folders {
		for _, el := range folder.Objects {
			if el.Stamp.Machine != own {
				continue
			}
			run := objectRun{folder: folder.ID, Element: el}
			var ok bool
			if run.objects, ok = known[runKey(el.Body)]; !ok {
				if run.objects, err = j.readRun(el.Body); err != nil {
					return nil, nil, err
				}
			}
			for _, o := range run.objects {
				run.dead = run.dead || !live[o]
			}
			runs = append(runs, run)
		}
	}
	return runs, live, nil
}

// liveObjects returns the objects of all states but the dead ones.
func (j *job) liveObjects(there *travel.Files, dead map[string]bool) (map[mirror.Object]bool, error) {
	local, err := j.w.Mirror().Files(j.ctx, nil)
	if err != nil {
		return nil, err
	}
	here := map[string]bool{}
	for _, st := range local.States {
		here[st.ID] = true
	}
	var ids []string
	for _, st := range there.States {
		if here[st.ID] && !dead[st.ID] {
			ids = append(ids, st.ID)
		}
	}
	live := map[mirror.Object]bool{}
	objects, err := j.w.Mirror().NeededObjects(j.ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		live[o] = true
	}
	s, err := j.openSupply(there)
	if err != nil {
		return nil, err
	}
	defer s.close()
	for _, st := range there.States {
		if here[st.ID] || dead[st.ID] {
			continue
		}
		var is states.State
		if json.Unmarshal(st.Record, &is) != nil {
			continue // no machine applies it
		}
		if err := s.walk(is.Tree, live); err != nil {
			return nil, fmt.Errorf("state %s: %w", st.ID, err)
		}
		data, err := s.get(is.Coverage)
		if err != nil {
			return nil, fmt.Errorf("state %s: %w", st.ID, err)
		}
		live[mirror.Object(is.Coverage)] = true
		var c states.Coverage
		if json.Unmarshal(data, &c) != nil {
			continue
		}
		for _, source := range c.Rules.Sources {
			live[mirror.Object(source.Object)] = true
		}
		for _, entry := range c.Rules.Deciding {
			live[mirror.Object(entry.Object)] = true
		}
	}
	return live, nil
}

// walk adds a tree and all that is below it to live.
func (s *supply) walk(id pack.ID, live map[mirror.Object]bool) error {
	if live[mirror.Object(id)] {
		return nil
	}
	data, err := s.get(id)
	if err != nil {
		return err
	}
	t, err := filetree.Decode(data)
	if err != nil {
		return err
	}
	live[mirror.Object(id)] = true
	for _, e := range t {
		if e.Type != filetree.Dir {
			live[mirror.Object(e.ID)] = true
		} else if err := s.walk(e.ID, live); err != nil {
			return err
		}
	}
	return nil
}

// get returns an object of the remote.
func (s *supply) get(id pack.ID) ([]byte, error) {
	p, err := s.find(mirror.Object(id))
	if err != nil {
		return nil, err
	}
	opened, err := pack.New("pack", p, p.Size)
	if err != nil {
		return nil, err
	}
	return pack.NewIndex(opened).Get(id)
}

// replaceObjects adds the own runs of objects again, without unneeded objects, that are in one of the
// packs or have something that is not needed.
func (j *job) replaceObjects(b *batch, runs []objectRun, live map[mirror.Object]bool, packs map[string]bool) error {
	for _, run := range runs {
		if !run.dead && !packs[run.Body.Pack] {
			continue
		}
		var kept []mirror.Object
		for _, o := range run.objects {
			if live[o] {
				kept = append(kept, o)
			}
		}
		var data []byte
		if len(kept) > 0 {
			var err error
			if data, err = j.rewriteRun(run, live); err != nil {
				return err
			}
			b.objects = append(b.objects, kept)
		}
		if err := b.add(travel.ReplaceObjects(run.folder, run.Stamp, data)...); err != nil {
			return err
		}
	}
	return nil
}

// rewriteRun returns the objects of a run that are needed, as a pack.
func (j *job) rewriteRun(run objectRun, live map[mirror.Object]bool) ([]byte, error) {
	var packs []*pack.Pack
	for it, err := range j.packs.Items(j.ctx, run.Body) {
		if err != nil {
			return nil, err
		}
		p, err := pack.New("pack", bytes.NewReader(it.Content), int64(len(it.Content)))
		if err != nil {
			return nil, err
		}
		packs = append(packs, p)
	}
	var data bytes.Buffer
	err := pack.NewIndex(packs...).Rewrite(&data, func(id pack.ID) bool { return live[mirror.Object(id)] })
	return data.Bytes(), err
}
