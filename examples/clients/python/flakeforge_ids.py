"""IDs of a flakeforge-server, with the standard library only (Python 3.9 or newer). Copy this file.

    ids = FlakeForgeIds(["http://ids-1:8080", "http://ids-2:8080"], "orders")
    ids.next()      # an int; out of what was fetched before, in most cases
    ids.fetch(500)  # a list, by one request

It stays with one server, and goes on to the next one after a network error or a 503. An answer that was lost costs
numbers, never uniqueness. It must never give a number twice: neither to two threads, nor to a parent and the child that
it forked, nor from servers whose layouts differ.
"""

import collections
import concurrent.futures
import http.client
import json
import os
import random
import struct
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import weakref


class FlakeForgeError(Exception):
    """What a server refused, or why none answered. `code` is the server's, such as ERR_FLAKE_NAME; `status` is HTTP's."""

    def __init__(self, message, status=None, code=None, retry_after=0.0):
        super().__init__(message)
        self.status = status
        self.code = code
        self.retry_after = retry_after  # seconds


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: urllib would take the token along."""

    def redirect_request(self, *_):
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def post(url, name, n=1, token=None, timeout=2.0, accept="application/octet-stream"):
    """One request to one server: its headers and its body. Raises FlakeForgeError, or OSError for the network's."""
    path = f"/v1/ids/{urllib.parse.quote(name, safe='')}?n={n}"
    headers = {"Accept": accept}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(url.rstrip("/") + path, method="POST", headers=headers)
    try:
        with _opener.open(request, timeout=timeout) as response:
            return response.headers, response.read()
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(error) from None


def _refusal(response):
    """The error that a problem+json says; or only the status, where something else answered."""
    try:
        problem = json.loads(response.read())
        code, detail = problem["code"], problem["detail"]
    except (ValueError, KeyError, TypeError):
        code, detail = None, response.reason
    seconds = response.headers.get("Retry-After", "")
    retry_after = float(seconds) if seconds.isdigit() else 0.0
    return FlakeForgeError(f"{response.status} {code or ''}: {detail}", response.status, code, retry_after)


def _is_final(error):
    """Whether no other server, and no other time, can help: the request itself is wrong."""
    status = getattr(error, "status", None) or 0
    return 400 <= status < 500 and status not in (408, 429)


class FlakeForgeIds:
    """A client for all threads of a process.

    prefetch: how many IDs a refill fetches; it starts when half are used. validity: for how many seconds they are used.
    timeout: seconds for each wait on the network. wait: for how many seconds a call goes round the servers while none
    can answer.
    """

    def __init__(self, urls, name="default", *, token=None, prefetch=100, validity=600.0, timeout=2.0, wait=10.0):
        self._urls = collections.deque(urls)
        self._urls.rotate(random.randrange(len(self._urls)))  # so that clients spread over the servers
        self._name, self._token, self._timeout, self._wait = name, token, timeout, wait
        self._prefetch, self._validity = prefetch, validity
        self._layout = None
        self._start_anew()
        _clients.add(self)

    def _start_anew(self):
        self._lock = threading.Lock()
        self._ids = collections.deque()  # (ID, until when it may be used)
        self._refill = None
        self._worker = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="flakeforge")

    def next(self):
        """One ID. Waits only where nothing is left."""
        while True:
            with self._lock:
                while self._ids and self._ids[0][1] < time.monotonic():
                    self._ids.popleft()
                if len(self._ids) <= self._prefetch // 2 and self._refill is None:
                    self._refill = self._worker.submit(self._fetch_more)
                if self._ids:
                    return self._ids.popleft()[0]
                refill = self._refill
            refill.result()  # waits, and raises what the refill raised

    def _fetch_more(self):
        ids = []
        try:
            ids = self.fetch(self._prefetch)
        finally:
            with self._lock:
                until = time.monotonic() + self._validity
                self._ids.extend((each, until) for each in ids)
                self._refill = None

    def fetch(self, n):
        """n new IDs (1 to 10 000) in ascending order, by one request to the first server that answers."""
        give_up = time.monotonic() + self._wait
        while True:
            failures = {}
            for url in list(self._urls):
                try:
                    return self._ask(url, n)
                except (FlakeForgeError, OSError, http.client.HTTPException) as error:
                    if _is_final(error):
                        raise
                    failures[url] = error
                    if self._urls[0] == url:
                        self._urls.rotate(-1)
            pause = max([0.1] + [getattr(error, "retry_after", 0.0) for error in failures.values()])
            if time.monotonic() + pause > give_up:
                causes = "; ".join(f"{url}: {error}" for url, error in failures.items())
                raise FlakeForgeError(f"no server gave IDs: {causes}")
            time.sleep(pause)

    def _ask(self, url, n):
        headers, body = post(url, self._name, n, self._token, self._timeout)
        if headers.get_content_type() != "application/octet-stream" or len(body) != 8 * n:
            raise FlakeForgeError(f"not {n} IDs but {len(body)} bytes of {headers.get_content_type()}")
        layout = headers.get("flakeforge-layout", "")  # none for a segment
        with self._lock:
            if self._layout is None:
                self._layout = layout
            elif self._layout != layout:
                raise FlakeForgeError(f"its layout is {layout!r}, the others' is {self._layout!r}")
        return list(struct.unpack(f">{n}Q", body))

    def close(self):
        self._worker.shutdown(wait=False)


_clients = weakref.WeakSet()


def _after_fork():
    """A child that was forked (multiprocessing, gunicorn) has copies of its parent's IDs, and none of its threads."""
    for client in _clients:
        client._start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
