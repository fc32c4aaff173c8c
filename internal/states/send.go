package states

import (
	"bytes"
	"context"
	"errors"

	"github.com/bough-dev/bough/internal/pack"
)

// sentPack is how many bytes the objects of a pack for other workspaces have together, before they are
// compressed. A single object can be larger.
const sentPack = 16 << 20

// Send checks states that are to leave the workspace, and passes their objects to each: packs of
// objects with the IDs that they have, without the objects of which known returns true. Content that
// was deleted permanently is never passed, and its IDs are returned. A state that other workspaces
// would not receive is refused, and so is one that is damaged.
func (s *Store) Send(ctx context.Context, list []*State, known func(id pack.ID) bool, each func(data []byte, ids []pack.ID) error) (forgotten []pack.ID, refused []Refusal, err error) {
	if err := s.refresh(); err != nil {
		return nil, nil, err
	}
	i := newInspection(s.Get, s.mustSize, s.isForgotten)
	var fresh []pack.ID
	i.add = func(id pack.ID, isGone bool) error {
		switch {
		case isGone:
			forgotten = append(forgotten, id)
		case !known(id):
			fresh = append(fresh, id)
		}
		return nil
	}
	for _, st := range list {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if err := i.inspect(st); err != nil {
			refused = append(refused, Refusal{st.ID, err})
		}
	}
	return forgotten, refused, s.passObjects(ctx, fresh, each)
}

func (s *Store) mustSize(id pack.ID) (int64, error) {
	size, ok := s.SizeOf(id)
	if !ok {
		return 0, &pack.MissingError{ID: id}
	}
	return size, nil
}

// passObjects passes objects as packs.
func (s *Store) passObjects(ctx context.Context, ids []pack.ID, each func(data []byte, ids []pack.ID) error) error {
	if len(ids) == 0 {
		return nil
	}
	var data bytes.Buffer
	var in []pack.ID
	var object []byte
	size := 0 // of the objects, before they are compressed
	out := pack.NewObjectWriter(&data, 0, 0, false)
	end := func() error {
		if err := out.Flush(); err != nil {
			return err
		}
		return each(bytes.Clone(data.Bytes()), in)
	}
	err := s.withIndex(func(x *pack.Index) error {
		return x.Read(ids, func(id pack.ID, piece []byte, last bool) error {
			if object = append(object, piece...); !last {
				return nil
			}
			defer func() { object = object[:0] }()
			if size > 0 && size+len(object) > sentPack {
				if err := end(); err != nil {
					return err
				}
				data.Reset()
				in, size, out = nil, 0, pack.NewObjectWriter(&data, 0, 0, false)
			}
			in, size = append(in, id), size+len(object)
			return errors.Join(out.Add(id, object), ctx.Err())
		})
	})
	if err != nil {
		return errors.Join(err, out.Flush())
	}
	return end()
}

// Needs returns the objects that states need, without those that were deleted permanently.
func (s *Store) Needs(list []*State) (map[pack.ID]bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return nil, err
	}
	m := s.marking()
	for _, st := range list {
		if err := m.state(st); err != nil {
			return nil, err
		}
	}
	for id := range s.forgotten {
		delete(m.live, id)
	}
	return m.live, nil
}
