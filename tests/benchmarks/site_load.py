"""Load on a live site: many clients ask at once while it is killed and started again; nothing accepted may be lost.

    python -m tests.benchmarks.site_load --clients 200 --requests 20000 --kills 10

Prints the latencies of reads and writes (median, 99 %), what was accepted, and what is there at the end. Exit code 1 if
something that was accepted is missing, or an answer was an error of the server's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.site_process import SiteProcess

#: Seconds that a client waits before it asks again, when the site is down.
RETRY = 0.1


class Load:
    """The clients of one run, and what they have seen.

    Attributes:
        accepted: numbers of leases, with the users who asked for them.
        latencies: kind of request -> seconds of each answer.
        statuses: how often each status came.
        lost: connections that ended without an answer.
    """

    def __init__(self, clients: int, requests: int) -> None:
        self.clients, self.left = clients, requests
        self.host, self.port = "127.0.0.1", 0
        self.accepted: dict[int, str] = {}
        self.latencies: dict[str, list[float]] = {"read": [], "write": []}
        self.statuses: Counter[int] = Counter()
        self.lost = 0

    async def run(self) -> None:
        """Let all clients ask until all requests were made."""
        await asyncio.gather(*(self._client(number) for number in range(self.clients)))

    async def _client(self, number: int) -> None:
        chance, user, mine = random.Random(number), f"user{number}", list[int]()
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        while self.left > 0:
            self.left -= 1
            method, path, body, kind = self._choose(chance, mine)
            while True:
                try:
                    if streams is None:
                        streams = await asyncio.open_connection(self.host, self.port)
                    began = time.perf_counter()
                    status, answer = await self._exchange(streams, user, method, path, body)
                except (OSError, asyncio.IncompleteReadError, ValueError):
                    self.lost += streams is not None
                    streams = None
                    await asyncio.sleep(RETRY)
                    continue
                if status == 503:  # it starts
                    await asyncio.sleep(10 * RETRY)
                    continue
                break
            self.latencies[kind].append(time.perf_counter() - began)
            self.statuses[status] += 1
            if status == 201:
                mine.append(answer["number"])
                self.accepted[answer["number"]] = user
        if streams is not None:
            streams[1].close()

    @staticmethod
    def _choose(chance: random.Random, mine: list[int]) -> tuple[str, str, bytes, str]:
        """Return method, path, body and kind of the next request."""
        draw = chance.random()
        if draw < 0.25:
            lease: dict[str, Any] = {
                "nodes": chance.randint(1, 4),
                "duration": chance.randint(60, 7200),
                "preemptible": True,
            }
            if chance.random() < 0.2:
                lease["start"] = f"+{chance.randint(600, 86400)}"
            return "POST", "/api/leases", json.dumps(lease).encode(), "write"
        if draw < 0.3 and mine:
            return "DELETE", f"/api/leases/{chance.choice(mine)}", b"", "write"
        if draw < 0.6 and mine:
            return "GET", f"/api/leases/{chance.choice(mine)}", b"", "read"
        return "GET", chance.choice(["/api/leases", "/api/queue", "/api/clock", "/api/hosts"]), b"", "read"

    @staticmethod
    async def _exchange(
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter], user: str, method: str, path: str, body: bytes
    ) -> tuple[int, Any]:
        reader, writer = streams
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Bonfire-Asserted-Id: {user}\r\n"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        writer.write(head.encode() + b"\r\n" + body)
        await writer.drain()
        answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next((int(line[15:]) for line in answer.split("\r\n") if line.startswith("content-length:")), 0)
        content = await reader.readexactly(length)
        return int(answer.split(" ", 2)[1]), json.loads(content) if content else None


async def play(load: Load, folder: Path, kills: int, pace: str) -> SiteProcess:
    """Start the site and let the clients ask; kill it a number of times meanwhile. Return the site of the end."""
    options = ("--pace", pace, "--rate", "1000", "-o", "policy_preemption=ar-preempts-everything")
    site = await asyncio.to_thread(SiteProcess, folder, options)
    load.port = int(urlsplit(site.url).port or 0)
    total, task = load.left, asyncio.create_task(load.run())
    for kill in range(1, kills + 1):
        while load.left > total * (1 - kill / (kills + 1)) and not task.done():
            await asyncio.sleep(0.01)
        site.kill()
        site = await asyncio.to_thread(SiteProcess, folder, options)
        load.port = int(urlsplit(site.url).port or 0)
    await task
    return site


def missing(load: Load, site: SiteProcess) -> list[int]:
    """Return the leases that were accepted and are not there."""
    lost = []
    for user in sorted(set(load.accepted.values())):
        client, there, after = site.client(user), set[int](), 0
        while page := client.get("api", "leases", finished="true", after=after):
            there.update(one["number"] for one in page)
            after = page[-1]["number"]
        lost += [number for number, owner in load.accepted.items() if owner == user and number not in there]
    return lost


def main() -> int:
    """Run it as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--pace", default="600")
    given = parser.parse_args()
    load, began = Load(given.clients, given.requests), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        site = asyncio.run(play(load, Path(folder), given.kills, given.pace))
        lost = missing(load, site)
        told = site.end()
    print(f"{given.requests} requests of {given.clients} clients in {time.perf_counter() - began:.1f} s")
    for kind, seconds in load.latencies.items():
        ordered = sorted(seconds)
        middle, late = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
        print(f"{kind}s: {len(ordered)}, median {middle * 1000:.1f} ms, 99 % within {late * 1000:.1f} ms")
    print(f"statuses: {dict(sorted(load.statuses.items()))}; {load.lost} answers lost by {given.kills} kills")
    print(f"accepted: {len(load.accepted)}; missing: {len(lost)}")
    print(told, end="", file=sys.stderr)
    return 1 if lost or any(status >= 500 for status in load.statuses) else 0


if __name__ == "__main__":
    sys.exit(main())
