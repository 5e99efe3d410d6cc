"""IDs of a flakeforge-server, with the standard library only (Python 3.9 or newer). Copy this file.

    ids = FlakeForgeIds(["http://ids-1:8080", "http://ids-2:8080"], "orders")
    ids.next()      # an int; in most cases one that was fetched earlier
    ids.fetch(500)  # a list, with one request

It stays with one server for one to three minutes, and switches to a random other one after a network error or a 503. A lost
response costs numbers, never uniqueness. No number comes twice: neither to two threads, nor to a parent and its forked child,
nor from servers whose layouts or groups differ, nor from a cache that replays a response.
"""

import collections
import concurrent.futures
import http.client
import json
import os
import queue
import random
import secrets
import struct
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import weakref


_BATCH = "application/octet-stream"
_MOST_BYTES = 2**20  # the largest response, 10 000 IDs in decimal, takes a quarter of it
_STAY = (60, 180)  # random seconds with a server: after all were restarted, each gets clients again
_LONGEST_REST = 30  # seconds: a server may be ready sooner than it said
_MISMATCH = "ERR_FLAKE_CONFIG_MISMATCH"
_REPLAY = "ERR_FLAKE_REPLAY"
_NO_CACHE = "configure every proxy and cache on the way not to cache POST, and to pass on the header flakeforge-nonce"
_MOST_SLOTS = 1000  # how many slots' last IDs are remembered
_MOST_IDS = 65536  # how many recent IDs are remembered


class FlakeForgeError(Exception):
    """A server rejected the request, or none responded. `code`: the server's, such as ERR_FLAKE_NAME; `status`: HTTP's."""

    def __init__(self, message, status=None, code=None, retry_after=0.0, is_final=False):
        super().__init__(message)
        self.status = status
        self.code = code
        self.retry_after = retry_after  # seconds
        self.is_final = is_final  # no other server and no retry can help


# The origin of a server's IDs: their layout, "" for a segment, and the random digits of their group.
_Origin = collections.namedtuple("_Origin", "url layout group")

# `slot`: in which IDs ascend from response to response, or None. `lasts`: the last IDs known when it was requested.
_Answer = collections.namedtuple("_Answer", "origin slot ids lasts")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: urllib would send the token along."""

    def redirect_request(self, *_):
        return None


def _opener(context):
    return urllib.request.build_opener(_NoRedirect, urllib.request.HTTPSHandler(context=context))


def post(url, name, n=1, token=None, timeout=2.0, accept=_BATCH, *, context=None):
    """One request to one server: returns its headers and body. Raises FlakeForgeError, or OSError for network errors.

    urllib's timeout applies to each wait, so a server could make a request last for hours. This timeout covers the whole
    request: it runs in a separate thread, and a late response is not used. A response to another request is rejected.
    context: an ssl.SSLContext, for a private CA and a client certificate.
    """
    answers = queue.SimpleQueue()

    def run():
        try:
            answers.put((_exchange(url, name, n, token, timeout, accept, context), None))
        except Exception as error:  # pylint: disable=broad-except
            answers.put((None, error))

    threading.Thread(target=run, name="flakeforge-request", daemon=True).start()
    try:
        answer, error = answers.get(timeout=timeout)
    except queue.Empty:
        raise TimeoutError(f"no complete response within {timeout} s") from None
    if error is not None:
        raise error
    return answer


def _exchange(url, name, n, token, timeout, accept, context):
    end = time.monotonic() + timeout
    path = f"/v1/ids/{urllib.parse.quote(name, safe='')}?n={n}"
    nonce = secrets.token_hex(16)
    headers = {"Accept": accept, "flakeforge-nonce": nonce}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(url.rstrip("/") + path, method="POST", headers=headers)
    try:
        with _opener(context).open(request, timeout=timeout) as response:
            media = response.headers.get_content_type()
            if media != accept:
                raise FlakeForgeError(f"responded {response.status} with {media}, expected {accept}")
            if response.headers.get("flakeforge-nonce") != nonce:
                raise _replay("a response without the nonce of this request may be a copy of an earlier one")
            return response.headers, _read(response, end)
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(error, _read(error, end)) from None


def _read(response, end):
    """The body, unless it is too long."""
    body = b""
    while part := response.read1(65536):
        body += part
        if len(body) > _MOST_BYTES or time.monotonic() > end:
            raise TimeoutError("the response does not end")
    return body


def _refusal(response, body):
    """The error in a problem+json; only the status if the body is something else."""
    try:
        problem = json.loads(body)
        code, detail = problem["code"], problem["detail"]
    except (ValueError, KeyError, TypeError):
        code, detail = None, response.reason
    seconds = response.headers.get("Retry-After", "")
    retry_after = float(seconds) if seconds.isdigit() else 0.0
    is_final = 400 <= response.status < 500 and response.status not in (408, 429)
    return FlakeForgeError(f"{response.status} {code or ''}: {detail}", response.status, code, retry_after, is_final)


class FlakeForgeIds:
    """One client for all threads of a process.

    prefetch: how many IDs a refill fetches; it starts when half are used. validity: how many seconds they are used.
    timeout: seconds for one request. wait: how many seconds a call keeps asking all servers while none responds.
    context: an ssl.SSLContext, for a private CA and a client certificate.
    """

    def __init__(
        self, urls, name="default", *, token=None, prefetch=100, validity=600.0, timeout=2.0, wait=10.0, context=None
    ):
        self._urls = list(urls)
        self._name, self._token, self._timeout, self._wait, self._context = name, token, timeout, wait, context
        self._prefetch, self._validity = prefetch, validity
        self._current = random.choice(self._urls)  # so that clients spread over the servers
        self._move_at = time.monotonic() + random.uniform(*_STAY)
        self._known = None  # the _Origin of the last response
        self._left = []  # groups that were replaced by another one
        self._lasts = collections.OrderedDict()  # the last ID of each group and slot
        self._recent = collections.OrderedDict()  # the most recent IDs, as keys
        self._reset()
        _clients.add(self)

    def _reset(self):
        self._lock = threading.Lock()
        self._ids = collections.deque()  # (ID, time until which it may be used)
        self._refill = None

    def next(self):
        """One ID. Waits only if none is left."""
        while True:
            with self._lock:
                while self._ids and self._ids[0][1] < time.monotonic():
                    self._ids.popleft()
                if len(self._ids) <= self._prefetch // 2 and self._refill is None:
                    self._refill = concurrent.futures.Future()
                    # A daemon, so that it does not keep the process alive.
                    threading.Thread(target=self._fetch_more, args=(self._refill,), name="flakeforge", daemon=True).start()
                if self._ids:
                    return self._ids.popleft()[0]
                refill = self._refill
            refill.result()  # waits, and raises the error of the refill

    def _fetch_more(self, refill):
        ids, group, failure = [], 0, None
        try:
            ids, group = self._fetch(self._prefetch)
        except BaseException as error:  # pylint: disable=broad-except # waiting threads have to get the error
            failure = error
        with self._lock:
            if group == len(self._left):
                until = time.monotonic() + self._validity
                self._ids.extend((each, until) for each in ids)
            self._refill = None
        if failure is None:
            refill.set_result(None)
        else:
            refill.set_exception(failure)

    def fetch(self, n):
        """n new IDs (1 to 10 000), with one request to the first server that responds."""
        return self._fetch(n)[0]

    def _fetch(self, n):
        """The same, with the position of their group in the sequence of groups."""
        give_up = time.monotonic() + self._wait
        pause = 0.1
        while True:
            failures = {}
            for url in self._in_turn():
                try:
                    return self._take(url, n)
                except (FlakeForgeError, OSError, http.client.HTTPException) as error:
                    if getattr(error, "is_final", False):
                        raise
                    failures[url] = error
            asked = min(getattr(error, "retry_after", 0.0) for error in failures.values())
            if time.monotonic() + max(pause, asked) > give_up:
                causes = "; ".join(f"{url}: {error}" for url, error in failures.items())
                codes = [getattr(error, "code", None) for error in failures.values()]
                code = next((each for each in (_MISMATCH, _REPLAY) if each in codes), None)
                raise FlakeForgeError(f"{code or ''} no server gave IDs: {causes}".lstrip(), code=code)
            time.sleep(max(pause, min(asked, _LONGEST_REST)))
            pause = min(pause * 2, 1.0)

    def _in_turn(self):
        """All servers: first the current one, then the others in random order. Sometimes the current one changes."""
        with self._lock:
            others = random.sample(self._urls, len(self._urls))
            if time.monotonic() > self._move_at:
                self._current = others[0]
                self._move_at = time.monotonic() + random.uniform(*_STAY)
            others.remove(self._current)
            return [self._current, *others]

    def _take(self, url, n):
        """IDs from this server, if they are new and from the same group as earlier ones."""
        group = len(self._left)
        answer = self._ask(url, n)
        origin = answer.origin
        with self._lock:
            if self._fits(origin):
                return self._new(answer), len(self._left)
            known = self._known
        may_follow = self._may_follow(origin, known)
        shown = self._ask_all() if may_follow else []
        with self._lock:
            if self._fits(origin):
                return self._new(answer), len(self._left)
            if group != len(self._left):
                raise FlakeForgeError(f"{url} was asked before its group was recreated")
            if not may_follow or any(each[1:] != origin[1:] for each in shown):
                raise _mismatch(self._name, origin, known, True)
            if all(each.url != known.url for each in shown):
                raise _mismatch(self._name, origin, known, False)
            self._left.append(known.group)
            self._ids.clear()
            self._known = origin
            return self._new(answer), len(self._left)

    def _new(self, answer):
        """The response's IDs, if all are new. Those of one slot come after all IDs known at the time of the request.
        Responses to concurrent requests may arrive in any order, so their IDs are compared one by one."""
        ids, slot = answer.ids, answer.slot
        last = answer.lasts.get(slot, -1)
        if slot is not None and ids[0] <= last:
            raise _replay(f"the ID {ids[0]} is not after {last}, the last ID of its slot")
        old = next((each for each in ids if each in self._recent), None)
        if old is not None:
            raise _replay(f"the ID {old} was sent before")
        self._recent.update(dict.fromkeys(ids))
        while len(self._recent) > _MOST_IDS:
            self._recent.popitem(last=False)
        if slot is not None:
            self._lasts[slot] = max(ids[-1], self._lasts.pop(slot, -1))
            if len(self._lasts) > _MOST_SLOTS:
                self._lasts.popitem(last=False)
        return ids

    def _fits(self, origin):
        """Whether IDs of this origin may follow the earlier ones; if so, they are now the last ones."""
        if self._known is not None and self._known[1:] != origin[1:]:
            return False
        self._known = origin
        self._current = origin.url
        return True

    def _may_follow(self, origin, known):
        """Whether it may be the same group, recreated on an emptied store."""
        return origin.layout == known.layout and origin.group != "" and origin.group not in self._left

    def _ask(self, url, n):
        with self._lock:
            lasts = dict(self._lasts)
        headers, body = post(url, self._name, n, self._token, self._timeout, context=self._context)
        if len(body) != 8 * n:
            raise FlakeForgeError(f"expected {n} IDs, {8 * n} bytes, but got {len(body)} bytes")
        origin = _Origin(url, headers.get("flakeforge-layout", ""), headers.get("flakeforge-group", ""))
        ids = list(struct.unpack(f">{n}Q", body))
        is_ordered = headers.get("flakeforge-order") != "none"
        if len(set(ids)) != n or (is_ordered and ids != sorted(ids)):
            raise FlakeForgeError(f"{n} IDs that {'do not ascend' if is_ordered else 'are not all different'}")
        slot = headers.get("flakeforge-slot")
        has_order = is_ordered and slot is not None and origin.group != ""
        return _Answer(origin, f"{origin.group} {slot}" if has_order else None, ids, lasts)

    def _ask_all(self):
        """The origins of all servers that return an ID."""
        shown = []
        for url in self._urls:
            try:
                shown.append(self._ask(url, 1).origin)
            except (FlakeForgeError, OSError, http.client.HTTPException):
                pass
        return shown


def _replay(what):
    """A replayed response: its IDs were used before."""
    return FlakeForgeError(f"{_REPLAY} {what}: {_NO_CACHE}", code=_REPLAY)


def _mismatch(name, origin, known, is_final):
    """IDs of two groups or layouts could be equal, so the second group's are not used."""
    return FlakeForgeError(
        f"{_MISMATCH} {origin.url}: {name!r} is layout {origin.layout!r}, group {origin.group!r}; "
        f"{known.url}, which gave the last IDs, has layout {known.layout!r}, group {known.group!r}"
        + ("" if is_final else " and does not answer"),
        code=_MISMATCH,
        is_final=is_final,
    )


_clients = weakref.WeakSet()


def _after_fork():
    """A forked child (multiprocessing, gunicorn) has copies of its parent's IDs, and none of its threads."""
    for client in _clients:
        client._reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
