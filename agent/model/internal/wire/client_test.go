package wire

import (
	"errors"
	"net/http"
	"testing"
	"time"
)

// TestMayRetry holds which responses are retried, and after which delay.
func TestMayRetry(t *testing.T) {
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	const none = -1
	for _, c := range []struct {
		status      int
		header      http.Header
		least, most time.Duration // of the first delay; none for no retry
	}{
		{200, nil, none, none},
		{400, nil, none, none},
		{501, nil, 375 * time.Millisecond, 500 * time.Millisecond},
		{408, nil, 375 * time.Millisecond, 500 * time.Millisecond},
		{409, nil, 375 * time.Millisecond, 500 * time.Millisecond},
		{429, header("Retry-After", "7"), 7 * time.Second, 7 * time.Second},
		{503, header("Retry-After", "0.5"), 500 * time.Millisecond, 500 * time.Millisecond},
		{503, header("Retry-After-Ms", "3", "Retry-After", "9"), 3 * time.Millisecond, 3 * time.Millisecond},
		{503, header("Retry-After", "-1"), 0, 0},
		{503, header("Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT"), 0, 0},
		{503, header("Retry-After", "soon"), 375 * time.Millisecond, 500 * time.Millisecond},
		{503, header("Retry-After", "121"), none, none},
		{503, header("Retry-After", "1e300"), none, none},
		{503, header("Retry-After-Ms", "120001"), none, none},
		{503, header("X-Should-Retry", "false"), none, none},
		{400, header("X-Should-Retry", "true"), 375 * time.Millisecond, 500 * time.Millisecond},
		{400, header("X-Should-Retry", "true", "Retry-After", "86400"), none, none},
	} {
		res := &http.Response{StatusCode: c.status, Header: c.header}
		if c.header == nil {
			res.Header = http.Header{}
		}
		again, err := mayRetry(t.Context(), res, nil)
		if err != nil || again != (c.least != none) {
			t.Errorf("%d %v: %v, %v", c.status, c.header, again, err)
		}
		if !again {
			continue
		}
		if got := delay(minDelay, maxDelay, 0, res); got < c.least || got > c.most {
			t.Errorf("%d %v: the delay is %v", c.status, c.header, got)
		}
	}
	if again, err := mayRetry(t.Context(), nil, errors.New("connection reset")); !again || err != nil {
		t.Errorf("after a broken connection: %v, %v", again, err)
	}
	if got := delay(minDelay, maxDelay, 9, nil); got < 6*time.Second || got > maxDelay {
		t.Errorf("the tenth delay is %v", got)
	}
}
