"""A week of a live site: fifty users with tokens, an operator, failing hosts and kills.

    python -m tests.benchmarks.site_week --days 7 --users 50 --hosts 64 --pace 5000 --kills 2

Users request leases of all kinds, jobs, experiments and reservations, hold, release and cancel their own; the operator
drains and fails hosts, returns them, and changes priorities. The site is killed with SIGKILL on the way. After the week
it runs as fast as it can until all has ended, and is closed. Printed are the use of memory by day, what was accepted,
and how good the predicted starts were. Exit code 1 if an accepted request is missing, an answer was an error of the
server's, or if journal or transcript do not give the same bytes again.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from batsched_py.cli.main import run
from batsched_py.errors import OptionError, SiteError
from batsched_py.site.client import SiteClient
from batsched_py.traces.platform_writer import write_homogeneous
from tests.benchmarks.site_live import all_leases, same_again
from tests.site_process import SiteProcess

DAY = 86_400.0
OPERATOR = "olga"
#: Options of the algorithm.
ALGORITHM = {"policy_preemption": "ar-preempts-everything", "reservations": "on"}
#: Mean simulated seconds between two failures, and between two drains.
FAILURE, DRAIN = DAY / 3, DAY / 2
#: Seconds between two looks at the clock of the site.
LOOK = 0.005


class WeekPlan(Struct, frozen=True):
    """The size of a run: `pace` is in simulated seconds a second, `requests` are those of one user in a day."""

    days: float = 7.0
    users: int = 50
    hosts: int = 64
    pace: float = 5000.0
    requests: float = 7.0
    kills: int = 2
    seed: int = 1


class Week(Struct):
    """The requests of the users and their outcome.

    Attributes:
        leases, experiments, reservations: number of each accepted one, if not deleted -> its user.
        refused: why requests were refused, and how often.
        latencies: wall-clock seconds of each request that changes something.
        restarts: wall-clock seconds of each start after a kill.
        states: of the leases, at the end.
        wrong: what should not be.
    """

    leases: dict[int, str] = field(default_factory=dict)
    experiments: dict[int, str] = field(default_factory=dict)
    reservations: dict[int, str] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)
    restarts: list[float] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def said(words: list[str]) -> str:
    """Run a command in this process; return what it prints."""
    with redirect_stdout(StringIO()) as out:
        assert run(words) == 0
    return out.getvalue()


class WeekDriver:
    """The users of one site, in simulated time."""

    def __init__(self, folder: Path, plan: WeekPlan) -> None:
        self.folder, self.plan, self.week = folder, plan, Week()
        self._chance = random.Random(plan.seed)
        self._names = [f"user{number:02}" for number in range(plan.users)]
        self._tokens: dict[str, str] = {}
        self._out: list[tuple[float, int]] = []
        self.platform = folder / "platform.xml"
        write_homogeneous(self.platform, plan.hosts)
        for number, name in enumerate([OPERATOR, *self._names]):
            self._register(name, "operator" if name == OPERATOR else "user", f"group{number % 5}")
        self._site = self._start(str(plan.pace))

    def _register(self, name: str, role: str, group: str) -> None:
        file = self.folder / "users.json"
        words = ["site", "users", "add", name, "--role", role, "--group", group, "--file", str(file)]
        self._tokens[name] = said(words).split()[-1]

    def _start(self, pace: str) -> SiteProcess:
        words = [word for name, value in ALGORITHM.items() for word in ("-o", f"{name}={value}")]
        options = ["--pace", pace, "--rate", "100000", "--users", str(self.folder / "users.json"), *words]
        began = time.monotonic()
        site = SiteProcess(self.folder, options, ("site", "-p", str(self.platform)), files=1024)
        self._clients = {name: SiteClient(site.url, token, patience=600.0) for name, token in self._tokens.items()}
        self._clients[OPERATOR].get("healthz")
        self.week.restarts.append(time.monotonic() - began)
        return site

    @property
    def operator(self) -> SiteClient:
        """The client of the operator."""
        return self._clients[OPERATOR]

    def now(self) -> float:
        """Return the simulated time."""
        now: float = self.operator.get("api", "clock")["now"]
        return now

    def live(self) -> Week:
        """Let the week pass, and run the site to its end."""
        plan, chance, end = self.plan, self._chance, self.plan.days * DAY
        rate = plan.requests * plan.users / DAY
        kills = [end * number / (plan.kills + 1) for number in range(plan.kills, 0, -1)]
        following, failure, drain, day = 0.0, chance.expovariate(1 / FAILURE), chance.expovariate(1 / DRAIN), 0.0
        while following < end:
            following += chance.expovariate(rate)
            while (now := self.now()) < following:
                time.sleep(LOOK)
            if kills and following > kills[-1]:
                kills.pop()
                self._site.kill()
                self._site = self._start(str(plan.pace))
            if now >= day:
                self._sample(now)
                day += DAY
            if now >= failure:
                failure += chance.expovariate(1 / FAILURE)
                self._take_out("fail", now, 1)
            if now >= drain:
                drain += chance.expovariate(1 / DRAIN)
                self._take_out("drain", now, chance.randint(1, 4))
            self._give_back(now)
            self._ask(chance.choice(self._names))
        self._give_back(float("inf"))
        self._finish()
        return self.week

    def _take_out(self, action: str, now: float, count: int) -> None:
        first = self._chance.randrange(self.plan.hosts - count)
        for host in range(first, first + count):
            self._try(lambda host=host: self.operator.post("api", "hosts", action, body={"hosts": str(host)}))
            self._out.append((now + self._chance.expovariate(1 / 7200), host))

    def _give_back(self, now: float) -> None:
        for until, host in [one for one in self._out if one[0] <= now]:
            self._out.remove((until, host))
            if host not in {left for _, left in self._out}:
                self._try(lambda host=host: self.operator.post("api", "hosts", "return", body={"hosts": str(host)}))

    def _try(self, request: Any) -> Any:
        """Return the answer to a request that changes something; None if it is refused."""
        began = time.perf_counter()
        try:
            return request()
        except SiteError as error:
            self.week.refused[re.sub(r"\d+", "N", str(error))] += 1
            return None
        finally:
            self.week.latencies.append(time.perf_counter() - began)

    def _ask(self, user: str) -> None:
        """Make one request of a user."""
        client, draw, week, body = self._clients[user], self._chance.random(), self.week, self._lease()
        if draw < 0.6:
            self._note(week.leases, user, lambda: client.post("api", "leases", body=body))
        elif draw < 0.65:
            body = {"nodes": self._chance.randint(1, 8), "walltime": self._chance.randint(600, 14_400)}
            self._note(week.leases, user, lambda: client.post("api", "jobs", body=body))
        elif draw < 0.72:
            body = self._experiment()
            self._note(week.experiments, user, lambda: client.post("managed_experiments", body=body))
        elif draw < 0.76:
            body = self._experiment() | {"start": int(self.now()) + self._chance.randint(600, 40_000)}
            self._note(week.reservations, user, lambda: client.post("reservations", body=body))
        elif draw < 0.9:
            self._change(user)
        else:
            client.get("api", self._chance.choice(["leases", "queue", "hosts", "caller"]))

    def _lease(self) -> dict[str, Any]:
        chance = self._chance
        body: dict[str, Any] = {"nodes": 2 ** chance.randint(0, 3), "duration": chance.randint(600, 10_800)}
        kind = chance.random()
        if kind < 0.25:
            body["start"] = f"+{chance.randint(600, 86_400)}"
        elif kind < 0.35:
            body["deadline"] = f"+{body['duration'] * chance.randint(2, 6)}"
        else:
            body["preemptible"] = True
        return body

    def _experiment(self) -> dict[str, Any]:
        number = self._chance.randint(1, 4)
        compute = {"name": "vm", "min": number, "locations": ["here"]}
        return {"name": "exp", "duration": self._chance.randint(10, 300), "resources": [{"compute": compute}]}

    def _note(self, accepted: dict[int, str], user: str, request: Any) -> None:
        answer = self._try(request)
        if answer is not None:
            number = answer.get("number") or int(str(answer["id"]).rsplit("/", 1)[-1])
            accepted[number] = user

    def _change(self, user: str) -> None:
        """Cancel, hold or release an own lease, or delete an experiment; or let the operator change a priority."""
        chance, week, client = self._chance, self.week, self._clients[user]
        own = [number for number, owner in list(week.leases.items())[-200:] if owner == user]
        deployed = [number for number, owner in list(week.experiments.items())[-50:] if owner == user]
        draw = chance.random()
        if draw < 0.3 and own:
            self._try(lambda: client.delete("api", "leases", chance.choice(own)))
        elif draw < 0.5 and own:
            self._try(lambda: client.post("api", "leases", chance.choice(own), "hold", body={}))
        elif draw < 0.7 and own:
            self._try(lambda: client.post("api", "leases", chance.choice(own), "release", body={}))
        elif draw < 0.85 and deployed:
            self._delete(user, "managed_experiments", number := chance.choice(deployed))
            del week.experiments[number]
        elif own:
            body = {"priority": chance.randint(-5, 5)}
            self._try(lambda: self.operator.put("api", "leases", chance.choice(own), "priority", body=body))

    def _sample(self, now: float) -> None:
        """Print the memory of the site."""
        print(f"  day {now / DAY:4.1f}: {self._memory():6.1f} MB, {len(self.week.leases)} leases so far", flush=True)

    def _memory(self) -> float:
        text = Path(f"/proc/{self._site.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", text)
        if found is None:
            raise OptionError("the memory of the site is unknown on this system")
        return int(found[1]) / 1024

    def _finish(self) -> None:
        """Let all that was accepted end, compare it with what the site has, and close the site."""
        week, operator = self.week, self.operator
        self._sample(self.now())
        for number, user in week.experiments.items():
            self._delete(user, "managed_experiments", number)
        for number, user in week.reservations.items():
            self._delete(user, "reservations", number)
        for one in all_leases(operator):
            if one.get("held"):
                self._try(lambda number=one["number"]: operator.post("api", "leases", number, "release", body={}))
        operator.put("api", "clock", body={"pace": "max"})
        while operator.get("api", "leases", limit=1):
            time.sleep(LOOK)
        there = {one["number"]: one for one in all_leases(operator)}
        week.states.update(one["state"] for one in there.values())
        lost = [number for number, user in week.leases.items() if there.get(number, {}).get("user") != user]
        if lost:
            week.wrong.append(f"leases that are lost: {lost}")
        operator.post("api", "close", body={})
        if self._site.process.wait():
            week.wrong.append("the site ended with an error")
        self._site.process.communicate()

    def _delete(self, user: str, kind: str, number: int) -> None:
        """Delete an experiment or a reservation, which must exist."""
        began = time.perf_counter()
        try:
            self._clients[user].delete(kind, number)
        except SiteError as error:
            self.week.wrong.append(f"{kind} {number} of {user}: {error}")
        self.week.latencies.append(time.perf_counter() - began)


def predictions(folder: Path) -> dict[str, Any]:
    """Write the results of a site, and return the metrics of its predicted starts."""
    prefix = folder / "out" / "week"
    prefix.parent.mkdir()
    said(["site", "results", str(folder / "site"), "-e", str(prefix)])
    figures = json.loads(said(["metrics", str(prefix), "--format", "json"]))["runs"][0]["figures"]
    return {name: value for name, value in figures.items() if name.startswith("prediction") and value is not None}


def main() -> int:
    """Run it as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in WeekPlan.__struct_fields__:
        value = getattr(WeekPlan(), name)
        parser.add_argument(f"--{name}", type=type(value), default=value)
    plan = WeekPlan(**vars(parser.parse_args()))
    with tempfile.TemporaryDirectory() as name:
        folder, began = Path(name), time.monotonic()
        driver = WeekDriver(folder, plan)
        week = driver.live()
        print(f"{plan.days:g} days in {time.monotonic() - began:.0f} s, {plan.users} users, {plan.hosts} hosts")
        print(f"accepted: {len(week.leases)} leases, {len(week.experiments)} experiments,", end=" ")
        print(f"{len(week.reservations)} reservations; leases at the end: {dict(sorted(week.states.items()))}")
        for why, count in week.refused.most_common():
            print(f"  refused {count} times: {why}")
        ordered = sorted(week.latencies)
        median, most = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
        print(f"changes: median {1e3 * median:.1f} ms, 99 % {1e3 * most:.1f} ms")
        print(f"starts: {', '.join(f'{one:.1f} s' for one in week.restarts)}")
        wrong = week.wrong + same_again(folder, driver.platform, ALGORITHM)
        print(f"predicted starts: {predictions(folder)}")
    print("\n".join(wrong) if wrong else "played again and replayed: the same, byte for byte")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
