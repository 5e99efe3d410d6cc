"""Prints IDs of a server, one a line: python3 example.py one|json|bytes|many NAME N URL...

The environment's FLAKEFORGE_TOKEN is the token, where the server wants one. FLAKEFORGE_CA is a file with the CA of an https
server, FLAKEFORGE_CERT and FLAKEFORGE_KEY are those of a client certificate.
"""

import concurrent.futures
import json
import os
import ssl
import sys
import threading

from flakeforge_ids import FlakeForgeIds, post


def tls():
    """What https needs beyond the CAs of this machine; None if nothing."""
    ca, cert, key = (os.environ.get(f"FLAKEFORGE_{each}") for each in ("CA", "CERT", "KEY"))
    if ca is None:
        return None
    context = ssl.create_default_context(cafile=ca)
    if cert is not None:
        context.load_cert_chain(cert, key)
    return context


def as_json(urls, name, n, **how):
    _, body = post(urls[0], name, n, accept="application/json", **how)
    return json.loads(body)["ids"]  # decimal strings: other languages' JSON would round the numbers


def many(urls, name, n, **how):
    """n IDs by four threads, out of one client."""
    ids = FlakeForgeIds(urls, name, **how)
    printing = threading.Lock()

    def work():
        for _ in range(n // 4):
            line = ids.next()
            with printing:
                print(line)

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        for each in [threads.submit(work) for _ in range(4)]:
            each.result()  # raises what the thread raised
    return []


def main(how, name, n, *urls):
    own = {"token": os.environ.get("FLAKEFORGE_TOKEN"), "context": tls()}
    calls = {
        "one": lambda: [FlakeForgeIds(urls, name, **own).next()],
        "bytes": lambda: FlakeForgeIds(urls, name, **own).fetch(int(n)),
        "json": lambda: as_json(urls, name, int(n), **own),
        "many": lambda: many(urls, name, int(n), **own),
    }
    for each in calls[how]():
        print(each)


if __name__ == "__main__":
    main(*sys.argv[1:])
