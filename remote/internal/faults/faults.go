// Package faults simulates a store on a network that loses, delays and repeats requests, and whose
// reads are stale for a while. It is for tests. All faults follow from a seed.
package faults

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/bough-dev/bough/remote/bucket"
)

// ErrLost is the error of a call whose request or answer was lost. ErrCrashed is that of every call
// of a client that has crashed.
var (
	ErrLost    = errors.New("faults: the connection was lost")
	ErrCrashed = errors.New("faults: the client has crashed")
)

// Rates says how often faults happen, in a thousand calls that can have them.
type Rates struct {
	LostRequest int // a call does nothing and returns ErrLost
	LostAnswer  int // a call has its effect and returns ErrLost
	Late        int // a Put or Delete returns ErrLost and has its effect after some later calls
	Double      int // a Put or Delete has its effect once more after some later calls
	StaleGet    int // a Get does not find an object that was put among the last Lag calls
	StaleList   int // a List omits an object that was put among the last Lag calls, or has one that was deleted among them

	Lag int // in calls

	// Overwrite has Put ignore that there is an object already.
	Overwrite bool
}

// Some are rates at which a few of a hundred calls have a fault.
var Some = Rates{LostRequest: 30, LostAnswer: 30, Late: 30, Double: 30, StaleGet: 100, StaleList: 100, Lag: 20}

// A Network is a store and the connection to it. It is safe for concurrent use, and then its
// faults depend on the order of the calls.
type Network struct {
	mu      sync.Mutex
	store   bucket.Store
	rates   Rates
	random  *rand.Rand
	calls   int
	put     map[string]int // the call that created an object
	deleted map[string]deletion
	waiting []request
}

type deletion struct {
	call int
	size int64
}

// A request is a Put or Delete on its way.
type request struct {
	name string
	data []byte
	del  bool
}

// NewNetwork returns a network with a store of its own.
func NewNetwork(store bucket.Store, seed uint64, rates Rates) *Network {
	return &Network{
		store: store, rates: rates, random: rand.New(rand.NewPCG(seed, 0)),
		put: map[string]int{}, deleted: map[string]deletion{},
	}
}

// Settle has all requests on the way arrive. Later calls have no faults.
func (n *Network) Settle() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rates = Rates{Overwrite: n.rates.Overwrite}
	return n.deliver(func() bool { return true })
}

// Resume has later calls have faults again, as after NewNetwork.
func (n *Network) Resume(rates Rates) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rates = rates
}

// A Client is a machine's access to the store of a network.
type Client struct {
	net     *Network
	left    int // calls before that with the crash; negative for none
	crashed bool
}

var _ bucket.Store = (*Client)(nil)

// Client returns a new client.
func (n *Network) Client() *Client { return &Client{net: n, left: -1} }

// CrashAfter has the client crash in the call after the next n. This call may have its effect.
func (c *Client) CrashAfter(n int) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	c.left = n
}

// begin begins a call: the network must be locked.
func (c *Client) begin(ctx context.Context) (crashes bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	switch {
	case c.crashed:
		return false, ErrCrashed
	case c.left == 0:
		c.crashed = true
		return true, nil
	case c.left > 0:
		c.left--
	}
	c.net.calls++
	return false, c.net.deliver(func() bool { return c.net.random.IntN(4) == 0 })
}

// happens decides whether a fault happens.
func (n *Network) happens(rate int) bool { return n.random.IntN(1000) < rate }

// deliver has waiting requests arrive, in any order.
func (n *Network) deliver(arrives func() bool) error {
	n.random.Shuffle(len(n.waiting), func(i, j int) { n.waiting[i], n.waiting[j] = n.waiting[j], n.waiting[i] })
	var rest []request
	for _, r := range n.waiting {
		if !arrives() {
			rest = append(rest, r)
		} else if err := n.do(r); err != nil && !errors.Is(err, bucket.ErrExists) {
			return err
		}
	}
	n.waiting = rest
	return nil
}

// do has a request arrive. What arrives is carried out even if the caller has given up.
func (n *Network) do(r request) error {
	ctx := context.Background()
	old, err := n.store.Get(ctx, r.name)
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if exists && (r.del || n.rates.Overwrite) {
		if err := n.store.Delete(ctx, r.name); err != nil {
			return err
		}
	}
	if r.del {
		if exists {
			n.deleted[r.name] = deletion{n.calls, int64(len(old))}
		}
		delete(n.put, r.name)
		return nil
	}
	if err := n.store.Put(ctx, r.name, r.data); err != nil {
		return err
	}
	if !exists {
		n.put[r.name] = n.calls
	}
	delete(n.deleted, r.name)
	return nil
}

// change sends a Put or Delete.
func (c *Client) change(ctx context.Context, r request) error {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	crashes, err := c.begin(ctx)
	if err != nil {
		return err
	}
	n := c.net
	switch {
	case crashes && n.random.IntN(3) == 0:
		return errors.Join(ErrCrashed, unlessExists(n.do(r)))
	case crashes && n.random.IntN(2) == 0:
		n.waiting = append(n.waiting, r)
		return ErrCrashed
	case crashes:
		return ErrCrashed
	case n.happens(n.rates.LostRequest):
		return ErrLost
	case n.happens(n.rates.LostAnswer):
		return errors.Join(ErrLost, unlessExists(n.do(r)))
	case n.happens(n.rates.Late):
		n.waiting = append(n.waiting, r)
		return ErrLost
	case n.happens(n.rates.Double):
		n.waiting = append(n.waiting, r)
	}
	return n.do(r)
}

// unlessExists returns nil for ErrExists: the answer that says so is lost.
func unlessExists(err error) error {
	if errors.Is(err, bucket.ErrExists) {
		return nil
	}
	return err
}

// read begins a Get or List.
func (c *Client) read(ctx context.Context) error {
	crashes, err := c.begin(ctx)
	switch {
	case err != nil:
		return err
	case crashes:
		return ErrCrashed
	case c.net.happens(c.net.rates.LostRequest + c.net.rates.LostAnswer):
		return ErrLost
	}
	return nil
}

// Put creates an object, as [bucket.Store] says.
func (c *Client) Put(ctx context.Context, name string, data []byte) error {
	if err := bucket.CheckName(name); err != nil {
		return err
	}
	if err := bucket.CheckSize(name, int64(len(data))); err != nil {
		return err
	}
	return c.change(ctx, request{name: name, data: append([]byte{}, data...)})
}

// Delete removes an object, as [bucket.Store] says.
func (c *Client) Delete(ctx context.Context, name string) error {
	if err := bucket.CheckName(name); err != nil {
		return err
	}
	return c.change(ctx, request{name: name, del: true})
}

// Get returns an object, as [bucket.Store] says.
func (c *Client) Get(ctx context.Context, name string) ([]byte, error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	if err := c.read(ctx); err != nil {
		return nil, err
	}
	if at, ok := c.net.put[name]; ok && c.net.recent(at) && c.net.happens(c.net.rates.StaleGet) {
		return nil, &fs.PathError{Op: "get", Path: name, Err: fs.ErrNotExist}
	}
	return c.net.store.Get(ctx, name)
}

// List returns objects, as [bucket.Store] says.
func (c *Client) List(ctx context.Context, o bucket.ListOptions) ([]bucket.Object, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	if err := c.read(ctx); err != nil {
		return nil, err
	}
	list, err := c.net.store.List(ctx, bucket.ListOptions{Prefix: o.Prefix})
	if err != nil {
		return nil, err
	}
	seen := list[:0]
	for _, object := range list {
		if at, ok := c.net.put[object.Name]; !ok || !c.net.recent(at) || !c.net.happens(c.net.rates.StaleList) {
			seen = append(seen, object)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.net.deleted)) {
		if d := c.net.deleted[name]; c.net.recent(d.call) && c.net.happens(c.net.rates.StaleList) {
			seen = append(seen, bucket.Object{Name: name, Size: d.size})
		}
	}
	return o.Select(seen), nil
}

// recent reports whether a call is one of the last.
func (n *Network) recent(call int) bool { return n.calls-call <= n.rates.Lag }
