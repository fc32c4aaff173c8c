//go:build !linux

package ui

import "time"

// started is when the program began.
var started = time.Now()

// processorTime returns the time that has passed, as an upper limit of what the thread has used.
func processorTime() time.Duration { return time.Since(started) }
