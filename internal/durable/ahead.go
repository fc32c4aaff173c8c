package durable

// An aheadWriter starts writeback of written data early, so that the final fsync
// has less to wait for. Starting it takes time too, so a goroutine does that.
type aheadWriter struct {
	file      *file
	requested int64 // offset of the end of the last request
	requests  chan stretch
	done      chan struct{}
}

// A stretch is a range of a file in bytes.
type stretch struct{ from, length int64 }

const (
	stride  = 1 << 20 // number of bytes between two requests
	waiting = 1 << 12 // capacity of requests
)

func (a *aheadWriter) Write(p []byte) (int, error) {
	n, err := a.file.Write(p)
	if at := a.file.at; at-a.requested >= stride {
		if a.requests == nil {
			a.requests, a.done = make(chan stretch, waiting), make(chan struct{})
			go a.serve()
		}
		a.requests <- stretch{a.requested, at - a.requested}
		a.requested = at
	}
	return n, err
}

func (a *aheadWriter) serve() {
	for s := range a.requests {
		startWriteback(a.file.os, s.from, s.length)
	}
	close(a.done)
}

// close ends the goroutine. It must be called before the file is closed.
func (a *aheadWriter) close() {
	if a != nil && a.requests != nil {
		close(a.requests)
		<-a.done
		a.requests = nil
	}
}
