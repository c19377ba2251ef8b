"""Commands of scontrol and scancel during a run: hold, release, update, requeue, reservations, states of nodes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Final

from batsched_py.errors import SlurmRefusalError
from batsched_py.slurm.cluster import ClusterState
from batsched_py.slurm.conf_values import licences, minutes, whole, words
from batsched_py.slurm.hostlist import expand
from batsched_py.slurm.jobs import HELD, PENDING, SlurmJob
from batsched_py.slurm.reservations import AdvanceReservation, permitted_names
from batsched_py.text.display import displayed

#: Start of a reservation.
_START: Final = re.compile(r"now(?:\+(\d{1,9}))?")
#: Number of nodes of a job.
_COUNTS: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)
_RESERVATION_FLAGS: Final = frozenset({"maint", "overlap", "ignore_jobs", "magnetic", "license_only", "any_nodes"})


class ClusterCommands:
    """The commands that change jobs, nodes and reservations of one cluster."""

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster

    def run(self, command: str, now: float) -> None:
        """Run a command.

        Raises:
            SlurmRefusalError: the command is not supported, or names what does not exist.
        """
        text = shlex.split(command)
        verbs: dict[str, Callable[[list[str], float], None]] = {
            "hold": self._hold,
            "release": self._release,
            "requeue": self._requeue,
            "requeuehold": self._requeue_and_hold,
            "top": self._refuse,
            "update": self._update,
            "create": self._create,
            "delete": self._delete,
        }
        try:
            if text[:1] == ["scancel"]:
                for job in self._jobs(text[1:]):
                    self._cluster.stop(job, "CANCELLED", now)
            elif text[:1] == ["scontrol"] and (run := verbs.get(text[1] if len(text) > 1 else "")):
                run(text[2:], now)
            else:
                self._refuse(text, now)
        except ValueError as error:
            raise SlurmRefusalError(f"{displayed(command)}: {error}") from error

    def _refuse(self, _text: list[str], _now: float) -> None:
        raise ValueError("is not supported")

    def _jobs(self, text: list[str]) -> list[SlurmJob]:
        """Return the jobs of these lists of numbers, that have not ended."""
        parts = [part for word in text for part in word.split(",")]
        found = [job for part in parts for job in self._cluster.jobs.get(whole(part), [])]
        left = [job for job in found if job.ended is None]
        if not left:
            raise ValueError("Invalid job id specified")
        return left

    def _hold(self, text: list[str], now: float) -> None:
        for job in self._jobs(text):
            job.is_held, job.priority, job.reason = True, HELD, "JobHeldAdmin"
            job.priorities = {}
            self._cluster.mark_changed(now)

    def _release(self, text: list[str], now: float) -> None:
        for job in self._jobs(text):
            job.is_held, job.is_priority_fixed, job.reason = False, False, ""
            self._cluster.priorities.set_first(job, now)
            self._changed(now)

    def _requeue(self, text: list[str], now: float) -> None:
        for job in self._jobs(text):
            if job.state != PENDING:
                self._cluster.requeue(job, now)

    def _requeue_and_hold(self, text: list[str], now: float) -> None:
        self._requeue(text, now)
        self._hold(text, now)

    def _changed(self, now: float) -> None:
        self._cluster.mark_changed(now)
        self._cluster.is_pass_due = True

    def _update(self, text: list[str], now: float) -> None:
        options = _options(text)
        if "nodename" in options:
            self._update_nodes(options, now)
        elif "jobid" in options:
            for job in self._jobs([options.pop("jobid")]):
                self._update_job(job, options, now)
        else:
            raise ValueError("must name a job or a node")

    def _update_job(self, job: SlurmJob, options: dict[str, str], now: float) -> None:
        for name, value in options.items():
            if name == "priority":
                job.priority, job.priorities, job.is_priority_fixed = _priority(value), {}, True
            elif name == "nice":
                job.priority -= whole(value) - job.nice
                job.nice = whole(value)
                self._cluster.priorities.set_again(job, now)
            elif name == "timelimit":
                job.limit = _minutes(name, value)
            elif name == "numnodes":
                least, most = _node_counts(value)
                job.tasks = job.tasks if job.request.tasks else least
                job.ask_nodes(least, most)
            else:
                raise ValueError(f"update of {displayed(name)} is not supported")
        job.reason = ""
        self._changed(now)

    def _update_nodes(self, options: dict[str, str], now: float) -> None:
        cluster = self._cluster
        nodes, state = self._nodes(options["nodename"]), options.get("state", "").lower()
        if state == "resume":
            cluster.unavailable &= ~nodes
        elif state in {"drain", "down", "fail"}:
            cluster.unavailable |= nodes
        else:
            raise ValueError("state must be drain, down or resume")
        if unknown := options.keys() - {"nodename", "state", "reason"}:
            raise ValueError(f"update of {displayed(min(unknown))} is not supported")
        if state == "down":
            self._fail_jobs(nodes, now)
        self._changed(now)

    def _fail_jobs(self, nodes: int, now: float) -> None:
        for job in list(self._cluster.running):
            if job.allocation is not None and job.allocation.nodes & nodes:
                if job.request.requeue:
                    self._cluster.requeue(job, now)
                else:
                    self._cluster.stop(job, "NODE_FAIL", now)

    def _nodes(self, text: str) -> int:
        configuration = self._cluster.configuration
        if text.upper() == "ALL":
            return configuration.all_nodes
        index = {node.name: at for at, node in enumerate(configuration.nodes)}
        names = expand(text)
        if unknown := [name for name in names if name not in index]:
            raise ValueError(f"Invalid node name specified: {displayed(unknown[0])}")
        return sum(1 << index[name] for name in set(names))

    def _create(self, text: list[str], now: float) -> None:
        if text[:1] != ["reservation"]:
            raise ValueError("is not supported")
        options = _options(text[1:])
        flags = words(options.get("flags", ""))
        if others := flags - _RESERVATION_FLAGS:
            raise ValueError(f"flag {displayed(min(others))} is not supported")
        known = {"reservationname", "starttime", "duration", "nodes", "users", "accounts", "flags", "licenses"}
        if unknown := options.keys() - known:
            raise ValueError(f"{displayed(min(unknown))} of a reservation is not supported")
        if missing := [name for name in ("reservationname", "starttime", "duration") if not options.get(name)]:
            raise ValueError(f"a reservation must have {missing[0]}")
        match = _START.fullmatch(options["starttime"])
        if match is None:
            raise ValueError(f"starttime must be now or now+SECONDS, not {displayed(options['starttime'])}")
        if self._cluster.reservations.named(options["reservationname"]) is not None:
            raise ValueError(f"there is a reservation {displayed(options['reservationname'])} already")
        start = int(now) + int(match[1] or 0)
        made = AdvanceReservation(
            name=options["reservationname"],
            start=start,
            end=start + _minutes("duration", options["duration"]) * 60,
            nodes=self._nodes(options["nodes"]) if options.get("nodes") else 0,
            users=permitted_names(options["users"]) if options.get("users") else frozenset(),
            accounts=permitted_names(options["accounts"]) if options.get("accounts") else frozenset(),
            flags=flags,
            licences=self._cluster.configuration.reserved_licences(licences(options.get("licenses", ""))),
        )
        if not (made.users or made.accounts):
            raise ValueError("a reservation must have users or accounts")
        if not (made.nodes or made.licences):
            raise ValueError("a reservation must have nodes or licenses")
        self._check_nodes(made)
        self._cluster.reservations.all.append(made)
        self._changed(now)

    def _check_nodes(self, made: AdvanceReservation) -> None:
        """Refuse a reservation of nodes that jobs may use beyond its start, or that another one has."""
        cluster, flags = self._cluster, made.flags
        jobs = [job for job in cluster.running if job.allocation is not None and job.limit_end > made.start]
        if "ignore_jobs" not in flags and any(job.allocation.nodes & made.nodes for job in jobs if job.allocation):
            raise ValueError("Requested nodes are busy")
        others = [one for one in cluster.reservations.all if one.overlaps(made.start, made.end)]
        if not flags & {"maint", "overlap"} and any(one.nodes & made.nodes for one in others):
            raise ValueError("Requested nodes are busy")

    def _delete(self, text: list[str], now: float) -> None:
        if len(text) != 1:
            raise ValueError("must be delete reservationname=NAME")
        name, reservations = _options(text).get("reservationname", ""), self._cluster.reservations
        if not any(one.name == name for one in reservations.all):
            raise ValueError(f"there is no reservation {displayed(name)}")
        reservations.all = [one for one in reservations.all if one.name != name]
        self._changed(now)


def _options(text: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in text:
        name, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"must have options NAME=VALUE, not {displayed(name)}")
        if name.lower() in found:
            raise ValueError(f"{displayed(name)} is given twice")
        found[name.lower()] = value
    return found


def _minutes(name: str, text: str) -> int:
    """Return a time of a minute or more."""
    found = minutes(text)
    if not found:
        raise ValueError(f"{name} must be longer than 0")
    return found


def _node_counts(text: str) -> tuple[int, int]:
    """Return the least and the largest number of nodes: `2`, `2-4`."""
    match = _COUNTS.fullmatch(text)
    least, most = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= least <= most:
        raise ValueError(f"numnodes must be a number from 1, or a range such as 2-4, not {displayed(text)}")
    return least, most


def _priority(text: str) -> int:
    """Return a priority that does not hold a job."""
    if (found := whole(text)) <= HELD:
        raise ValueError("priority must be a whole number from 1: hold jobs with scontrol hold")
    return found
