"""IDs of a flakeforge-server, with the standard library only (Python 3.9 or newer). Copy this file.

    ids = FlakeForgeIds(["http://ids-1:8080", "http://ids-2:8080"], "orders")
    ids.next()      # an int; out of what was fetched before, in most cases
    ids.fetch(500)  # a list, by one request

It stays with one server for a minute or three, and goes on to another one after a network error or a 503, by chance. An answer
that was lost costs numbers, never uniqueness. No number comes twice: neither to two threads, nor to a parent and the child that
it forked, nor from servers whose layouts or groups differ, nor from a cache that repeats an answer.
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
_MOST_BYTES = 2**20  # the largest answer, 10 000 IDs in decimal, has a quarter of it
_STAY = (60, 180)  # seconds with a server, by chance: after a restart of all, each has clients again
_LONGEST_REST = 30  # seconds: what a server waits for may be over sooner than it said
_MISMATCH = "ERR_FLAKE_CONFIG_MISMATCH"
_REPLAY = "ERR_FLAKE_REPLAY"
_NO_CACHE = "configure every proxy and cache on the way not to cache POST, and to pass on the header flakeforge-nonce"
_MOST_SLOTS = 1000  # whose last ID is remembered
_MOST_IDS = 65536  # the most recent ones, remembered each


class FlakeForgeError(Exception):
    """What a server refused, or why none answered. `code` is the server's, such as ERR_FLAKE_NAME; `status` is HTTP's."""

    def __init__(self, message, status=None, code=None, retry_after=0.0, is_final=False):
        super().__init__(message)
        self.status = status
        self.code = code
        self.retry_after = retry_after  # seconds
        self.is_final = is_final  # no other server, and no other time, can help


# What a server says of its IDs: their layout, "" for a segment, and random digits of their group.
_Origin = collections.namedtuple("_Origin", "url layout group")

# `slot`: what ascends from answer to answer; None where nothing does. `lasts`: what was known when it was asked for.
_Answer = collections.namedtuple("_Answer", "origin slot ids lasts")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: urllib would take the token along."""

    def redirect_request(self, *_):
        return None


def _opener(context):
    return urllib.request.build_opener(_NoRedirect, urllib.request.HTTPSHandler(context=context))


def post(url, name, n=1, token=None, timeout=2.0, accept=_BATCH, *, context=None):
    """One request to one server: its headers and its body. Raises FlakeForgeError, or OSError for the network's.

    urllib's timeout is that of each wait, so a server could make a request last for hours. This one is for all of it: the
    request runs in a separate thread, and an answer that comes later is not used. An answer to another request is refused.
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
        raise TimeoutError(f"no whole answer within {timeout} s") from None
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
                raise FlakeForgeError(f"answered {response.status} with {media}, which is not {accept}")
            if response.headers.get("flakeforge-nonce") != nonce:
                raise _replay("an answer without the nonce of this request may be a copy of an earlier one")
            return response.headers, _read(response, end)
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(error, _read(error, end)) from None


def _read(response, end):
    """The body, unless it has no end."""
    body = b""
    while part := response.read1(65536):
        body += part
        if len(body) > _MOST_BYTES or time.monotonic() > end:
            raise TimeoutError("the answer does not end")
    return body


def _refusal(response, body):
    """The error that a problem+json says; or only the status, where something else answered."""
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
    """A client for all threads of a process.

    prefetch: how many IDs a refill fetches; it starts when half are used. validity: for how many seconds they are used.
    timeout: seconds for one request. wait: for how many seconds a call goes round the servers while none can answer.
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
        self._known = None  # the _Origin of the last answer
        self._left = []  # groups that were followed by another one
        self._lasts = collections.OrderedDict()  # the last ID of each group and slot
        self._recent = collections.OrderedDict()  # the IDs that came last, as its keys
        self._start_anew()
        _clients.add(self)

    def _start_anew(self):
        self._lock = threading.Lock()
        self._ids = collections.deque()  # (ID, until when it may be used)
        self._refill = None

    def next(self):
        """One ID. Waits only where nothing is left."""
        while True:
            with self._lock:
                while self._ids and self._ids[0][1] < time.monotonic():
                    self._ids.popleft()
                if len(self._ids) <= self._prefetch // 2 and self._refill is None:
                    self._refill = concurrent.futures.Future()
                    # A daemon: the end of the process does not wait for it.
                    threading.Thread(target=self._fetch_more, args=(self._refill,), name="flakeforge", daemon=True).start()
                if self._ids:
                    return self._ids.popleft()[0]
                refill = self._refill
            refill.result()  # waits, and raises what the refill raised

    def _fetch_more(self, refill):
        ids, group, failure = [], 0, None
        try:
            ids, group = self._fetch(self._prefetch)
        except BaseException as error:  # pylint: disable=broad-except # those who wait must hear of it
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
        """n new IDs (1 to 10 000), by one request to the first server that answers."""
        return self._fetch(n)[0]

    def _fetch(self, n):
        """The same, and of the how manieth group they are."""
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
        """All servers: the one in use, and then the others by chance. Now and then another one is first."""
        with self._lock:
            others = random.sample(self._urls, len(self._urls))
            if time.monotonic() > self._move_at:
                self._current = others[0]
                self._move_at = time.monotonic() + random.uniform(*_STAY)
            others.remove(self._current)
            return [self._current, *others]

    def _take(self, url, n):
        """IDs of this server, if they are of the same group as those before, and new."""
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
                raise FlakeForgeError(f"{url} was asked before its group was made again")
            if not may_follow or any(each[1:] != origin[1:] for each in shown):
                raise _mismatch(self._name, origin, known, True)
            if all(each.url != known.url for each in shown):
                raise _mismatch(self._name, origin, known, False)
            self._left.append(known.group)
            self._ids.clear()
            self._known = origin
            return self._new(answer), len(self._left)

    def _new(self, answer):
        """Its IDs, if none was here before. Those of one slot come after all that were here when they were asked for. Of
        requests that were under way at once the answers may come in any order: their IDs are compared one by one."""
        ids, slot = answer.ids, answer.slot
        last = answer.lasts.get(slot, -1)
        if slot is not None and ids[0] <= last:
            raise _replay(f"the ID {ids[0]} is not after {last}, the last one of its slot")
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
        """Whether IDs of this origin may follow those before; then they are the last ones."""
        if self._known is not None and self._known[1:] != origin[1:]:
            return False
        self._known = origin
        self._current = origin.url
        return True

    def _may_follow(self, origin, known):
        """Whether it may be the same group, made again on an emptied store."""
        return origin.layout == known.layout and origin.group != "" and origin.group not in self._left

    def _ask(self, url, n):
        with self._lock:
            lasts = dict(self._lasts)
        headers, body = post(url, self._name, n, self._token, self._timeout, context=self._context)
        if len(body) != 8 * n:
            raise FlakeForgeError(f"not {n} IDs, which are {8 * n} bytes, but {len(body)} bytes")
        origin = _Origin(url, headers.get("flakeforge-layout", ""), headers.get("flakeforge-group", ""))
        ids = list(struct.unpack(f">{n}Q", body))
        is_ordered = headers.get("flakeforge-order") != "none"
        if len(set(ids)) != n or (is_ordered and ids != sorted(ids)):
            raise FlakeForgeError(f"{n} IDs that {'do not ascend' if is_ordered else 'are not all different'}")
        slot = headers.get("flakeforge-slot")
        has_order = is_ordered and slot is not None and origin.group != ""
        return _Answer(origin, f"{origin.group} {slot}" if has_order else None, ids, lasts)

    def _ask_all(self):
        """The origins of all servers that give an ID."""
        shown = []
        for url in self._urls:
            try:
                shown.append(self._ask(url, 1).origin)
            except (FlakeForgeError, OSError, http.client.HTTPException):
                pass
        return shown


def _replay(what):
    """An answer that came twice: its IDs were used before."""
    return FlakeForgeError(f"{_REPLAY} {what}: {_NO_CACHE}", code=_REPLAY)


def _mismatch(name, origin, known, is_final):
    """IDs of two groups or layouts could be equal, so those of the second are not used."""
    return FlakeForgeError(
        f"{_MISMATCH} {origin.url}: {name!r} is layout {origin.layout!r}, group {origin.group!r}; "
        f"{known.url}, which gave the last IDs, has layout {known.layout!r}, group {known.group!r}"
        + ("" if is_final else " and does not answer"),
        code=_MISMATCH,
        is_final=is_final,
    )


_clients = weakref.WeakSet()


def _after_fork():
    """A child that was forked (multiprocessing, gunicorn) has copies of its parent's IDs, and none of its threads."""
    for client in _clients:
        client._start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
