package workspace

import (
	"context"

	"github.com/bough-dev/bough/internal/operation"
)

func withResult[V any](f func(V) error) func(V) (nothing, error) {
	return func(v V) (nothing, error) { return nothing{}, f(v) }
}

func (b *base) read(ctx context.Context, f func(*View) error) error {
	_, err := read(ctx, b, withResult(f))
	return err
}

func (b *base) make(ctx context.Context, op operation.Operation, f func(*Tx) error) error {
	_, err := create(ctx, b, op, withResult(f))
	return err
}

func (b *base) write(ctx context.Context, op operation.Operation, f func(*Tx) error) error {
	_, err := update(ctx, b, op, withResult(f))
	return err
}

func (b *base) locked(ctx context.Context, op operation.Operation, m mode, f func(*Tx) error) error {
	_, err := locked(ctx, b, op, m, withResult(f))
	return err
}

func (tx *Tx) change(f func(*Tx) error) error { return tx.conclude(f(tx)) }
