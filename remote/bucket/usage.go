package bucket

import (
	"context"
	"sync"
)

// A Usage counts the requests to a store by kind, and the bytes of objects.
type Usage struct {
	Puts, Gets, Lists, Deletes int64
	Sent, Received             int64 // in bytes, without what a protocol adds
}

// Requests returns the number of requests of all kinds.
func (u Usage) Requests() int64 { return u.Puts + u.Gets + u.Lists + u.Deletes }

// Sub returns the difference of two usages of a store: what was asked since o.
func (u Usage) Sub(o Usage) Usage {
	return Usage{u.Puts - o.Puts, u.Gets - o.Gets, u.Lists - o.Lists, u.Deletes - o.Deletes, u.Sent - o.Sent, u.Received - o.Received}
}

// A Meter counts the requests to a store.
type Meter struct {
	Store
	mu    sync.Mutex
	usage Usage
}

// NewMeter returns a meter of a store. A store that counts its requests itself, because it repeats
// them or makes several for one call, has a method Usage, which the meter then uses.
func NewMeter(s Store) *Meter { return &Meter{Store: s} }

// Usage returns what was asked so far.
func (m *Meter) Usage() Usage {
	if own, ok := m.Store.(interface{ Usage() Usage }); ok {
		return own.Usage()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.usage
}

func (m *Meter) count(add func(u *Usage)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	add(&m.usage)
}

// Put creates an object, as [Store] says.
func (m *Meter) Put(ctx context.Context, name string, data []byte) error {
	m.count(func(u *Usage) { u.Puts++; u.Sent += int64(len(data)) })
	return m.Store.Put(ctx, name, data)
}

// Get returns an object, as [Store] says.
func (m *Meter) Get(ctx context.Context, name string) ([]byte, error) {
	data, err := m.Store.Get(ctx, name)
	m.count(func(u *Usage) { u.Gets++; u.Received += int64(len(data)) })
	return data, err
}

// List returns objects, as [Store] says.
func (m *Meter) List(ctx context.Context, o ListOptions) ([]Object, error) {
	m.count(func(u *Usage) { u.Lists++ })
	return m.Store.List(ctx, o)
}

// Delete removes an object, as [Store] says.
func (m *Meter) Delete(ctx context.Context, name string) error {
	m.count(func(u *Usage) { u.Deletes++ })
	return m.Store.Delete(ctx, name)
}
