package explore_test

import (
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/explore"
)

// BenchmarkPool measures the overhead of an exploration: 20 runners that take 200 ms, or a
// second, each, 5 at a time, compared with the same command line run directly with the same
// concurrency. The metric x-hand is the ratio of the times; the goal is at most 1.05.
func BenchmarkPool(b *testing.B) {
	for _, seconds := range []string{"0.2", "1"} {
		b.Run(seconds+"s", func(b *testing.B) { benchPool(b, "sleep "+seconds+"; echo done") })
	}
}

func benchPool(b *testing.B, line string) {
	const n, most = 20, 5
	var hand, pool time.Duration
	for b.Loop() {
		begin := time.Now()
		var all sync.WaitGroup
		slots := make(chan bool, most)
		for range n {
			slots <- true
			all.Go(func() {
				defer func() { <-slots }()
				cmd := exec.Command("/bin/sh", "-c", line)
				cmd.Dir = b.TempDir()
				if out, err := cmd.Output(); err != nil || string(out) != "done\n" {
					b.Errorf("run directly it prints %q, %v", out, err)
				}
			})
		}
		all.Wait()
		hand += time.Since(begin)

		l := newLab(b)
		c := explore.Defaults()
		c.MaxConcurrent = most
		e := l.explore(line, c, numbered(n)...)
		begin = time.Now()
		l.run(e)
		pool += time.Since(begin)
		for _, br := range e.Branches {
			if br.Result != "done" {
				b.Fatalf("a branch is %+v", br)
			}
		}
	}
	b.ReportMetric(float64(pool)/float64(hand), "x-hand")
	b.ReportMetric(float64((pool-hand)/time.Duration(b.N))/1e6, "ms-more")
}
