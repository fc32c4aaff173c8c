package folders

import "context"

// A lasting is a context that ends with its parent, unless [lasting.keep] was called before. A
// restore can be canceled until files begin to change. After that, what belongs to it must be
// completed.
type lasting struct {
	context.Context
	parent context.Context
	cancel context.CancelCauseFunc
	detach func() bool
	kept   bool
}

func newLasting(parent context.Context) *lasting {
	l := &lasting{parent: parent}
	l.Context, l.cancel = context.WithCancelCause(context.WithoutCancel(parent))
	l.detach = context.AfterFunc(parent, func() { l.cancel(context.Cause(parent)) })
	return l
}

// keep keeps l from ending with its parent. The error is that of the parent if it has ended.
func (l *lasting) keep() error {
	if l.kept = l.kept || l.detach(); l.kept {
		return nil
	}
	return l.parent.Err()
}

// release frees what l uses. It then has ended.
func (l *lasting) release() {
	l.detach()
	l.cancel(nil)
}
