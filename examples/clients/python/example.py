"""Prints IDs of a server, one a line: python3 example.py one|json|bytes|many NAME N URL...

The environment's FLAKEFORGE_TOKEN is the token, where the server wants one.
"""

import concurrent.futures
import json
import os
import sys
import threading

from flakeforge_ids import FlakeForgeIds, post


def as_json(urls, name, n, token):
    _, body = post(urls[0], name, n, token, accept="application/json")
    return json.loads(body)["ids"]  # decimal strings: other languages' JSON would round the numbers


def many(urls, name, n, token):
    """n IDs by four threads, out of one client."""
    ids = FlakeForgeIds(urls, name, token=token)
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
    token = os.environ.get("FLAKEFORGE_TOKEN")
    calls = {
        "one": lambda: [FlakeForgeIds(urls, name, token=token).next()],
        "bytes": lambda: FlakeForgeIds(urls, name, token=token).fetch(int(n)),
        "json": lambda: as_json(urls, name, int(n), token),
        "many": lambda: many(urls, name, int(n), token),
    }
    for each in calls[how]():
        print(each)


if __name__ == "__main__":
    main(*sys.argv[1:])
