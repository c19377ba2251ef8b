"""Traces that profiles replay: what is read, and what is refused."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from batsched_py.errors import WorkloadError
from batsched_py.model.replay import Smpi, SmpiAction, UsageStep, UsageTrace
from batsched_py.model.workload import Workload
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.traces.batsim_json import read_workload


def read(
    folder: Path, *ranks: str, kind: str = "smpi", trace: str = "tr/list.txt", limits: Limits = LIMITS
) -> Workload:
    """Read a workload of one job; each rank has a file in the folder tr."""
    (folder / "tr").mkdir(exist_ok=True)
    for rank, text in enumerate(ranks):
        (folder / "tr" / f"r{rank}.txt").write_text(text)
    (folder / "tr" / "list.txt").write_text("".join(f"r{rank}.txt\n" for rank in range(len(ranks))))
    path = folder / "workload.json"
    jobs = [{"id": "0", "subtime": 0, "res": 2, "profile": "p"}]
    path.write_bytes(orjson.dumps({"nb_res": 4, "jobs": jobs, "profiles": {"p": {"type": kind, "trace": trace}}}))
    return read_workload(path, limits=limits)


def test_usage_is_read_step_by_step(tmp_path: Path) -> None:
    """Comments, blanks, tabs; what Batsim does not replay is reported."""
    text = "# rank 0\n\n0 m_usage 0.5 1e9\n1 m_usage 1 1\n 0\tm_usage 1 2e9\n0 m_usage 1 3e9"
    workload = read(tmp_path, text, "1 m_usage 0 5\n", kind="usage_trace")
    profile = workload.profiles["p"]
    assert isinstance(profile, UsageTrace)
    assert profile.ranks == ((UsageStep(0.5, 1e9), UsageStep(1.0, 2e9)), (UsageStep(0.0, 5.0),))
    assert [note.partition(": ")[2].partition(",")[0] for note in workload.notes] == [
        "a last line without a line break is not replayed",
        "lines of another rank are not replayed",
    ]


def test_sizes_are_in_bytes(tmp_path: Path) -> None:
    """Elements are bytes, or doubles after `init` with a word, or of the type that an action names."""
    workload = read(
        tmp_path, "0 init\n0 send 1 7 100\n0 send 1 7 100 1\n", "1 init 0\n1 recv 0 7 100\n1 bcast 10 1 3\n"
    )
    profile = workload.profiles["p"]
    assert isinstance(profile, Smpi)
    assert profile.ranks[0][1:] == (SmpiAction("send", 1, 7, (100.0,)), SmpiAction("send", 1, 7, (400.0,)))
    assert profile.ranks[1][1:] == (SmpiAction("recv", 0, 7, (800.0,)), SmpiAction("bcast", 1, 0, (20.0,)))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sendRecv 5 1 6 0", SmpiAction("sendRecv", 1, 0, (5.0, 6.0), source=0)),
        ("reduce 5 1e3 1", SmpiAction("reduce", 1, 0, (5.0,), 1000.0)),
        ("allreduce 5 1e3 0", SmpiAction("allreduce", 0, 0, (40.0,), 1000.0)),
        ("gather 5 5 1", SmpiAction("gather", 1, 0, (5.0,))),
        ("gatherv 5 6 7 1", SmpiAction("gatherv", 1, 0, (5.0, 6.0, 7.0))),
        ("scatterv 6 7 5 1", SmpiAction("scatterv", 1, 0, (6.0, 7.0))),
        ("allgatherv 5 6 7", SmpiAction("allgatherv", 0, 0, (5.0, 6.0, 7.0))),
        ("alltoallv 9 1 2 9 3 4", SmpiAction("alltoallv", 0, 0, (1.0, 2.0, 3.0, 4.0))),
        ("reducescatter 5 5 1e3", SmpiAction("reducescatter", 0, 0, (5.0, 5.0), 1000.0)),
        ("scan 5 1e3", SmpiAction("scan", 0, 0, (5.0,), 1000.0)),
        ("sleep 2.5", SmpiAction("sleep", amount=2.5)),
    ],
)
def test_the_parameters_of_an_action(tmp_path: Path, line: str, expected: SmpiAction) -> None:
    """In SimGrid's order."""
    profile = read(tmp_path, f"0 {line}\n", "1 finalize\n").profiles["p"]
    assert isinstance(profile, Smpi)
    assert profile.ranks[0] == (expected,)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("fly 3", r"r0\.txt: line 1: action 'fly': unknown; "),
        ("send 1 0", "send must have 3 parameters at least, not 2"),
        ("send 2 0 100", "send: rank 2 does not exist: there are 2"),
        ("send 1 0 -5", "send: parameter 3 must be a number from 0, not '-5'"),
        (
            "recv -1 0 100",
            "recv: parameter 1 must be a whole number from 0, not '-1': receives from any source are not",
        ),
        ("send 1 0 100 99", "send: type 99 is not simulated; there are 0, 1, 2"),
        ("compute", "compute must have 1 parameters at least"),
        ("compute 1 2", "compute has at most 1 parameters, not 2"),
        ("compute nan", "compute: parameter 1 must be a number from 0"),
        ("reducescatter 5 6 1e3", "reducescatter is simulated for equal counts only"),
    ],
)
def test_an_action_that_is_not_covered_is_named(tmp_path: Path, line: str, rule: str) -> None:
    """With the file and the line."""
    with pytest.raises(WorkloadError, match=rule):
        read(tmp_path, f"0 {line}\n", "1 finalize\n")


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("0 m_usage 1.5 1", r"r0\.txt: line 1: the usage must be from 0 to 1, not 1\.5"),
        ("0 m_usage 1 -1", "the flops must be at least 0, not -1"),
        ("0 m_usage 1", "m_usage must have a usage and a number of flops"),
        ("0 m_usage inf 1", "must have numbers after the action, not 'inf'"),
        ("0 compute 1", "the action must be m_usage, not 'compute'"),
    ],
)
def test_a_usage_that_batsim_refuses_is_refused(tmp_path: Path, line: str, rule: str) -> None:
    """With the file and the line."""
    with pytest.raises(WorkloadError, match=rule):
        read(tmp_path, f"{line}\n", kind="usage_trace")


def test_files_stay_below_the_folder_of_the_workload(tmp_path: Path) -> None:
    """A workload from elsewhere opens nothing else."""
    outside = tmp_path / "outside.txt"
    outside.write_text("0 finalize\n")
    folder = tmp_path / "inside"
    folder.mkdir()
    for trace in ("../outside.txt", str(outside), "tr/../../outside.txt"):
        with pytest.raises(WorkloadError, match="must name a file below the folder of the workload"):
            read(folder, "0 finalize\n", trace=trace)
    (folder / "link.txt").symlink_to(outside)
    with pytest.raises(WorkloadError, match="must name a file below the folder of the workload"):
        read(folder, "0 finalize\n", trace="link.txt")
    with pytest.raises(WorkloadError, match=r"nothing\.txt: "):
        read(folder, "0 finalize\n", trace="nothing.txt")


def test_the_number_of_actions_is_bounded(tmp_path: Path) -> None:
    """Of all ranks together."""
    with pytest.raises(
        WorkloadError, match=r"r1\.txt: line 1: must be at most 2 actions \(--limit actions=N allows more"
    ):
        read(tmp_path, "0 init\n0 finalize\n", "1 init\n", limits=Limits(actions=2))


def test_mpi_calls_are_no_step_of_a_profile(tmp_path: Path) -> None:
    """Batsim crashes."""
    (tmp_path / "l.txt").write_text("r.txt\n")
    (tmp_path / "r.txt").write_text("0 init\n")
    profiles = {"p": {"type": "smpi", "trace": "l.txt"}, "s": {"type": "composed", "seq": ["p"], "repeat": 1}}
    path = tmp_path / "w.json"
    path.write_bytes(orjson.dumps({"nb_res": 4, "jobs": [], "profiles": profiles}))
    with pytest.raises(WorkloadError, match=r"profiles\.s\.seq: names 'p', of type smpi, which cannot be a step"):
        read_workload(path)
