"""Prints IDs from a server, one per line: python3 example.py one|json|bytes|many NAME N URL...

The variable FLAKEFORGE_TOKEN is the token, if the server requires one. FLAKEFORGE_CA is a file with the CA of an https
server; FLAKEFORGE_CERT and FLAKEFORGE_KEY name a client certificate.
"""

import concurrent.futures
import json
import os
import ssl
import sys
import threading

from flakeforge_ids import FlakeForgeIds, post


def tls():
    """The SSL context for a private CA and a client certificate; None if there is no private CA."""
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
    """n IDs taken by four threads from one client."""
    ids = FlakeForgeIds(urls, name, **how)
    printing = threading.Lock()

    def work():
        for _ in range(n // 4):
            line = ids.next()
            with printing:
                print(line)

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        for each in [threads.submit(work) for _ in range(4)]:
            each.result()  # raises the error of the thread
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
