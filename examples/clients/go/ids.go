// IDs of a flakeforge-server, with the standard library only. Copy this file.
//
//	ids := NewIDs([]string{"http://ids-1:8080", "http://ids-2:8080"}, "orders")
//	id, err := ids.Next(ctx)          // in most cases one that was fetched earlier
//	batch, err := ids.Fetch(ctx, 500) // with one request
//
// It stays with one server for one to three minutes, and switches to a random other one after a network error or a 503. A lost
// response costs numbers, never uniqueness. No number comes twice: neither to two goroutines, nor from servers whose layouts or
// groups differ, nor from a cache that replays a response.

package main

import (
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
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
	maxBody   = 1 << 20 // the largest response, 10 000 IDs in decimal, takes a quarter of it
	mismatch  = "ERR_FLAKE_CONFIG_MISMATCH"
	replay    = "ERR_FLAKE_REPLAY"
	noCache   = "configure every proxy and cache on the way not to cache POST, and to pass on the header flakeforge-nonce"

	mostSlots = 1000   // how many slots' last IDs are remembered
	mostIDs   = 65_536 // how many recent IDs are remembered

	// How long it stays with a server on average: after all were restarted, each gets clients again.
	stay = 2 * time.Minute
	// A server may be ready sooner than it said.
	longestRest = 30 * time.Second
)

// Error says why a server rejected the request, or why its IDs are not used. Code is the server's, such as ERR_FLAKE_NAME.
type Error struct {
	Status     int
	Code       string
	Detail     string
	RetryAfter time.Duration
	isFinal    bool // no other server and no retry can help
}

func (e *Error) Error() string {
	if e.Status == 0 {
		return strings.TrimSpace(e.Code + " " + e.Detail)
	}
	return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Detail)
}

// origin is the origin of a server's IDs: their layout, "" for a segment, and the random digits of their group.
type origin struct{ url, layout, group string }

func (o origin) fits(other origin) bool { return o.layout == other.layout && o.group == other.group }

// answer has the IDs of a response. slot is the slot in which IDs ascend from response to response, or ""; lasts has the last
// IDs known at the time of the request.
type answer struct {
	origin origin
	slot   string
	ids    []uint64
	lasts  map[string]uint64
}

// IDs is one client for all goroutines of a process. Change its exported fields only before the first call.
type IDs struct {
	Token    string        // sent in the header, if it is not empty
	Prefetch int           // how many IDs a refill fetches; it starts when half are used
	Validity time.Duration // how long fetched IDs are used
	Timeout  time.Duration // of one request
	Wait     time.Duration // how long a call keeps asking all servers while none responds
	HTTP     *http.Client  // its Transport may have a private CA and a client certificate

	urls []string
	name string

	mu      sync.Mutex
	current string // the current server
	moveAt  time.Time
	known   *origin         // of the last response
	left    map[string]bool // groups that were replaced by another one
	ids     []fetched
	refill  *refill
	lasts   map[string]uint64   // the last ID of each group and slot
	recent  map[uint64]struct{} // the most recent IDs
	order   []uint64            // the same, the oldest first
}

type fetched struct {
	id    uint64
	until time.Time
}

// refill is a request in progress; err may be read once done is closed.
type refill struct {
	done chan struct{}
	err  error
}

// NewIDs creates a client. It starts with a random server, so that clients spread over all of them.
func NewIDs(urls []string, name string) *IDs {
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &IDs{
		Prefetch: 100, Validity: 10 * time.Minute, Timeout: 2 * time.Second, Wait: 10 * time.Second,
		HTTP: &http.Client{CheckRedirect: noRedirect},
		urls: urls, name: name, current: urls[rand.Intn(len(urls))], moveAt: nextMove(), left: map[string]bool{},
		lasts: map[string]uint64{}, recent: map[uint64]struct{}{},
	}
}

// Next returns one ID. It waits only if none is left.
func (c *IDs) Next(ctx context.Context) (uint64, error) {
	for {
		id, ok, next := c.one()
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

// one returns a fetched ID, or the refill to wait for.
func (c *IDs) one() (id uint64, ok bool, next *refill) {
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
	ids, group, err := c.fetch(context.Background(), c.Prefetch)
	c.mu.Lock()
	defer c.mu.Unlock()
	until := time.Now().Add(c.Validity)
	for _, id := range ids {
		if group == len(c.left) {
			c.ids = append(c.ids, fetched{id, until})
		}
	}
	own.err, c.refill = err, nil
	close(own.done)
}

// Fetch returns n new IDs (1 to 10 000), with one request to the first server that responds.
func (c *IDs) Fetch(ctx context.Context, n int) ([]uint64, error) {
	ids, _, err := c.fetch(ctx, n)
	return ids, err
}

// fetch also returns the position of the IDs' group in the sequence of groups.
func (c *IDs) fetch(ctx context.Context, n int) ([]uint64, int, error) {
	giveUp := time.Now().Add(c.Wait)
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		asked := time.Duration(math.MaxInt64) // the shortest time that a server asked for
		failure := &Error{Detail: "no server gave IDs:"}
		for _, server := range c.inTurn() {
			ids, group, err := c.take(ctx, server, n)
			if err == nil {
				return ids, group, nil
			}
			refusal := &Error{}
			errors.As(err, &refusal)
			if ctx.Err() != nil || refusal.isFinal {
				return nil, 0, err
			}
			asked = min(asked, refusal.RetryAfter)
			if refusal.Code == mismatch || (refusal.Code == replay && failure.Code == "") {
				failure.Code = refusal.Code
			}
			failure.Detail += fmt.Sprintf(" %s: %v;", server, err)
		}
		if time.Now().Add(max(pause, asked)).After(giveUp) {
			return nil, 0, failure
		}
		select {
		case <-time.After(max(pause, min(asked, longestRest))):
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}

// inTurn returns all servers: first the current one, then the others in random order. From time to time the current one changes.
func (c *IDs) inTurn() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := append([]string(nil), c.urls...)
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if time.Now().After(c.moveAt) {
		c.current, c.moveAt = all[0], nextMove()
	}
	for i, server := range all {
		if server == c.current {
			all[0], all[i] = all[i], all[0]
		}
	}
	return all
}

func nextMove() time.Time { return time.Now().Add(stay/2 + time.Duration(rand.Int63n(int64(stay)))) }

// take returns IDs from this server, if they are new and from the same group as earlier ones.
func (c *IDs) take(ctx context.Context, server string, n int) ([]uint64, int, error) {
	c.mu.Lock()
	before := len(c.left)
	c.mu.Unlock()
	answer, err := c.ask(ctx, server, n)
	if err != nil {
		return nil, 0, err
	}
	theirs := answer.origin
	group, known, err := c.accept(answer)
	if known == nil {
		return answer.ids, group, err
	}
	// It may be the same group, recreated on an emptied store. Then all servers show it.
	mayFollow := theirs.layout == known.layout && theirs.group != "" && !c.wasLeft(theirs.group)
	var shown []origin
	if mayFollow {
		shown = c.askAll(ctx)
	}
	if group, known, err = c.accept(answer); known == nil {
		return answer.ids, group, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if before != len(c.left) {
		return nil, 0, fmt.Errorf("%s was asked before its group was recreated", server)
	}
	isKnownThere := false
	for _, each := range shown {
		mayFollow = mayFollow && each.fits(theirs)
		isKnownThere = isKnownThere || each.url == known.url
	}
	if !mayFollow || !isKnownThere {
		return nil, 0, mismatchError(c.name, theirs, *known, !mayFollow)
	}
	c.left[known.group] = true
	c.ids, c.known = nil, &theirs
	return answer.ids, len(c.left), c.remember(answer)
}

// accept takes IDs from the same group as earlier ones and returns its position; otherwise it returns the earlier origin.
func (c *IDs) accept(theirs answer) (int, *origin, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known != nil && !c.known.fits(theirs.origin) {
		return 0, c.known, nil
	}
	c.known, c.current = &theirs.origin, theirs.origin.url
	return len(c.left), nil, c.remember(theirs)
}

// remember returns an error if an ID is not new. Those of one slot come after all IDs known at the time of the request.
// Responses to concurrent requests may arrive in any order, so their IDs are compared one by one.
func (c *IDs) remember(theirs answer) error {
	ids := theirs.ids
	if last, ok := theirs.lasts[theirs.slot]; ok && theirs.slot != "" && ids[0] <= last {
		return replayError(fmt.Sprintf("the ID %d is not after %d, the last ID of its slot", ids[0], last))
	}
	for _, id := range ids {
		if _, ok := c.recent[id]; ok {
			return replayError(fmt.Sprintf("the ID %d was sent before", id))
		}
	}
	for _, id := range ids {
		c.recent[id] = struct{}{}
	}
	c.order = append(c.order, ids...)
	for len(c.order) > mostIDs {
		delete(c.recent, c.order[0])
		c.order = c.order[1:]
	}
	if theirs.slot == "" {
		return nil
	}
	if _, ok := c.lasts[theirs.slot]; !ok && len(c.lasts) >= mostSlots {
		clear(c.lasts)
	}
	c.lasts[theirs.slot] = max(c.lasts[theirs.slot], ids[len(ids)-1])
	return nil
}

// replayError reports a replayed response, whose IDs were used before.
func replayError(what string) *Error { return &Error{Code: replay, Detail: what + ": " + noCache} }

func (c *IDs) wasLeft(group string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left[group]
}

// mismatchError: IDs of two groups or layouts could be equal, so the second group's are not used.
func mismatchError(name string, theirs, known origin, isFinal bool) *Error {
	detail := fmt.Sprintf("%s: %q is layout %q, group %q; %s, which gave the last IDs, has layout %q, group %q",
		theirs.url, name, theirs.layout, theirs.group, known.url, known.layout, known.group)
	if !isFinal {
		detail += " and does not answer"
	}
	return &Error{Code: mismatch, Detail: detail, isFinal: isFinal}
}

// askAll returns the origins of all servers that return an ID.
func (c *IDs) askAll(ctx context.Context) (shown []origin) {
	for _, server := range c.urls {
		if each, err := c.ask(ctx, server, 1); err == nil {
			shown = append(shown, each.origin)
		}
	}
	return shown
}

func (c *IDs) ask(ctx context.Context, server string, n int) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	lasts := c.lastIDs()
	header, body, err := c.Post(ctx, server, n, batchType)
	if err != nil {
		return answer{}, err
	}
	if len(body) != 8*n {
		return answer{}, fmt.Errorf("expected %d IDs, %d bytes, but got %d bytes", n, 8*n, len(body))
	}
	isOrdered := header.Get("Flakeforge-Order") != "none"
	ids, seen := make([]uint64, n), map[uint64]bool{}
	for i := range ids {
		ids[i] = binary.BigEndian.Uint64(body[8*i:])
		if isOrdered && i > 0 && ids[i] <= ids[i-1] {
			return answer{}, fmt.Errorf("%d IDs that do not ascend", n)
		}
		if seen[ids[i]] {
			return answer{}, fmt.Errorf("%d IDs that are not all different", n)
		}
		if !isOrdered {
			seen[ids[i]] = true
		}
	}
	theirs := answer{origin{server, header.Get("Flakeforge-Layout"), header.Get("Flakeforge-Group")}, "", ids, lasts}
	if slot := header.Get("Flakeforge-Slot"); isOrdered && slot != "" && theirs.origin.group != "" {
		theirs.slot = theirs.origin.group + " " + slot
	}
	return theirs, nil
}

func (c *IDs) lastIDs() map[string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	lasts := make(map[string]uint64, len(c.lasts))
	for slot, last := range c.lasts {
		lasts[slot] = last
	}
	return lasts
}

// Post sends one request to one server. A refusal is an *Error, and so is the response to another request.
func (c *IDs) Post(ctx context.Context, server string, n int, accept string) (http.Header, []byte, error) {
	address := fmt.Sprintf("%s/v1/ids/%s?n=%d", strings.TrimRight(server, "/"), url.PathEscape(c.name), n)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		return nil, nil, err
	}
	nonce, err := newNonce()
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Accept", accept)
	request.Header.Set("Flakeforge-Nonce", nonce)
	if c.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	response, err := c.HTTP.Do(request)
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
	media, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	if media != accept {
		return nil, nil, fmt.Errorf("responded 200 with %q, expected %s", media, accept)
	}
	if response.Header.Get("Flakeforge-Nonce") != nonce {
		return nil, nil, replayError("a response without the nonce of this request may be a copy of an earlier one")
	}
	return response.Header, body, nil
}

func newNonce() (string, error) {
	bytes := make([]byte, 16)
	_, err := crand.Read(bytes)
	return hex.EncodeToString(bytes), err
}

// refusal is the error in a problem+json, or only the status if the body is something else.
func refusal(response *http.Response, body []byte) *Error {
	var problem struct{ Code, Detail string }
	_ = json.Unmarshal(body, &problem)
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	seconds = max(0, min(seconds, 1_000_000)) // a duration holds at most 292 years
	status := response.StatusCode
	isFinal := status >= 400 && status < 500 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests
	return &Error{status, problem.Code, problem.Detail, time.Duration(seconds) * time.Second, isFinal}
}
