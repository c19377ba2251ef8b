"""Acceptance cases of timelines: what is written, who resumes, and the experiment times that must come out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct, field

from batsched_py.timelines.api import (
    Drop,
    ExternalResume,
    Program,
    TimelineRun,
    Timelines,
    Transfer,
    parse_timelines,
    play,
)

#: Times by VM and entry; None for what is held for ever or not run.
Times = Mapping[str, Mapping[str, float | None]]

Entries = list[dict[str, Any]]


class FaCase(Struct, frozen=True):
    """A document, resumes (experiment time or `launch+S`, and a VM), and what comes out."""

    document: Mapping[str, Any]
    times: Times
    resumes: tuple[float | str | tuple[str, float], ...] = ()
    start: float | None = None
    configured: Mapping[str, float | None] = field(default_factory=dict)


def read(document: Mapping[str, Any]) -> Timelines:
    """The timelines of a document."""
    return parse_timelines("t.json", document)


def requested(resume: float | str | tuple[str, float]) -> ExternalResume:
    """As the command reads them."""
    if isinstance(resume, tuple):
        return ExternalResume(resume[1], (resume[0],))
    if isinstance(resume, str):
        return ExternalResume(float(resume.removeprefix("launch+")), after_launch=True)
    return ExternalResume(resume)


def played(document: Mapping[str, Any], *resumes: float | str | tuple[str, float]) -> TimelineRun:
    """A whole run."""
    return play(read(document), [requested(one) for one in resumes])[0]


def times(run: TimelineRun) -> Times:
    """When entries began."""
    return {
        name: {
            record.entry.name: record.time
            for record in vm.records.values()
            if isinstance(record.entry.action, Program | Drop | Transfer)
        }
        for name, vm in run.vms.items()
    }


def run(name: str, at: Any, **more: Any) -> dict[str, Any]:
    """An entry with a program."""
    return {"at": at, "run": name, **more}


def pause(duration: Any, at: Any, **more: Any) -> dict[str, Any]:
    """A pause."""
    return {"at": at, "pause": duration, **more}


def hold(at: Any, **more: Any) -> dict[str, Any]:
    """A break."""
    return {"at": at, "break": True, **more}


def one(*entries: dict[str, Any], **rules: Any) -> dict[str, Any]:
    """A document with one VM."""
    return {"vms": {"vm": list(entries)}, **rules}


def vm(**expected: float | None) -> Times:
    """Return the expected times of the one VM."""
    return {"vm": expected}


FA_1: Final = one(run("P1", 10), hold(15), run("P2", 30), run("P3", 50))
_FA_24: Final = one(hold(5), run("B", 10), hold(12), run("C", 20))
_FA_15: Final = {
    "buffer": 60,
    "vms": {
        "vm1": [run("a", -100, takes=30), run("b", -100, takes=50), run("c", -99, takes=10), run("p", 30)],
        "vm2": [run("d", -1, takes=200), run("p", 30)],
    },
}

#: Number of the specification -> the case; a letter where a number has several.
CASES: Final[Mapping[str, FaCase]] = {
    "FA-1": FaCase(FA_1, vm(P1=10, P2=1015, P3=1035), (1000,)),
    "FA-2": FaCase(FA_1, vm(P1=10, P2=None, P3=None)),
    "FA-3": FaCase(one(pause(60, 5), run("P1", 10)), vm(P1=70)),
    "FA-5": FaCase(one(run("A", 1), pause(60, 5), run("B", 10), pause(30, 12), run("C", 20)), vm(A=1, B=70, C=110)),
    "FA-6": FaCase(one(run("N", -5), pause(60, 0), run("A", 1)), vm(N=-5, A=61)),
    "FA-8": FaCase(one(pause(60, 5), run("B", 10), hold(12), run("C", 20)), vm(B=70, C=508), (500,)),
    "FA-10": FaCase(one(pause(60, 5), run("B", 10)), vm(B=70), (20,)),
    "FA-11": FaCase(one(hold(5), run("B", 10), run("N", 60, added=50)), vm(B=105, N=155), (100,)),
    "FA-12": FaCase(one(hold("-inf"), run("N", -5), run("A", 10)), vm(N=-5, A=10), ("launch+30",), start=90),
    "FA-14": FaCase(one(run("A", 10), run("N", 150, added=100)), vm(A=10, N=150), (100,)),
    "FA-15": FaCase(
        _FA_15,
        {"vm1": {"a": -100, "b": -100, "c": -99, "p": 30}, "vm2": {"d": -1, "p": 30}},
        start=260,
        configured={"vm1": 60, "vm2": 200},
    ),
    "FA-16": FaCase(
        {"vms": {"vm": [], "other": {"managed": False, "launch": 500}}},
        {"vm": {}, "other": {}},
        start=60,
        configured={"vm": 0, "other": None},
    ),
    "FA-17": FaCase(one(run("p", 10, takes=100), run("q", 20)), vm(p=10, q=20)),
    "FA-19": FaCase(FA_1, vm(P1=10, P2=None, P3=None), (5,)),
    "FA-20": FaCase(FA_1, vm(P1=10, P2=1015, P3=1035), (5, 1000)),
    "FA-21": FaCase(FA_1, vm(P1=10, P2=1015, P3=1035), (1000, 1010)),
    "FA-23": FaCase(FA_1, vm(P1=10, P2=30, P3=50), (15,)),
    "FA-24a": FaCase(_FA_24, vm(B=105, C=308), (100, 300)),
    "FA-24b": FaCase(_FA_24, vm(B=105, C=None), (100, 106)),
    "FA-26": FaCase(one(pause(60, 5), run("B", 10), hold(12), pause(30, 15), run("C", 20)), vm(B=70, C=538), (500,)),
    "FA-27a": FaCase(one(pause(60, 10), hold(10), run("C", 11)), vm(C=501), (500,)),
    "FA-27b": FaCase(one(hold(10), pause(60, 10), run("C", 11)), vm(C=561), (500,)),
    "FA-27c": FaCase(one(pause(60, 10), pause(30, 10), run("C", 11)), vm(C=101)),
    "FA-28": FaCase(
        one(pause(60, "-inf"), run("N", -5), run("A", 10)), vm(N=-5, A=10), start=120, configured={"vm": 60}
    ),
    "FA-29": FaCase(one(hold("-inf"), pause(60, 5), run("A", 10)), vm(A=70), ("launch+20",)),
    "FA-30a": FaCase(one(run("N", -5), hold(0), run("A", 10), run("C", 50)), vm(N=-5, A=None, C=None), (-30,)),
    "FA-30b": FaCase(one(run("N", -5), hold(0), run("A", 10), run("C", 50)), vm(N=-5, A=50, C=90), (-30, 40)),
    "FA-31": FaCase(one(pause(60, 5), run("B", 10), run("N", 100, added=50)), vm(B=70, N=160)),
    "FA-32": FaCase(one(run("A", 10), run("B", 200), pause(30, 60, added=50)), vm(A=10, B=230)),
    "FA-34": FaCase(one(hold(5), run("B", 10), run("N", 60, added=200)), vm(B=105, N=200), (100,)),
    "FA-35": FaCase(one(run("A", 10), run("X", -100000, added=100)), vm(A=10, X=100), start=60, configured={"vm": 0}),
    "FA-38": FaCase(
        one(run("a", -10, takes=5, exit=[10, 0]), run("b", -10, takes=20), run("c", -9, takes=1), reboot_delay=30),
        vm(a=-10, b=-10, c=-9),
        configured={"vm": 56},
    ),
    "FA-42": FaCase(
        {"vms": {"vm1": [], "vm2": {"launch": 500, "entries": [run("d", -1, takes=40)]}}},
        {"vm1": {}, "vm2": {"d": -1}},
        start=600,
    ),
    "FA-43": FaCase(
        {"vms": {"vm1": [hold(5), run("B", 10)], "vm2": [{"at": 100, "resume": ["vm1"]}]}},
        {"vm1": {"B": 105}, "vm2": {}},
    ),
    "FA-45": FaCase(
        {"vms": {"vm1": [hold(5), run("B", 10)], "vm2": [hold(5), run("B", 10)]}},
        {"vm1": {"B": 105}, "vm2": {"B": None}},
        (("vm1", 100),),
    ),
    "FA-47": FaCase(
        {
            "vms": {name: [run("A", 10), run("B", 20)] for name in ("vm1", "vm2", "vm3")}
            | {"other": {"managed": False}, "*": [pause(60, 10)]}
        },
        {name: {"A": 10, "B": 80} for name in ("vm1", "vm2", "vm3")} | {"other": {}},
    ),
    "FA-48": FaCase(
        {"vms": {"vm1": [pause(60, 5), run("A", 10)], "vm2": [run("A", 10)]}}, {"vm1": {"A": 70}, "vm2": {"A": 10}}
    ),
    "FA-50": FaCase(
        one({"at": -5, "transfer": "/var/log", "interval": 60}, run("n", -4)),
        {"vm": {"/var/log": -5, "n": -4}},
        configured={"vm": 0},
    ),
    "FA-54": FaCase(one(run("A", 10)), vm(A=10), start=60, configured={"vm": 0}),
    "FA-55": FaCase({"vms": {"vm": {"managed": False, "launch": 7}}}, {"vm": {}}, start=67, configured={"vm": None}),
    "FA-56": FaCase(
        {"vms": {name: [run("n", -1, takes=40), run("p", 1)] for name in ("vm1", "vm2")}},
        {name: {"n": -1, "p": 1} for name in ("vm1", "vm2")},
        start=100,
        configured={"vm1": 40, "vm2": 40},
    ),
}
