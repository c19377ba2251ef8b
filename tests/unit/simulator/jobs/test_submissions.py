"""Submissions of workloads whose jobs are too many to be kept as objects."""

from __future__ import annotations

from typing import Any

import orjson
from msgspec.structs import replace

from batsched_py.model.job import Job
from batsched_py.model.packed_jobs import PackedJobs
from batsched_py.schedulers.fcfs import Fcfs
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from tests.unit.simulator.scenario import job, platform, workload


def test_packed_jobs_are_decoded_as_their_time_comes() -> None:
    """Not before the run, in which they would all be in memory: compiled, too."""
    plain = [job(f"{number:02d}", at=number) for number in range(50)]
    lines = [orjson.dumps(dict(each.members)) for each in plain]
    decoded: list[str] = []

    def build(members: dict[str, Any]) -> Job:
        decoded.append(members["id"])
        return Job(members["id"], members["subtime"], members["res"], None, members["profile"], members)

    packed = PackedJobs(b"".join(lines), build)
    for line, each in zip(lines, plain, strict=True):
        packed.add(line, each, each.profile)
    simulation = Simulation(platform(), [replace(workload(*plain), jobs=packed)])
    session, seen = Session(Fcfs), list[int]()

    def answer(request: bytes) -> bytes:
        seen.append(len(decoded))
        return session.answer(request)

    result = simulation.run(answer)
    assert len(result.jobs) == len(decoded) == len(plain)
    assert seen[0] < 5
    assert sorted(seen) == seen
    assert seen[len(seen) // 3] < 40
