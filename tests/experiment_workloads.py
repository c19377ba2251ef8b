"""Random runs of managed experiments: documents, events, jobs and options, for a checker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct

#: Hosts at each site; each has two CPUs and 2 GB.
SITES = {"epcc": 2, "hp": 2}
#: The end of what is asked for.
HORIZON = 2000
#: Percent of CPU and MB of each type of instances.
TYPES = {"lite": (50, 256), "small": (100, 1024), "medium": (200, 2048), "large": (200, 4096)}


class ExperimentCase(Struct, frozen=True):
    """The inputs of a run.

    Attributes:
        experiments: of the file: time and descriptor.
        events: (time, type, members), or of machines.
        jobs: (submission, hosts, walltime, runtime).
        peer: the kind of Batsim.
        options: of the algorithm.
        testbed: with delays.
    """

    experiments: Sequence[Mapping[str, Any]]
    events: Sequence[tuple[float, str, Mapping[str, Any]]]
    jobs: Sequence[tuple[float, int, float, float]]
    peer: str
    options: Mapping[str, Any]
    testbed: Mapping[str, Any]


_TIMES = st.integers(0, HORIZON)
_FEW = st.integers(0, 3)


@st.composite
def entries(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A timeline of up to four entries."""
    found: list[dict[str, Any]] = []
    for number in range(draw(_FEW)):
        at = draw(st.sampled_from([-20, -5, 1, 10, 40, 100]))
        kind = draw(st.integers(0, 5))
        if kind == 0 and at > 0:
            found.append({"at": at, "break": True})
        elif kind == 1 and at > 0:
            found.append({"at": at, "pause": draw(st.sampled_from([10, 100]))})
        else:
            code = {"exit": 1} if draw(st.integers(0, 9)) == 0 else {}
            found.append({"at": at, "run": f"e{number}", "takes": draw(st.sampled_from([0, 5, 60, 600])), **code})
    return found


@st.composite
def computes(
    draw: st.DrawFn,
    name: str,
    before: Mapping[str, Mapping[str, Any]],
    networks: Sequence[str],
    storages: Sequence[str],
) -> dict[str, Any]:
    """A template that may need any of those before it."""
    compute: dict[str, Any] = {"name": name, "min": draw(st.sampled_from([1, 1, 1, 2, 3]))}
    if draw(st.integers(0, 4)):
        compute["locations"] = draw(st.sampled_from([["epcc"], ["hp"], ["epcc", "hp"]]))
    else:
        compute["constraint"] = draw(st.sampled_from(['$location == "hp"', "$mem >= 512"]))
    compute["instanceType"] = draw(st.sampled_from(["lite", "small", "small", "medium", "medium", "large"]))
    compute["resources"] = [{"network": one} for one in networks if draw(st.booleans())]
    compute["resources"] += [{"storage": one} for one in storages if draw(st.booleans())]
    compute["after"] = [one for one in before if draw(st.integers(0, 3)) == 0]
    compute["contexts"] = [
        {f"{one}_ip": [one, next((each["network"] for each in other["resources"] if "network" in each), "wan")]}
        for one, other in before.items()
        if draw(st.integers(0, 2)) == 0
    ]
    if draw(st.booleans()):
        compute["timeline"] = draw(entries())
    return compute


@st.composite
def descriptors(draw: st.DrawFn, *, reservations: bool, now: int) -> dict[str, Any]:
    """A valid experiment whose resources need only those before them, in any order."""
    resources: list[dict[str, Any]] = []
    networks, storages = list[str](), list[str]()
    for number in range(draw(st.integers(0, 2))):
        size = {"address": "10.1.0.0", "size": draw(st.sampled_from([1, 3, 200]))} if draw(st.booleans()) else {}
        resources.append({"network": {"name": f"n{number}", "location": draw(st.sampled_from(list(SITES))), **size}})
        networks.append(f"n{number}")
    for number in range(draw(st.integers(0, 1))):
        one = {"name": f"s{number}", "location": "epcc", "size": 1, "persistent": draw(st.booleans())}
        resources.append({"storage": one})
        storages.append(f"s{number}")
    of: dict[str, dict[str, Any]] = {}
    for number in range(draw(st.integers(0, 4))):
        of[f"c{number}"] = draw(computes(f"c{number}", of, networks, storages))
        resources.append({"compute": of[f"c{number}"]})
    found = {"name": "e", "duration": draw(st.sampled_from([1, 5, 20])), "resources": draw(st.permutations(resources))}
    if reservations:
        if draw(st.booleans()):
            found["start"] = now + draw(st.sampled_from([0, 50, 500]))
        found["best_effort_allocation"] = draw(st.booleans())
        if len(of) > 1 and draw(st.integers(0, 3)) == 0:
            found["resource_set"] = {"set": list(of)[:2]}
    if draw(st.integers(0, 4)) == 0:
        found["aggregator"] = "epcc"
    return found


@st.composite
def events(draw: st.DrawFn, *, reservations: bool) -> list[tuple[float, str, dict[str, Any]]]:
    """Submissions, deletions, resumptions, and machines that fail and come back."""
    found: list[tuple[float, str, dict[str, Any]]] = []
    for _ in range(draw(st.integers(0, 5))):
        time, kind = draw(_TIMES), draw(st.sampled_from(["submit", "delete", "delete", "resume", "host", "host"]))
        if kind == "submit":
            members = {"descriptor": draw(descriptors(reservations=reservations, now=time)), "owner": "o"}
            found.append((time, "submit_experiment", members))
        elif kind == "delete":
            found.append((time, "delete_experiment", {"experiment": str(draw(st.integers(1, 4)))}))
        elif kind == "resume":
            found.append((time, "resume", {"experiment": str(draw(st.integers(1, 4)))}))
        else:
            host = draw(st.integers(0, 3))
            found.append((time, "event_machine_unavailable", {"host": host}))
            found.append((time + draw(st.sampled_from([1, 100, 1000])), "event_machine_available", {"host": host}))
    return sorted(found, key=lambda one: one[0])


@st.composite
def testbeds(draw: st.DrawFn) -> dict[str, Any]:
    """Delays of both sites."""
    delays = st.sampled_from([0, 10, 45])
    return {
        "locations": {
            name: {"creation_delay": draw(delays), "address_delay": draw(st.sampled_from([0, 0, 20, 300]))}
            for name in SITES
        }
    }


@st.composite
def experiment_cases(draw: st.DrawFn) -> ExperimentCase:
    """A run of at most eight experiments and some jobs."""
    reservations = draw(st.booleans())
    made = []
    for _ in range(draw(st.integers(1, 3))):
        time = draw(_TIMES)
        made.append({"time": time, "descriptor": draw(descriptors(reservations=reservations, now=time))})
    wait = draw(st.booleans())
    options: dict[str, Any] = {
        "reservations": "on" if reservations else "off",
        "deploy": draw(st.sampled_from(["parallel", "parallel", "sequential"])),
        "no_capacity": "wait" if wait else "fail",
        "ip_timeout": draw(st.sampled_from([3600, 100])),
        "on_exit": draw(st.sampled_from(["log", "fail"])),
        "on_failed": draw(st.sampled_from(["wait", "abort"])),
        "suspension": draw(st.sampled_from(["none", "serial-only", "all"])),
        "policy_preemption": draw(st.sampled_from(["no-preemption", "ar-preempts-everything"])),
    }
    if wait and draw(st.booleans()):
        options["capacity_wait"] = 60
    if draw(st.booleans()):
        options["deployments"] = 1
    peer = draw(st.sampled_from(["v4", "acknowledged", "booked", "static", "v1.4"]))
    if peer == "booked" and draw(st.booleans()):
        options["entries"] = "serialise"
    walltimes = st.sampled_from([30, 300, 900])
    jobs = []
    for _ in range(draw(_FEW)):
        walltime = draw(walltimes)
        jobs.append(
            (draw(_TIMES), draw(st.integers(1, 4)), walltime, draw(st.sampled_from([1, walltime // 2, walltime])))
        )
    happening = [] if peer == "v1.4" else draw(events(reservations=reservations))  # which has no external events
    submitted = [members["descriptor"] for _, _, members in happening if "descriptor" in members]
    for number, descriptor in enumerate([*(one["descriptor"] for one in made), *submitted]):
        descriptor["name"] = f"e{number}"
    return ExperimentCase(made, happening, jobs, peer, options, draw(testbeds()))
