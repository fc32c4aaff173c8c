package bucket

import (
	"bytes"
	"context"
	"io/fs"
	"sync"
)

// A Memory stores objects in memory. The zero value is an empty store.
type Memory struct {
	mu      sync.Mutex
	objects map[string][]byte
}

var _ Store = (*Memory)(nil)

// Put creates an object, as [Store] says.
func (m *Memory) Put(ctx context.Context, name string, data []byte) error {
	if err := begin(ctx, checkPut(name, data)); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[name]; ok {
		return ErrExists
	}
	if m.objects == nil {
		m.objects = map[string][]byte{}
	}
	m.objects[name] = bytes.Clone(data)
	return nil
}

// Get returns an object, as [Store] says.
func (m *Memory) Get(ctx context.Context, name string) ([]byte, error) {
	if err := begin(ctx, CheckName(name)); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.objects[name]
	if !ok {
		return nil, absent("get", name)
	}
	return bytes.Clone(data), nil
}

// List returns objects, as [Store] says.
func (m *Memory) List(ctx context.Context, o ListOptions) ([]Object, error) {
	if err := begin(ctx, o.Check()); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]Object, 0, len(m.objects))
	for name, data := range m.objects {
		list = append(list, Object{name, int64(len(data))})
	}
	return o.Select(list), nil
}

// Delete removes an object, as [Store] says.
func (m *Memory) Delete(ctx context.Context, name string) error {
	if err := begin(ctx, CheckName(name)); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, name)
	return nil
}

// begin returns invalid, or else the error of a context that has ended.
func begin(ctx context.Context, invalid error) error {
	if invalid != nil {
		return invalid
	}
	return ctx.Err()
}

func absent(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}
