"""Every algorithm in every variant, and small workloads to run them on."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from batsched_py.model.platform import Platform
from batsched_py.model.workload import Workload
from batsched_py.results.records import JobRecord
from batsched_py.schedulers import BUILT_INS
from batsched_py.session.session import Session
from batsched_py.testing import Case
from tests.clone import ROOT
from tests.platforms import plain_platform

HOSTS = 6
PLATFORM: Platform = plain_platform(HOSTS)

#: Every algorithm in every variant.
VARIANTS: list[tuple[str, dict[str, str]]] = [
    ("ar_preempt", {"depth": "2", "margin": "1"}),
    ("fcfs", {}),
    ("filler", {}),
    ("filler", {"selection": "contiguous"}),
    ("filler", {"order": "desc_size", "ties": "id"}),
    ("priority", {"order": "asc_area"}),
    ("priority", {"order": "desc_slowdown"}),
    ("random", {"seed": "1"}),
    ("sequencer", {"order": "fcfs"}),
    ("sequencer", {"order": "desc_slowdown"}),
    ("easy", {"reserve": "counts", "backfill_order": "fcfs"}),
    ("easy", {"reserve": "counts", "backfill_order": "sjf"}),
    ("easy", {"reserve": "hosts", "backfill_order": "fcfs"}),
    ("easy", {"reserve": "hosts", "backfill_order": "sjf"}),
    ("easy", {"arrivals": "one_by_one", "backfill_order": "sjf"}),
    ("backfill", {"reserve": "counts", "depth": "2", "repair_time": "4"}),
    ("backfill", {"reserve": "hosts", "depth": "3", "backfill_order": "sjf"}),
    ("conservative", {"reserve": "counts"}),
    ("conservative", {"reserve": "hosts"}),
    ("easy", {"order": "f1", "backfill_order": "desc_area"}),
    ("backfill", {"order": "wfp3", "reserve": "hosts", "depth": "2", "walltimes": "optional"}),
    ("conservative", {"order": "asc_size"}),
    ("conservative", {"walltimes": "optional"}),
    ("conservative", {"reserve": "hosts", "ties": "id"}),
    ("easy_plus_plus", {}),
    ("easy", {"reserve": "hosts", "selection": "contiguous"}),
    ("conservative", {"reserve": "hosts", "selection": "contiguous"}),
]
#: All of them, and those that only this platform fits.
ON_PLATFORM = [
    *VARIANTS,
    ("easy", {"selection": "nearest", "topology": "torus:3,2"}),
    ("slurm", {"conf": str(ROOT / "tests/data/slurm/cluster6.conf")}),
]
#: Variants that promise starts and keep promises: in other orders a new job may come before.
PROMISING = [
    (name, options)
    for name, options in VARIANTS
    if name in ("easy", "backfill", "conservative") and options.keys().isdisjoint({"order", "ties"})
]

#: A signal that falls after 8 s and rises after 20 s.
SIGNAL = str(ROOT / "tests/data/signals/carbon.csv")
#: Variants of algorithms that promise less, or need more, than the others.
SPECIAL: list[tuple[str, dict[str, str]]] = [
    ("conservative", {"reserve": "hosts", "slack": "5"}),
    ("conservative", {"reserve": "hosts", "order": "asc_walltime", "promises": "in_turn", "ties": "id"}),
    ("easy", {"promise": "first", "slack": "5"}),
    ("easy", {"predictor": "last2", "backfill_order": "sjf"}),
    ("easy", {"predictor": "clairvoyant", "reserve": "hosts"}),
    ("backfill", {"depth": "2", "predictor": "online"}),
    ("conservative", {"predictor": "percentile", "percentile": "50", "correction": "doubling"}),
    ("conservative", {"predictor": "mean", "predictions": "anew", "reserve": "hosts", "correction": "request"}),
    ("conservative", {"predictor": "last2", "order": "asc_walltime", "promises": "in_turn", "slack": "2"}),
    ("easy_idle_sleeper", {"predictor": "last2", "idle_time": "3"}),
    ("easy", {"signal": SIGNAL, "signal_threshold": "200", "max_delay": "5"}),
    ("easy", {"signal": SIGNAL, "signal_threshold": "200", "max_delay": "9", "signal_hosts": "3"}),
    ("conservative", {"signal": SIGNAL, "signal_threshold": "200", "max_delay": "9", "predictor": "last2"}),
    ("easy_dvfs", {"pstate": "1", "signal": SIGNAL, "signal_threshold": "200", "max_delay": "4"}),
    ("easy_dvfs", {"pstate": "1", "predictor": "mean", "user": "user"}),
    ("crasher", {"message": "6", "how": "exit"}),
    ("easy_dvfs", {"pstate": "1"}),
    ("easy_dvfs", {"pstate": "1", "slack": "5", "reserve": "hosts"}),
    ("easy_dvfs", {"policy": "slowest", "speeds": "1e9,5e8,1,1,1,1,1,1", "order": "sjf"}),
    ("easy_dvfs", {"pstate": "0", "power_cap": "700", "speeds": "1e9,5e8,1,1,1,1,1,1"}),
    ("easy_dvfs", {"power_cap": "660", "speeds": "1e9,5e8,1,1,1,1,1,1", "backfill_order": "sjf", "slack": "3"}),
    ("easy_idle_sleeper", {"idle_time": "0"}),
    ("easy_idle_sleeper", {"idle_time": "none", "sleep_state": "deepest", "wake_for": "queue", "order": "sjf"}),
    ("easy_idle_sleeper", {"idle_time": "3", "off_time": "2", "on_time": "20", "keep_awake": "2", "reserve": "hosts"}),
    ("easy_idle_sleeper", {"inertia": "x2", "period": "5", "idle_time": "1e9"}),
    (
        "easy_idle_sleeper",
        {"inertia": "p1", "period": "7", "load_threshold": "3", "wake_for": "queue", "reserve": "hosts"},
    ),
    ("easy_subpart_sleeper", {"awake": "0", "idle_time": "5", "reserve": "hosts"}),
    ("easy_subpart_sleeper", {"awake": "0.3", "idle_time": "2", "sleep_state": "deepest", "backfill_order": "sjf"}),
    ("energy_budget", {"shutdown": "true", "idle_time": "0", "off_time": "3", "on_time": "5"}),
    ("energy_budget", {"power_cap": "700", "shutdown": "true", "idle_time": "0", "backfill_order": "sjf"}),
    ("energy_budget", {"energy": "60000", "period": "100", "power_cap": "650", "slack": "3"}),
    ("energy_budget", {"energy": "70000", "period": "100", "power_cap": "800", "shutdown": "true", "idle_time": "3"}),
    ("experiments", {"reservations": "on", "no_capacity": "wait", "policy_preemption": "ar-preempts-everything"}),
    ("energy_watcher", {"at_once": "one", "interval": "2"}),
    ("killer", {"after": "0"}),
    ("killer", {"after": "3"}),
    ("killer", {"rule": "arrival"}),
    ("rejecter", {"larger_than": "3", "probability": "0.5"}),
    ("leases", {"backfilling": "conservative", "policy_preemption": "ar-preempts-everything", "shutdown_time": "1"}),
    ("leases", {"backfilling": "off", "suspension": "none", "enactment_overhead": "0.5"}),
    ("placer", {"place": "random", "alternatives": "1", "refuse": "0.1", "pause": "9", "keep": "none"}),
    ("placer", {"place": "round-robin", "staleness": "5", "alternatives": "8", "keep": "next", "retries": "1"}),
    (
        "placer",
        {"refuse": "0.1", "time_out": "1", "max_jobs": "1", "foresight": "false", "patience": "50", "pause": "9"},
    ),
    ("placer", {"on_loss": "fail", "place": "random"}),
    ("sleeper", {"at_once": "one", "compute": "1"}),
    ("slurm", {}),
    ("slurm", {"scheduler": "builtin"}),
    ("slurm", {"select": "cons_tres", "cycle": "1", "complete": "0.5"}),
    ("timelines", {"vm_leases": "queued"}),
    ("submitter", {"interval": "3", "jobs": "4", "slack": "none", "metadata": "true"}),
    ("submitter", {"longer": "3", "profiles": "shared", "seconds": "2", "slack": "0"}),
]
#: EASY by numbers of hosts: whoever finds enough can start.
EASY = [variant for variant in PROMISING if variant[0] == "easy" and "selection" not in variant[1]]

#: All of them, and every built-in as it is, for the contract suite.
EVERYTHING: list[tuple[str, dict[str, str]]] = [
    *VARIANTS,
    *SPECIAL,
    *((name, {}) for name in BUILT_INS if (name, {}) not in VARIANTS + SPECIAL),
]

#: One variant of each algorithm, the first above: for what does not depend on options.
EACH: list[tuple[str, dict[str, str]]] = list(dict(reversed(EVERYTHING)).items())[::-1]

#: Algorithm -> attributes of its ContractTests: what it may do that others may not.
LIBERTIES: dict[str, dict[str, Any]] = {
    "crasher": {"fails_on_purpose": True},
    "experiments": {"may_kill": True},  # as leases
    "killer": {"may_kill": True},
    "leases": {"may_kill": True},  # what runs on hosts that go down
    "rejecter": {"may_reject": True},
    "timelines": {"may_kill": True},  # as leases
}


def liberties(name: str, options: dict[str, str]) -> dict[str, Any]:
    """Return the liberties of an algorithm with those that its options give it."""
    particular = {"particular_hosts": True} if options.get("selection") == "contiguous" else {}
    impatient = {"may_reject": True} if "patience" in options else {}  # hosts refuse for as long
    strict = {"may_kill": True} if options.get("on_loss") == "fail" else {}  # what runs on hosts that go down
    capped = {"may_reject": True, "particular_hosts": True} if "power_cap" in options else {}  # hosts that draw little
    return {**LIBERTIES.get(name, {}), **particular, **capped, **impatient, **strict}


#: (submit time, hosts, run time, walltime): small numbers, so that instants coincide; some walltimes stop the job.
SPECS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, HOSTS), st.integers(1, 9), st.integers(1, 12)), min_size=1, max_size=25
)


def workload(specs: list[tuple[int, int, int, int]]) -> Workload:
    """Delay jobs, named so that their order of submission is that of the list for equal times."""
    return Case(hosts=HOSTS, jobs=tuple(specs)).workload()


class Promises:
    """The latest start that each job was promised, which never moves to later, by more than a tolerance in seconds."""

    def __init__(self, tolerance: float = 0.0) -> None:
        self._promised: dict[str, float] = {}
        self._tolerance = tolerance

    def watch(self, session: Session, request: bytes, reply: bytes) -> None:
        """After each message."""
        for job_id, slot in session.plan.promises.items():
            assert slot.start <= self._promised.get(job_id, math.inf) + self._tolerance
            self._promised[job_id] = slot.start

    def check(self, records: Iterable[JobRecord], tolerance: float = 0.0) -> None:
        """At the end: no job started later than promised."""
        for record in records:
            assert record.start <= self._promised.get(record.job.id, math.inf) + tolerance
