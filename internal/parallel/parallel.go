// Package parallel runs a function concurrently.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Do calls f with every number below n, in increasing order, on as many goroutines
// as there are processors.
func Do(n int, f func(i int)) {
	var next atomic.Int64
	var working sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		working.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	working.Wait()
}
