// IDs of a flakeforge-server, with the standard library only. Copy this file.
//
//	ids := NewIDs([]string{"http://ids-1:8080", "http://ids-2:8080"}, "orders")
//	id, err := ids.Next(ctx)         // out of what was fetched before, in most cases
//	batch, err := ids.Fetch(ctx, 500) // by one request
//
// It stays with one server, and goes on to the next one after a network error or a 503. An answer that was lost costs
// numbers, never uniqueness. It must never give a number twice: neither to two goroutines, nor from servers whose layouts
// differ.

package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	batchType = "application/octet-stream"
	maxBody   = 1 << 20 // the largest answer, 10 000 IDs in decimal, has a quarter of it
)

// Error is what a server refused. Code is the server's, such as ERR_FLAKE_NAME.
type Error struct {
	Status     int
	Code       string
	Detail     string
	RetryAfter time.Duration
}

func (e *Error) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Detail) }

// isFinal: no other server, and no other time, can help, because the request itself is wrong.
func (e *Error) isFinal() bool {
	return e.Status >= 400 && e.Status < 500 && e.Status != http.StatusRequestTimeout && e.Status != http.StatusTooManyRequests
}

// IDs is a client for all goroutines of a process. Change its exported fields before the first call only.
type IDs struct {
	Token    string        // sent in the header, where it is not empty
	Prefetch int           // how many IDs a refill fetches; it starts when half are used
	Validity time.Duration // for how long fetched IDs are used
	Timeout  time.Duration // of one request
	Wait     time.Duration // how long a call goes round the servers while none can answer

	urls []string
	name string
	http *http.Client

	mu      sync.Mutex
	current int // the server it stays with
	layout  *string
	ids     []fetched
	refill  *refill
}

type fetched struct {
	id    uint64
	until time.Time
}

// refill is a request on its way; err may be read once done is closed.
type refill struct {
	done chan struct{}
	err  error
}

// NewIDs makes a client. It starts at a random server, so that clients spread over them.
func NewIDs(urls []string, name string) *IDs {
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &IDs{
		Prefetch: 100, Validity: 10 * time.Minute, Timeout: 2 * time.Second, Wait: 10 * time.Second,
		urls: urls, name: name, current: rand.Intn(len(urls)), http: &http.Client{CheckRedirect: noRedirect},
	}
}

// Next gives one ID. It waits only where nothing is left.
func (c *IDs) Next(ctx context.Context) (uint64, error) {
	for {
		id, ok, next := c.take()
		if ok {
			return id, nil
		}
		select {
		case <-next.done:
			if next.err != nil {
				return 0, next.err
			}
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// take gives an ID that was fetched, or the refill to wait for.
func (c *IDs) take() (id uint64, ok bool, next *refill) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for now := time.Now(); len(c.ids) > 0 && c.ids[0].until.Before(now); {
		c.ids = c.ids[1:]
	}
	if len(c.ids) <= c.Prefetch/2 && c.refill == nil {
		c.refill = &refill{done: make(chan struct{})}
		go c.fetchMore(c.refill)
	}
	if len(c.ids) == 0 {
		return 0, false, c.refill
	}
	id, c.ids = c.ids[0].id, c.ids[1:]
	return id, true, nil
}

func (c *IDs) fetchMore(own *refill) {
	ids, err := c.Fetch(context.Background(), c.Prefetch)
	c.mu.Lock()
	defer c.mu.Unlock()
	until := time.Now().Add(c.Validity)
	for _, id := range ids {
		c.ids = append(c.ids, fetched{id, until})
	}
	own.err, c.refill = err, nil
	close(own.done)
}

// Fetch gives n new IDs (1 to 10 000) in ascending order, by one request to the first server that answers.
func (c *IDs) Fetch(ctx context.Context, n int) ([]uint64, error) {
	giveUp := time.Now().Add(c.Wait)
	for {
		pause := 100 * time.Millisecond
		var causes []error
		for range c.urls {
			server := c.server()
			ids, err := c.ask(ctx, c.urls[server], n)
			if err == nil {
				return ids, nil
			}
			var refusal *Error
			isRefusal := errors.As(err, &refusal)
			if ctx.Err() != nil || isRefusal && refusal.isFinal() {
				return nil, err
			}
			if isRefusal {
				pause = max(pause, refusal.RetryAfter)
			}
			causes = append(causes, fmt.Errorf("%s: %w", c.urls[server], err))
			c.leave(server)
		}
		if time.Now().Add(pause).After(giveUp) {
			return nil, fmt.Errorf("no server gave IDs: %w", errors.Join(causes...))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (c *IDs) server() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// leave goes on to the next server, unless another goroutine has done so.
func (c *IDs) leave(server int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == server {
		c.current = (server + 1) % len(c.urls)
	}
}

func (c *IDs) ask(ctx context.Context, server string, n int) ([]uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	header, body, err := c.Post(ctx, server, n, batchType)
	if err != nil {
		return nil, err
	}
	if header.Get("Content-Type") != batchType || len(body) != 8*n {
		return nil, fmt.Errorf("not %d IDs but %d bytes of %q", n, len(body), header.Get("Content-Type"))
	}
	if err := c.checkLayout(header.Get("Flakeforge-Layout")); err != nil {
		return nil, err
	}
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = binary.BigEndian.Uint64(body[8*i:])
	}
	return ids, nil
}

// checkLayout refuses what must not be mixed with the IDs so far. A segment has no layout, which is one of its own here.
func (c *IDs) checkLayout(layout string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.layout == nil {
		c.layout = &layout
	}
	if *c.layout != layout {
		return fmt.Errorf("its layout is %q, the others' is %q", layout, *c.layout)
	}
	return nil
}

// Post makes one request to one server. A refusal is an *Error.
func (c *IDs) Post(ctx context.Context, server string, n int, accept string) (http.Header, []byte, error) {
	address := fmt.Sprintf("%s/v1/ids/%s?n=%d", strings.TrimRight(server, "/"), url.PathEscape(c.name), n)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Accept", accept)
	if c.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return nil, nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, nil, refusal(response, body)
	}
	return response.Header, body, nil
}

// refusal is what a problem+json says; or only the status, where something else answered.
func refusal(response *http.Response, body []byte) *Error {
	var problem struct{ Code, Detail string }
	_ = json.Unmarshal(body, &problem)
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	return &Error{response.StatusCode, problem.Code, problem.Detail, time.Duration(seconds) * time.Second}
}
