"""Acceptance cases of leases, HA-1 to HA-31, HA-49, HA-50 and HA-55: what is requested, and what must become of it.

The numbers are those of Haizea's manual and of runs of the original, or, where it is mistaken, those that are required.
A lease is a line such as `BE 1 3600 @0`: kind, nodes, requested seconds, `@` submission; then, in any order, `real N`,
`start N`, `deadline N`, `cpu N`, `mem N`, `image NAME SIZE`, `kept` for one that is not preemptible.
Its outcome is a line such as `0-1768 suspend 1768-1800 resume 3600-3632 3632-5464`, in seconds: runs of its machines
are told without a kind, other reservations only if they take time; hosts follow `@` where they matter, as in
`0-900@0-3`. A run that is thrown away ends with `*`. `rejected` stands alone.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from batsched_py.leases.lease import Lease
from batsched_py.leases.observer import Observer
from batsched_py.leases.options import LeasesOptions
from batsched_py.leases.scheduler import LeaseScheduler
from batsched_py.model.job import Job
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.lease_terms import DiskImage
from batsched_py.model.profile import Delay
from batsched_py.model.workload import Workload
from batsched_py.results.lease_rows import ReservationRow
from batsched_py.session.option_values import parse_options
from tests.lease_driver import LeaseDriver, Request, site

KINDS: Final = {
    "BE": LeaseKind.BEST_EFFORT,
    "AR": LeaseKind.ADVANCE,
    "IM": LeaseKind.IMMEDIATE,
    "DL": LeaseKind.DEADLINE,
}
UNLIMITED: Final = 36500 * 86400
#: `suspend 1768-1800`, `0-900@0-3`, `0-900*`.
_SPAN: Final = re.compile(r"(?:([a-z-]+) )?([\d.]+)-([\d.]+)(\*?)(?:@([\d-]+))?")


class Span(NamedTuple):
    """A reservation of a lease, from a start to an end.

    Attributes:
        kind: vm, suspend, transfer...
        lost: it was thrown away.
        hosts: its hosts from 0; "" for any.
    """

    kind: str
    start: float
    end: float
    lost: bool = False
    hosts: str = ""


class HaCase(NamedTuple):
    """A case.

    Attributes:
        leases: requested, numbered from 1.
        becomes: what becomes of each of them.
        options: of the algorithm `leases`, beside RESERVATIONS_FIRST.
        hosts: their number.
    """

    leases: tuple[str, ...]
    becomes: tuple[str, ...] = ()
    options: Mapping[str, Any] = {}
    hosts: int = 4


#: What all cases have in common unless they say otherwise.
RESERVATIONS_FIRST: Final = {"policy_preemption": "ar-preempts-everything"}
_MULTICAST: Final = {"lease_preparation": "imagetransfer", "transfer_mechanism": "multicast"}
_UNICAST: Final = {**_MULTICAST, "transfer_mechanism": "unicast"}
_NO_SHARING: Final = {**_MULTICAST, "avoid_redundant_transfers": False}
_CACHE: Final = {**_MULTICAST, "diskimage_reuse": "image-caches"}
_ONE: Final = "BE 1 3600 @0"
_RESERVED: Final = "AR 4 1800 @900 start 1800"
_QUICKSTART: Final = (_ONE, _RESERVED)
_WITH_IMAGES: Final = (f"{_ONE} image foobar.img 1024", f"{_RESERVED} image foobar.img 1024")
_SUSPENDED: Final = "0-1768 suspend 1768-1800 resume 3600-3632 3632-5464"
_B1: Final = ("BE 1 3600 @0", "BE 4 1800 @0", "BE 4 1800 @0", "BE 1 900 @0", "BE 3 900 @0")
_FILLED: Final = ("0-3600", "3600-5400", "5400-7200", "0-900", "900-1800")
_B5: Final = ("BE 1 3600 @0 real 1800", "BE 4 900 @0", "BE 1 3600 @900")
_PACKED: Final = ("BE 4 3600 @0 cpu 50 mem 512", "AR 2 900 @600 start 1800")
_VICTIMS: Final = (*(f"BE 1 7200 @{time}" for time in (0, 300, 600, 900)), "AR 2 900 @1200 start 1800")
_REUSE1: Final = ("AR 1 900 @0 start 900 image X 1024", "BE 1 900 @2700 image X 1024")
_REUSE2: Final = (
    "AR 2 900 @0 start 900 image X 1024",
    "AR 2 900 @0 start 900 image Y 1024",
    "BE 1 900 @2700 image Y 1024",
)
_TWO_ALIKE: Final = ("BE 1 900 @0 image X 640", "BE 1 900 @0 image X 640")
_THREE: Final = (
    "BE 1 900 @0 image a.img 1024",
    "BE 1 900 @0 image b.img 1024",
    "BE 2 900 @0 image b.img 1024",
)
_SHARED_HOST: Final = ("BE 1 900 @0 cpu 50 mem 512 image X 640",) * 2
_NO_TIME: Final = {"override_suspend_time": 0, "override_resume_time": 0}

CASES: Final[Mapping[str, HaCase]] = {
    "HA-1": HaCase((_ONE,), ("0-3600",)),
    "HA-2": HaCase(_QUICKSTART, (_SUSPENDED, "1800-3600")),
    "HA-3": HaCase(_QUICKSTART, ("0-900* 3600-7200", "1800-3600"), {"suspension": "none"}),
    "HA-4": HaCase(
        _WITH_IMAGES,
        (
            "transfer 0-82 82-1768 suspend 1768-1800 resume 3600-3632 3632-5546",
            "transfer 1718-1800 1800-3600",
        ),
        _MULTICAST,
    ),
    "HA-5": HaCase(
        _WITH_IMAGES,
        (
            "transfer 0-82 82-1768 suspend 1768-1800 resume 3600-3632 3632-5546",
            "transfer 1472-1800 1800-3600",
        ),
        _UNICAST,
    ),
    "HA-6": HaCase(
        _WITH_IMAGES,
        (
            "transfer 0-60 60-1768 suspend 1768-1800 resume 3600-3632 3632-5524",
            "transfer 1740-1800 1800-3600",
        ),
        {**_MULTICAST, "force_imagetransfer_time": 60},
    ),
    "HA-7": HaCase(_QUICKSTART, ("0-3600", "rejected"), {"policy_preemption": "no-preemption"}),
    "HA-8": HaCase(_QUICKSTART, ("0-3600", "rejected"), {"policy_admission": "no-ARs"}),
    "HA-9": HaCase(
        _QUICKSTART, (f"{_SUSPENDED} shutdown 5464-5474", "1800-3590 shutdown 3590-3600"), {"shutdown_time": 10}
    ),
    "HA-10": HaCase(
        _QUICKSTART,
        (
            "0-1766 suspend 1766-1800 resume 3600-3634 3634-5468 shutdown 5468-5470",
            "1800-3592 shutdown 3592-3600",
        ),
        {"enactment_overhead": 2},
    ),
    "HA-12": HaCase(_QUICKSTART, (_SUSPENDED, "1800-3600"), {"suspension": "serial-only"}),
    **{
        f"HA-14-{exclusion}": HaCase(
            _QUICKSTART,
            ("0-1770 suspend 1770-1800 resume 3600-3620 3620-5450", "1800-3600"),
            {"override_suspend_time": 30, "override_resume_time": 20, "suspendresume_exclusion": exclusion},
        )
        for exclusion in ("global", "local")
    },
    "HA-15": HaCase(_QUICKSTART, (_SUSPENDED, "1800-3600"), {"backfilling": "off"}),
    "HA-16": HaCase((f"{_ONE} kept", _RESERVED), ("0-3600", "rejected")),
    "HA-17": HaCase(
        (f"{_ONE} real 2700", "AR 4 900 @900 start 1800"),
        ("0-1768 suspend 1768-1800 resume 2700-2732 2732-3664", "1800-2700"),
    ),
    "HA-17-early": HaCase(
        (f"{_ONE} real 2700", "AR 4 900 @900 start 1800 real 600"),
        ("0-1768 suspend 1768-1800 resume 2400-2432 2432-3364", "1800-2400"),
    ),
    "HA-18": HaCase((_ONE, "BE 4 900 @900"), ("0-3600", "3600-4500")),
    "HA-18-early": HaCase((f"{_ONE} real 1800", "BE 4 900 @900"), ("0-1800", "1800-2700")),
    **{
        f"HA-20-{mode.partition(' ')[0]}": HaCase(
            ("BE 4 900 @0",) * 8,
            tuple(f"{900 * k}-{900 * (k + 1)}" for k in range(8)),
            {"backfilling": mode, **({"backfilling_reservations": 3} if mode == "intermediate" else {})},
        )
        for mode in ("off", "aggressive", "intermediate", "conservative")
    },
    "HA-20-images": HaCase(
        tuple(f"BE 4 900 @0 image {k}.img 1024" for k in range(8)),
        (
            "transfer 0-82 82-982",
            *(f"transfer {82 * k}-{82 * k + 82} {82 + 900 * k}-{982 + 900 * k}" for k in range(1, 8)),
        ),
        {**_MULTICAST, "backfilling": "conservative"},
    ),
    "HA-21-reuse1": HaCase(_REUSE1, ("transfer 818-900 900-1800", "transfer 2700-2782 2782-3682"), _MULTICAST),
    "HA-21-reuse1-cached": HaCase(_REUSE1, ("transfer 818-900 900-1800", "2700-3600"), _CACHE),
    "HA-21-reuse2": HaCase(
        _REUSE2,
        ("transfer 818-900 900-1800", "transfer 736-818 900-1800", "transfer 2700-2782 2782-3682@0"),
        _MULTICAST,
    ),
    "HA-21-reuse2-cached": HaCase(
        _REUSE2, ("transfer 818-900 900-1800", "transfer 736-818 900-1800", "2700-3600@2"), _CACHE
    ),
    "HA-22-B1-off": HaCase(_B1, ("0-3600", "3600-5400", "5400-7200", "7200-8100", "7200-8100"), {"backfilling": "off"}),
    "HA-22-B1-aggressive": HaCase(_B1, _FILLED),
    "HA-22-B1-intermediate": HaCase(_B1, _FILLED, {"backfilling": "intermediate", "backfilling_reservations": 2}),
    "HA-22-B1-conservative": HaCase(_B1, _FILLED, {"backfilling": "conservative"}),
    "HA-22-B2": HaCase(("BE 1 7200 @0 real 900", "BE 4 1800 @0", "BE 4 1800 @0"), ("0-900", "900-2700", "2700-4500")),
    "HA-22-B3": HaCase(
        ("BE 2 3600 @0 real 900", "BE 4 900 @0", "BE 2 3600 @0 real 900"), ("0-900", "900-1800", "0-900")
    ),
    "HA-22-B4": HaCase(("BE 4 3600 @0 real 1800", "BE 1 900 @900"), ("0-1800", "1800-2700")),
    "HA-22-B5": HaCase(_B5, ("0-1800", "3600-4500", "900-3568 suspend 3568-3600 resume 4500-4532 4532-5464")),
    "HA-22-B5-off": HaCase(_B5, ("0-1800", "1800-2700", "2700-6300"), {"backfilling": "off"}),
    "HA-22-B6": HaCase(
        ("BE 4 1800 @0 real 900", "BE 1 900 @0", "BE 3 900 @0", "BE 4 900 @0"),
        ("0-900", "900-1800", "900-1800", "1800-2700"),
    ),
    "HA-22-B7": HaCase(
        (
            "AR 1 900 @0 start 3600 mem 640",
            "BE 1 1800 @0 real 900 mem 640",
            "BE 4 3600 @0 real 1800 mem 640",
        ),
        ("3600-4500", "0-900", "900-2700"),
    ),
    "HA-23-F1": HaCase(("AR 4 900 @0 start 60", _ONE), ("60-960", "960-4560")),
    "HA-23-F0": HaCase(
        ("AR 4 900 @0 start 60", _ONE),
        ("60-960", "0-28 suspend 28-60 resume 960-992 992-4564"),
        {"scheduling_threshold_factor": 0},
    ),
    "HA-23-F1-64": HaCase(("AR 4 900 @0 start 64", _ONE), ("64-964", "0-32 suspend 32-64 resume 964-996 996-4564")),
    "HA-24-local": HaCase(
        _PACKED,
        ("0-1768 suspend 1768-1784 suspend 1784-1800 resume 2700-2716 resume 2716-2732 2732-4564", "1800-2700"),
        hosts=2,
    ),
    "HA-24-global": HaCase(
        _PACKED,
        (
            "0-1736 suspend 1736-1752 suspend 1752-1768 suspend 1768-1784 suspend 1784-1800"
            " resume 2700-2716 resume 2716-2732 resume 2732-2748 resume 2748-2764 2764-4628",
            "1800-2700",
        ),
        {"suspendresume_exclusion": "global"},
        hosts=2,
    ),
    "HA-24-local-overhead": HaCase(
        _PACKED,
        (
            "0-1760 suspend 1760-1780 suspend 1780-1800 resume 2700-2720 resume 2720-2740 2740-4580 shutdown 4580-4588",
            "1800-2696 shutdown 2696-2700",
        ),
        {"enactment_overhead": 2},
        hosts=2,
    ),
    "HA-24-global-overhead": HaCase(
        _PACKED,
        (
            "0-1728 suspend 1728-1746 suspend 1746-1764 suspend 1764-1782 suspend 1782-1800"
            " resume 2700-2718 resume 2718-2736 resume 2736-2754 resume 2754-2772 2772-4644 shutdown 4644-4652",
            "1800-2696 shutdown 2696-2700",
        ),
        {"enactment_overhead": 2, "suspendresume_exclusion": "global"},
        hosts=2,
    ),
    "HA-25": HaCase(("BE 3 3600 @0", "IM 1 1800 @600", "IM 1 1800 @900"), ("0-3600", "600-2400", "rejected")),
    "HA-25-images": HaCase(
        ("BE 3 3600 @0 image X 1024", "IM 1 1800 @600 image X 1024"),
        ("transfer 0-82 82-3682", "transfer 600-682 682-2482"),
        _MULTICAST,
    ),
    "HA-26-a": HaCase(("AR 1 900 @0 start 3600 image X 640",), ("transfer 3548-3600 3600-4500",), _MULTICAST),
    "HA-26-b": HaCase(_TWO_ALIKE, ("transfer 0-52 52-952", "transfer 52-104 104-1004"), _NO_SHARING),
    "HA-26-b-unicast": HaCase(_TWO_ALIKE, ("transfer 0-52 52-952", "transfer 52-104 104-1004"), _UNICAST),
    "HA-26-c": HaCase(_TWO_ALIKE, ("transfer 0-52 52-952", "52-952"), _MULTICAST),
    "HA-26-d": HaCase(
        _THREE, ("transfer 0-82 82-982", "transfer 82-164 164-1064", "transfer 164-246 246-1146"), _NO_SHARING
    ),
    "HA-26-d-unicast": HaCase(
        _THREE, ("transfer 0-82 82-982", "transfer 82-164 164-1064", "transfer 164-328 328-1228"), _UNICAST
    ),
    "HA-26-d-shared": HaCase(_THREE, ("transfer 0-82 82-982", "transfer 82-164 164-1064", "164-1064"), _MULTICAST),
    "HA-26-f": HaCase(
        ("AR 1 900 @0 start 3600 image X 640", "AR 1 900 @0 start 3300 image Y 640"),
        ("transfer 3548-3600 3600-4500", "transfer 3248-3300 3300-4200"),
        _MULTICAST,
    ),
    "HA-26-g": HaCase(("AR 1 900 @0 start 60 image X 1024",), ("rejected",), _MULTICAST),
    "HA-27": HaCase(
        _VICTIMS,
        (
            "0-7200",
            "300-7500",
            "600-1768 suspend 1768-1800 resume 2700-2732 2732-8764",
            "900-1768 suspend 1768-1800 resume 2700-2732 2732-9064",
            "1800-2700",
        ),
    ),
    "HA-27-oldest": HaCase(
        _VICTIMS,
        (
            "0-1768 suspend 1768-1800 resume 2700-2732 2732-8164",
            "300-1768 suspend 1768-1800 resume 2700-2732 2732-8464",
            "600-7800",
            "900-8100",
            "1800-2700",
        ),
        {"victim_order": "oldest"},
    ),
    "HA-30-one": HaCase(
        ("AR 8 900 @0 start 1800", "BE 1 3600 @900 real 1800"), ("1800-2700", "900-1800 2700-3600"), _NO_TIME, 8
    ),
    "HA-30-one-by-request": HaCase(
        ("AR 8 900 @0 start 1800", "BE 1 3600 @900"), ("1800-2700", "900-1800 2700-5400"), _NO_TIME, 8
    ),
    "HA-30-two": HaCase(
        ("AR 8 900 @0 start 1800", "AR 8 900 @0 start 4500", "BE 1 3600 @900 real 1800"),
        ("1800-2700", "4500-5400", "900-1800 2700-3600"),
        _NO_TIME,
        8,
    ),
    "HA-30-long": HaCase(
        ("AR 8 900 @0 start 1800", "AR 8 900 @0 start 4500", "BE 1 4500 @900 real 3600"),
        ("1800-2700", "4500-5400", "900-1800 2700-4500 5400-6300"),
        _NO_TIME,
        8,
    ),
    "HA-30-long-by-request": HaCase(
        ("AR 8 900 @0 start 1800", "AR 8 900 @0 start 4500", "BE 1 4500 @900"),
        ("1800-2700", "4500-5400", "900-1800 2700-4500 5400-7200"),
        _NO_TIME,
        8,
    ),
    "HA-31": HaCase((f"BE 1 {UNLIMITED} @0 real 900", "BE 4 900 @0"), ("0-900", "900-1800")),
    **{
        name: HaCase(
            ("BE 1 3600 @0 mem 960 image X 100", f"AR 4 900 @0 start {start}"),
            (becomes, f"{start}-{start + 900}"),
            {**_MULTICAST, "force_imagetransfer_time": 60, "threshold_includes_preparation": included},
        )
        for name, start, included, becomes in (
            ("HA-49-180", 180, True, "transfer 0-60 60-150 suspend 150-180 resume 1080-1110 1110-4620"),
            ("HA-49-179", 179, True, "transfer 0-60 1079-4679"),
            ("HA-49-off", 179, False, "transfer 0-60 60-149 suspend 149-179 resume 1079-1109 1109-4620"),
        )
    },
    "HA-50": HaCase(_SHARED_HOST, ("transfer 0-52 52-952", "52-952"), _UNICAST, hosts=1),
    "HA-50-alone": HaCase(
        _SHARED_HOST,
        ("transfer 0-52 52-952", "transfer 52-104 104-1004"),
        {**_UNICAST, "avoid_redundant_transfers": False},
        hosts=1,
    ),
    "HA-55": HaCase(
        ("AR 1 600 @0 start 120", *(["BE 4 600 @180"] * 5)),
        ("120-720", *(f"{720 + 600 * k}-{1320 + 600 * k}" for k in range(5))),
    ),
}


def expected(case: HaCase) -> list[list[Span]]:
    """Return what each lease of a case must have, in order of time; nothing for one that is rejected."""
    return [
        [
            Span(kind or "vm", float(start), float(end), bool(lost), hosts or "")
            for kind, start, end, lost, hosts in _SPAN.findall(outcome)
        ]
        for outcome in case.becomes
    ]


def told(rows: Iterable[ReservationRow], count: int) -> list[list[Span]]:
    """Return what each of so many leases had, by the ledger of a run."""
    found: list[list[Span]] = [[] for _ in range(count)]
    for row in rows:
        assert row.end is not None, f"{row} is not over"
        if row.kind == "vm" or row.start < row.end:
            found[row.lease - 1].append(Span(row.kind, row.start, row.end, bool(row.lost), row.hosts))
    return found


class Asked(NamedTuple):
    """A line of a case, read."""

    kind: str
    nodes: int
    duration: float
    submit: float
    real: float
    start: float | None
    deadline: float | None
    cpu: float
    memory: float
    image: tuple[str, float] | None
    kept: bool


def read_line(line: str) -> Asked:
    kind, nodes, duration, submit, *words = line.split()
    terms = {word: words[index + 1 : index + 3] for index, word in enumerate(words)}
    number = {name: float(terms[name][0]) for name in ("real", "start", "deadline", "cpu", "mem") if name in terms}
    image = terms.get("image")
    return Asked(
        kind,
        int(nodes),
        float(duration),
        float(submit.removeprefix("@")),
        number.get("real", float(duration)),
        number.get("start"),
        number.get("deadline"),
        number.get("cpu", 100.0),
        number.get("mem", 1024.0),
        None if image is None else (image[0], float(image[1])),
        "kept" in terms,
    )


def options_of(case: HaCase) -> dict[str, Any]:
    """Return the options of the algorithm `leases`."""
    return {**RESERVATIONS_FIRST, **case.options}


def driver(case: HaCase, observer: Observer, **rules: Any) -> LeaseDriver:
    """Return a run of a case that is yet to be made, without messages; `rules` go over its settings."""
    options = parse_options(LeasesOptions, options_of(case), "leases")
    settings = dataclasses.replace(options.settings(stoppable=True), **rules)
    scheduler = LeaseScheduler(site(case.hosts), settings, options.policies(), options.transfers(), observer)
    return LeaseDriver(scheduler, [_request(number, read_line(line)) for number, line in enumerate(case.leases, 1)])


def _request(number: int, asked: Asked) -> Request:
    lease = Lease(
        number,
        KINDS[asked.kind],
        asked.submit,
        asked.duration,
        ((asked.cpu, asked.memory),) * asked.nodes,
        start=asked.submit if asked.kind == "DL" and asked.start is None else asked.start,
        deadline=asked.deadline,
        preemptible=asked.kind in ("BE", "DL") and not asked.kept,
        software=None if asked.image is None else DiskImage(*asked.image),
    )
    return Request(lease, asked.real)


def workload(case: HaCase) -> Workload:
    """Return the leases of a case as jobs."""
    requests = [read_line(line) for line in case.leases]
    profiles = {f"d{asked.real:g}": asked.real for asked in requests}
    width = len(str(len(requests)))  # Batsim puts jobs of one instant in order by their names
    jobs = [_job(f"{number:0{width}}", asked) for number, asked in enumerate(requests, 1)]
    return Workload(
        "the case",
        case.hosts,
        tuple(sorted(jobs, key=lambda job: (job.submit_time, job.id))),
        {name: Delay(name, "delay", {"type": "delay", "delay": real}, real) for name, real in profiles.items()},
    )


def _job(name: str, asked: Asked) -> Job:
    terms: dict[str, Any] = {"capacity": {"cpu": asked.cpu, "memory": asked.memory}}
    terms["preemptible"] = asked.kind in ("BE", "DL") and not asked.kept
    if asked.deadline is not None:
        terms["deadline"] = asked.deadline
    if asked.kind == "IM" or asked.start is not None:
        terms["start"] = "now" if asked.kind == "IM" else asked.start
    if asked.image is not None:
        terms["software"] = {"image": asked.image[0], "size": asked.image[1]}
    return Job.create(
        name,
        size=asked.nodes,
        profile=f"d{asked.real:g}",
        submit_time=asked.submit,
        walltime=asked.duration,
        extra={"lease": terms},
    )
