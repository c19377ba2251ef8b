"""A site that is killed with SIGKILL while users and an operator change it, and what must be true after each start.

A call that was answered must have its effect, once; one that was refused, none; one without an answer, because the site
was killed meanwhile, one or none. The moment of a kill is the answer to a call whose number is drawn.
"""

from __future__ import annotations

import random
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final

import orjson
from msgspec import Struct, field

from batsched_py.cli.main import run
from batsched_py.site.audit import read_audit
from batsched_py.site.site import JOURNAL, TRANSCRIPT
from batsched_py.site.users import add_user, set_group_quotas, set_user_quotas
from tests.integration.test_site_callers import ask
from tests.site_process import SiteProcess

OPERATOR: Final = "olga"
#: User -> its group; quotas of the users, and of the group.
USERS: Final = {"ann": "red", "bob": "red", "carl": ""}
QUOTAS: Final = {"hosts": 6, "leases": 5, "experiments": 3}
GROUP_QUOTAS: Final = {"hosts": 9, "experiments": 5}
#: Simulated seconds a second; the number of hosts; the most calls that are answered before a kill.
PACE, HOSTS, MOST = 100.0, 4, 40
#: Changes of hosts by the operator -> types of the requests.
CHANGES: Final = {"drain": ("drain_hosts",), "fail": ("machine_unavailable",)}
RETURNS: Final = ("undrain_hosts", "machine_available")
#: Changes of leases -> types of the requests.
CONTROLS: Final = {"hold": "hold_job", "release": "release_job", "priority": "prioritise_job", "": "cancel_job"}


class Call(Struct):
    """A call that changes something.

    Attributes:
        user, method, path, body: the call; `body` is unique among those that request something.
        status: of the answer; None if the site was killed before it answered.
        number: assigned by the site to what was requested.
    """

    user: str
    method: str
    path: str
    body: Any = None
    status: int | None = None
    number: int = 0

    @property
    def accepted(self) -> bool:
        """True if the site answered that it has accepted the call."""
        return self.status is not None and self.status < 300


class Entry(Struct):
    """A request in the journal."""

    number: int
    kind: str
    target: int | None
    user: str
    members: Mapping[str, Any]

    @property
    def marker(self) -> str:
        """A text that only one call requests: the name of an experiment, or the duration of a lease."""
        if "descriptor" in self.members:
            return str(orjson.loads(self.members["descriptor"])["name"])
        return str(self.members["profile"]["delay"]) if self.kind == "submit_job" else ""


class Killed(Struct):
    """Figures of a run: kills, calls by their status ("none" without an answer), and what is wrong."""

    kills: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class KilledSite:
    """A site in a folder, with its users; `seed` determines their calls and the moments of the kills."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self._seed, self._round = folder, seed, 0
        self.killed = Killed()
        self._users = folder / "users.json"
        roles = {OPERATOR: "operator"}
        self._tokens = {
            user: add_user(self._users, user, USERS.get(user, ""), roles.get(user, "user"))  # type: ignore[arg-type]
            for user in (*USERS, OPERATOR)
        }
        for user in USERS:
            set_user_quotas(self._users, user, QUOTAS)
        set_group_quotas(self._users, "red", GROUP_QUOTAS)
        #: All calls in the order of their beginnings; what each user has requested: path -> numbers.
        self._calls: list[Call] = []
        self._made: dict[str, dict[str, list[int]]] = {user: {} for user in self._tokens}
        self._lock, self._answered, self._last, self._marks = threading.Lock(), 0, 0, 0
        self._site = self._start()

    def live(self, kills: int) -> Killed:
        """Kill the site so many times, and check it after each start; then stop it, and replay its transcript."""
        for _ in range(kills):
            self._round += 1
            self._answered, self._last = 0, self._chance("").randint(1, MOST)
            threads = [threading.Thread(target=self._use, args=(user,)) for user in self._tokens]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
            self._site.process.communicate()
            self.killed.kills += 1
            self._site = self._start()
            self._check()
        self._site.end()
        if run(["replay", str(self.folder / "site" / TRANSCRIPT)]):
            self._wrong("the transcript is replayed with other decisions")
        self.killed.statuses.update(str(one.status or "none") for one in self._calls)
        return self.killed

    def _start(self) -> SiteProcess:
        options = ("--pace", f"{PACE:g}", "--rate", "100000", "--users", str(self._users), "-o", "reservations=on")
        site = SiteProcess(self.folder, options, files=1024)  # a process of its own
        site.client().get("healthz")
        return site

    def _chance(self, user: str) -> random.Random:
        return random.Random(f"{self._seed} {self._round} {user}")

    def _ask(self, user: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        return ask(self._site, method, path, [("Authorization", f"Bearer {self._tokens[user]}")], body)

    def _use(self, user: str) -> None:
        """Send calls of a user until the site is killed."""
        chance = self._chance(user)
        draw = self._operator_call if user == OPERATOR else self._user_call
        while True:
            call = draw(user, chance)
            with self._lock:
                self._calls.append(call)
            try:
                call.status, answer = self._ask(user, call.method, call.path, call.body)
            except (OSError, HTTPException):
                return
            with self._lock:
                self._answered += 1
                if self._answered == self._last:
                    self._site.process.kill()
            if call.status == 201:
                call.number = int(answer["number"] if "number" in answer else answer["id"])
                self._made[user].setdefault(call.path, []).append(call.number)

    def _operator_call(self, user: str, chance: random.Random) -> Call:
        change = chance.choice([*CHANGES, "return", "return"])
        return Call(user, "POST", f"/api/hosts/{change}", {"hosts": str(chance.randrange(HOSTS))})

    def _user_call(self, user: str, chance: random.Random) -> Call:
        draw, made = chance.random(), self._made[user]
        with self._lock:
            self._marks += 1
            mark = self._marks
        if draw < 0.4:
            start = {"start": f"+{chance.randint(10, 300)}"} if chance.random() < 0.3 else {}
            body = {"nodes": chance.randint(1, 3), "duration": chance.randint(5, 200) + mark / 1e6, **start}
            return Call(user, "POST", "/api/leases", body)
        if draw < 0.5:
            body = {"nodes": chance.randint(1, 3), "walltime": chance.randint(5, 200) + mark / 1e6}
            return Call(user, "POST", "/api/jobs", body)
        if draw < 0.7:
            compute = {"name": "vm", "min": chance.randint(1, 2), "locations": ["here"]}
            body = {"name": f"{user}-{mark}", "duration": chance.randint(10, 100), "resources": [{"compute": compute}]}
            return Call(user, "POST", chance.choice(["/managed_experiments", "/reservations"]), body)
        path = chance.choice(list(made) or ["/api/leases"])
        number = chance.choice(made.get(path, [1])[-3:])
        control = chance.choice(list(CONTROLS)) if path in ("/api/leases", "/api/jobs") else ""
        if not control:
            return Call(user, "DELETE", f"{path.replace('/api/jobs', '/api/leases')}/{number}")
        body = {"priority": -chance.randint(1, 100)} if control == "priority" else {}
        return Call(user, "PUT" if control == "priority" else "POST", f"/api/leases/{number}/{control}", body)

    def _wrong(self, text: str) -> None:
        self.killed.wrong.append(f"seed {self._seed}, kill {self._round}: {text}")

    def _check(self) -> None:
        """Compare what the calls were answered with journal, audit log, and what the site shows."""
        self._ask(OPERATOR, "PUT", "/api/clock", {"paused": True})
        entries = {one.number: one for one in self._entries()}
        self._check_requested(entries)
        self._check_changes(list(entries.values()))
        self._check_log(entries)
        leases = {one["number"]: one for one in self._all("/api/leases?finished=true")}
        self._check_leases(leases)
        self._check_owned()
        self._check_hosts()
        self._check_quotas(list(leases.values()))

    def _entries(self) -> Iterator[Entry]:
        path = self.folder / "site" / JOURNAL
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            rows = database.execute("SELECT number, kind, target, user, members FROM requests")
            for number, kind, target, user, members in rows:
                yield Entry(number, kind, target, user, orjson.loads(members))

    def _all(self, path: str, user: str = OPERATOR) -> list[dict[str, Any]]:
        status, found = self._ask(user, "GET", path)
        if status != 200:
            self._wrong(f"GET {path}: {status}")
            return []
        return list(found["items"] if isinstance(found, dict) else found)

    def _check_requested(self, entries: Mapping[int, Entry]) -> None:
        """Check that each request is in the journal once, under its number, as its user's; and nothing else is."""
        there = Counter((one.user, one.marker) for one in entries.values() if one.marker)
        known = set[tuple[str, str]]()
        for call in self._calls:
            if call.path.startswith("/api/hosts") or call.method != "POST" or call.path.count("/") > 2:
                continue
            marker = (
                call.user,
                str(call.body.get("name") or float(call.body.get("duration") or call.body["walltime"])),
            )
            known.add(marker)
            allowed = (0, 1) if call.status is None else (1,) if call.accepted else (0,)
            if there[marker] not in allowed:
                self._wrong(f"{call} is {there[marker]} times in the journal")
            if call.accepted and (call.number not in entries or entries[call.number].marker != marker[1]):
                self._wrong(f"{call} is not request {call.number} of the journal")
        self._expect("requests of nobody", sorted(there.keys() - known), [])

    def _check_changes(self, entries: list[Entry]) -> None:
        """Each change that was accepted is in the journal, once."""
        there = Counter((one.user, one.kind, str(one.target or one.members.get("resources", ""))) for one in entries)
        for name, kind in (*CONTROLS.items(), ("", "delete_experiment"), ("", "delete_reservation")):
            self._check_change(there, (kind,), self._is_control(name, kind))
        for change, kinds in CHANGES.items():
            self._check_change(there, kinds, partial(_host, change))
        self._check_change(there, RETURNS, partial(_host, "return"), most=2)

    def _is_control(self, name: str, kind: str) -> Callable[[Call], str]:
        """Return a function that returns the number that a call changes; "" for another call."""
        resource = {"delete_experiment": "managed_experiments", "delete_reservation": "reservations"}.get(
            kind, "leases"
        )

        def target(call: Call) -> str:
            parts = call.path.strip("/").removeprefix("api/").split("/")
            found = (parts[0], parts[2] if len(parts) > 2 else "") == (resource, name) and len(parts) > 1
            return parts[1] if found and (name or call.method == "DELETE") else ""

        return target

    def _check_change(
        self,
        there: Counter[tuple[str, str, str]],
        kinds: tuple[str, ...],
        target: Callable[[Call], str],
        most: int = 1,
    ) -> None:
        """Check the requests of some kinds, which the calls with a target make, at most `most` each."""
        accepted, possible = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for call in self._calls:
            if found := target(call):
                accepted[call.user, found] += call.accepted
                # 409: what came too late is in the journal, too, if only the decision showed that it did.
                possible[call.user, found] += call.accepted or call.status in (None, 409)
        made = Counter[tuple[str, str]]()
        for (user, kind, one), many in there.items():
            if kind in kinds:
                made[user, one] += many
        for key in accepted.keys() | made.keys():
            if not accepted[key] <= made[key] <= most * possible[key]:
                self._wrong(f"{kinds} of {key}: {accepted[key]} accepted, {made[key]} in the journal")

    def _check_log(self, entries: Mapping[int, Entry]) -> None:
        """The audit log has each answer, and nothing of what it says was created is missing in the journal."""
        lines = list(read_audit(self.folder / "site" / "audit.jsonl"))
        logged = Counter((one.user, one.method, one.path) for one in lines if one.status < 300)
        accepted, possible = Counter[tuple[str, str, str]](), Counter[tuple[str, str, str]]()
        for call in self._calls:
            key = (call.user, call.method, call.path)
            accepted[key] += call.accepted
            possible[key] += call.accepted or call.status is None
        for key in accepted:
            if not accepted[key] <= logged[key] <= possible[key]:
                self._wrong(f"{key}: {accepted[key]} accepted, {logged[key]} in the audit log")
        for one in lines:
            number = int(one.made.rpartition("/")[2] or 0)
            if one.made and (number not in entries or entries[number].user != one.user):
                self._wrong(f"{one.made} of {one.user} is in the audit log, but not in the journal")

    def _check_leases(self, leases: Mapping[int, Mapping[str, Any]]) -> None:
        """Each accepted lease is there, ended if it was cancelled, held as its user said last."""
        held: dict[int, str | None] = {}
        for call in self._calls:
            if call.path in ("/api/leases", "/api/jobs") and call.accepted:
                self._expect(f"lease {call.number}", leases.get(call.number, {}).get("user"), call.user)
            parts = call.path.split("/")
            if parts[2:3] == ["leases"] and len(parts) > 3 and (call.accepted or call.status is None):
                number = int(parts[3])
                if call.method == "DELETE" and call.status == 204:
                    self._expect(f"lease {number}, which was cancelled", leases[number]["final"], True)
                if parts[-1] in ("hold", "release"):
                    held[number] = {"hold": "user", "release": ""}[parts[-1]] if call.status == 204 else None
        for number, holder in held.items():
            lease = leases.get(number, {})
            if holder is not None and not lease.get("final"):
                self._expect(f"who holds lease {number}", lease.get("held", ""), holder)

    def _check_owned(self) -> None:
        """Each experiment and reservation is there, unless its deletion was accepted."""
        for path in ("/managed_experiments", "/reservations"):
            made = {one.number for one in self._calls if one.path == path and one.accepted}
            gone = [one for one in self._calls if one.method == "DELETE" and one.path.startswith(f"{path}/")]
            surely = {int(one.path.rpartition("/")[2]) for one in gone if one.accepted}
            perhaps = {int(one.path.rpartition("/")[2]) for one in gone if one.status is None}
            there = {int(one.get("number") or one["id"]) for one in self._all(path)}
            self._expect(f"{path} that are lost", sorted(made - surely - perhaps - there), [])
            self._expect(f"{path} that were deleted", sorted(surely & there), [])

    def _check_hosts(self) -> None:
        """Each host is out of service if the operator said so last."""
        states = {str(one["number"]): one["state"] for one in self._all("/api/hosts")}
        out: dict[str, set[str] | None] = {}
        for call in self._calls:
            if not call.path.startswith("/api/hosts/") or (call.status is not None and not call.accepted):
                continue
            host, change = call.body["hosts"], call.path.rpartition("/")[2]
            known = out.get(host, set())
            unsure = call.status is None or (known is None and change != "return")
            out[host] = None if unsure else set() if change == "return" else {*(known or ()), change}
        for host, changes in out.items():
            if changes is not None:
                wanted = "unavailable" if "fail" in changes else "drained" if changes else "in service"
                state = {"unavailable": "unavailable", "drained": "drained", "draining": "drained"}.get(states[host])
                self._expect(f"host {host}", state or "in service", wanted)

    def _check_quotas(self, leases: list[dict[str, Any]]) -> None:
        """Nobody has more than the quotas, and the site counts what it shows."""
        open_ones = [one for one in leases if not one["final"]]
        for user, group in USERS.items():
            mine = [one for one in open_ones if one["user"] == user]
            ours = [one for one in open_ones if group and one.get("group") == group]
            hosts, shared = (sum(one.get("nodes", 0) for one in some) for some in (mine, ours))
            status, caller = self._ask(user, "GET", "/api/caller")
            self._expect(f"the status of /api/caller of {user}", status, 200)
            used = {(one["quota"], one["of"]): one for one in caller["quotas"]}
            self._expect(f"hosts of {user}", used["hosts", "user"]["used"], hosts)
            self._expect(f"leases of {user}", used["leases", "user"]["used"], len(mine))
            if group:
                self._expect(f"hosts of {group}", used["hosts", "group"]["used"], shared)
            for name, one in used.items():
                if one["limit"] is not None and one["used"] > one["limit"]:
                    self._wrong(f"{user} has {one['used']} of {one['limit']} {name}")

    def _expect(self, what: str, found: Any, wanted: Any) -> None:
        if found != wanted:
            self._wrong(f"{what}: {found}, not {wanted}")


def _host(change: str, call: Call) -> str:
    """Return the host of a change by the operator; "" for another call."""
    return str(call.body["hosts"]) if call.path == f"/api/hosts/{change}" else ""
