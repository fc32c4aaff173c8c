package durable

// An aheadWriter has the disk begin with what is written while more comes, so
// that less is left to wait for at the end. To ask the disk takes time too; that
// is done on the side.
type aheadWriter struct {
	file           *file
	written, asked int64
	asking         chan stretch
	done           chan struct{}
}

// A stretch is a part of a file, in bytes.
type stretch struct{ from, length int64 }

const (
	stride  = 1 << 20 // how much is written before the disk is asked to begin with it
	waiting = 1 << 12 // how many stretches may wait for that
)

func (a *aheadWriter) Write(p []byte) (int, error) {
	n, err := a.file.Write(p)
	if a.written += int64(n); a.written-a.asked >= stride {
		if a.asking == nil {
			a.asking, a.done = make(chan stretch, waiting), make(chan struct{})
			go a.ask()
		}
		a.asking <- stretch{a.asked, a.written - a.asked}
		a.asked = a.written
	}
	return n, err
}

func (a *aheadWriter) ask() {
	for s := range a.asking {
		begin(a.file.os, s.from, s.length)
	}
	close(a.done)
}

// close ends the asking, before the file is closed.
func (a *aheadWriter) close() {
	if a != nil && a.asking != nil {
		close(a.asking)
		<-a.done
		a.asking = nil
	}
}
