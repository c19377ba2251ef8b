"""A live site for ten minutes: requests come while time passes, it is killed in the middle, and nothing is different.

    python -m tests.benchmarks.site_live --seconds 600 --pace 60 --requests 500 --kills 1

The site is killed with SIGKILL and started again; when all requests were made it runs as fast as it can, until all
leases have ended. Then its transcript is replayed, and its journal is played again in another folder, from the
beginning to the end: exit code 1 unless both make the same transcript, byte for byte.
"""

from __future__ import annotations

import argparse
import math
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from batsched_py.cli.commands.site import DEFAULT
from batsched_py.cli.main import run
from batsched_py.errors import SiteError
from batsched_py.model.settings import Settings
from batsched_py.runs.choice import Choice
from batsched_py.site.client import SiteClient
from batsched_py.site.simulated import SimulatedSite
from batsched_py.site.site import JOURNAL, TRANSCRIPT, SiteSettings
from batsched_py.traces.simgrid_xml import read_platform
from tests.clone import ROOT
from tests.site_process import SiteProcess

PLATFORM = ROOT / "platforms" / "tiny4.xml"

ALGORITHM = {"policy_preemption": "ar-preempts-everything", "migration": "yes"}
OPTIONS = tuple(word for name, value in ALGORITHM.items() for word in ("-o", f"{name}={value}"))
#: Seconds between two looks whether all has ended.
LOOK = 0.05
USERS = ("ann", "bob", "cid")


class Played(Struct):
    """The outcome of a live run.

    Attributes:
        leases: as the site showed them at the end.
        refused: requests that it refused: leases that had ended cannot be cancelled.
    """

    leases: list[dict[str, Any]]
    refused: int = 0

    @property
    def states(self) -> dict[int, str]:
        """Number of a lease -> its state."""
        return {one["number"]: one["state"] for one in self.leases}


def play(folder: Path, *, requests: int, seconds: float, pace: float, kills: int, seed: int) -> Played:
    """Let a site live: ask so often in so many seconds, and kill it in between."""
    chance, mine = random.Random(seed), dict[int, str]()
    options = ("--pace", str(pace), "--rate", "100000", *OPTIONS)
    site, began = SiteProcess(folder, options), time.monotonic()
    deaths = {requests * kill // (kills + 1) for kill in range(1, kills + 1)}
    refused = 0
    for number in range(requests):
        if number in deaths:
            site.kill()
            site = SiteProcess(folder, options)
        time.sleep(max(0.0, began + seconds * number / requests - time.monotonic()))
        try:
            ask(site, chance, mine)
        except SiteError:
            refused += 1
    operator = site.client()
    operator.put("api", "clock", body={"pace": "max"})
    while any(site.client(user).get("api", "leases", limit=1) for user in USERS):
        time.sleep(LOOK)
    played = Played([one for user in USERS for one in all_leases(site.client(user))], refused)
    operator.post("api", "close", body={})
    assert site.process.wait() == 0
    site.process.communicate()
    assert sorted(played.states) == sorted(mine)
    return played


def ask(site: SiteProcess, chance: random.Random, mine: dict[int, str]) -> None:
    """Hand in a lease, take one back, or look at all."""
    user, draw = chance.choice(USERS), chance.random()
    client = site.client(user)
    if draw < 0.7:
        body: dict[str, Any] = {"nodes": chance.randint(1, 4), "duration": chance.randint(60, 1800)}
        if chance.random() < 0.3:
            body["start"] = f"+{chance.randint(120, 3600)}"
        else:
            body["preemptible"] = True
        mine[client.post("api", "leases", body=body)["number"]] = user
    elif draw < 0.8 and mine:
        number = chance.choice(sorted(mine))
        site.client(mine[number]).delete("api", "leases", number)
    else:
        client.get("api", chance.choice(["leases", "queue", "schedule", "hosts"]))


def all_leases(client: SiteClient) -> list[dict[str, Any]]:
    """Return all leases of a user, page by page."""
    found = list[dict[str, Any]]()
    while page := client.get("api", "leases", finished="true", after=found[-1]["number"] if found else 0):
        found += page
    return found


def same_again(folder: Path, platform: Path = PLATFORM, options: Mapping[str, str] = ALGORITHM) -> list[str]:
    """Play the journal of a site once more, elsewhere, and replay its transcript; return what is different."""
    transcript, other = folder / "site" / TRANSCRIPT, folder / "again"
    other.mkdir()
    shutil.copy(folder / "site" / JOURNAL, other)
    settings = SiteSettings(name=platform.name, choice=Choice(DEFAULT, options), folder=other, pace=math.inf)
    site = SimulatedSite(settings, read_platform(platform), platform.read_bytes(), Settings())
    site.start()
    site.join()
    wrong = [] if site.failure is None else [f"the journal ends by {site.failure}"]
    if (other / TRANSCRIPT).read_bytes() != transcript.read_bytes():
        wrong.append("the journal makes another transcript")
    if run(["replay", str(transcript)]) != 0:
        wrong.append("the transcript does not replay")
    return wrong


def main() -> int:
    """Run it as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--pace", type=float, default=60.0)
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, began = Path(name), time.monotonic()
        played = play(
            folder, requests=given.requests, seconds=given.seconds, pace=given.pace, kills=given.kills, seed=given.seed
        )
        lived = time.monotonic() - began
        wrong = same_again(folder)
        size = (folder / "site" / TRANSCRIPT).stat().st_size
    print(f"{given.requests} requests in {lived:.0f} s at pace {given.pace:g}, {given.kills} kills")
    print(f"leases: {dict(sorted(Counter(played.states.values()).items()))}; {played.refused} requests refused")
    print(f"suspensions: {sum(one.get('suspensions', 0) for one in played.leases)}; transcript: {size} bytes")
    print("\n".join(wrong) if wrong else "played again and replayed: the same, byte for byte")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
