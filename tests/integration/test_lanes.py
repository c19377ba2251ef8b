"""Gantt charts of jobs that share hosts: lanes of hosts and of GPUs, in the terminal, in files and on pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from batsched_py.errors import InputError
from batsched_py.hostset import HostSet
from batsched_py.model.demand import TaskDemand
from batsched_py.reporting.api import Schedule, schedule_of
from batsched_py.reporting.pictures.html.content import pack
from batsched_py.reporting.pictures.lanes import LaneChart, Rows, gpus_known, lane_chart
from batsched_py.reporting.pictures.terminal.gantt import render
from batsched_py.reporting.pictures.window import number_jobs, window_on
from batsched_py.runs.result_writer import write_result
from tests.drawing import drawn
from tests.integration.packed_runs import JOBS, packed_workload, run_packed
from tests.integration.programs import run_here
from tests.integration.test_packed_conversations import SPECS


def packed(specs: object = SPECS, name: str = "filler") -> Schedule:
    """A run of these jobs."""
    return schedule_of(run_packed(name, {}, packed_workload(specs))[0], "packed")  # type: ignore[arg-type]


def chart(schedule: Schedule, rows: Rows = "host") -> LaneChart | None:
    """The lanes of a whole run."""
    return lane_chart(schedule, window_on([schedule]), number_jobs([schedule]), rows)


@pytest.mark.parametrize("rows", ["host", "gpu"])
@pytest.mark.parametrize("name", ["filler", "ar_preempt"])
def test_no_job_hides_another(name: str, rows: Rows) -> None:
    """At each time, a lane is of one job; each job has lanes in the rows of its hosts."""
    for specs in drawn(JOBS, 6):
        schedule = packed(specs, name)
        found = chart(schedule, rows) if rows == "host" or gpus_known(schedule) else None
        if found is None:
            continue
        jobs, hosts = found.schedule.jobs, {record.job.id: record.hosts for record in schedule.jobs}
        for one in jobs:
            at = {int(found.names[found.row(lane)].partition(":")[0]) for lane in one.hosts}
            assert at <= set(hosts[one.job.id])
            assert rows == "gpu" or at == set(hosts[one.job.id])
            for other in jobs:
                if one is not other and one.start < other.finish and other.start < one.finish:
                    assert not one.hosts & other.hosts


def test_a_job_has_its_share_of_each_gpu() -> None:
    """Two shares of 0.3 and one of 0.4 fill a GPU; a whole one has all lanes."""
    specs = [(0, 1, 5, 9, TaskDemand(gpus=1, share=share), False, 0) for share in (300, 300, 400, 1000)]
    found = chart(packed(specs), "gpu")
    assert found is not None
    assert found.names == ("0:0", "0:1", "3:0", "3:1", "3:2", "3:3")
    sizes = sorted(len(record.hosts) / found.lanes for record in found.schedule.jobs)
    assert sizes == [0.3, 0.3, 0.4, 1.0]


def test_the_height_on_a_host_is_the_dominant_share() -> None:
    """Half of the memory of a host is more than a quarter of its cores; a job with a whole host has its row."""
    specs = [(0, 1, 5, 9, TaskDemand(cores=1000, memory=250), False, 0)] * 2 + [(0, 4, 5, 9, None, False, 0)]
    found = chart(packed(specs))
    assert found is not None
    parts = {record.job.name: len(record.hosts) / found.lanes for record in found.schedule.jobs}
    assert parts == {"000": 0.5, "001": 0.5, "002": 4}


def test_shares_of_different_resources_do_not_hide_each_other() -> None:
    """All cores and all GPUs of a host are two whole hosts in height."""
    specs = [
        (0, 1, 5, 9, TaskDemand(gpus=4, models=("V100",)), False, 0),
        (0, 1, 5, 9, TaskDemand(cores=16000), False, 0),
    ]
    found = chart(packed(specs))
    assert found is not None
    first, second = found.schedule.jobs
    assert len(first.hosts) == len(second.hosts)
    assert not first.hosts & second.hosts
    assert found.lanes == 2 * len(first.hosts)


def test_rows_of_hosts_need_jobs_that_share_them() -> None:
    """Other runs are drawn as they were; rows of GPUs are refused for them."""
    schedule = packed([(0, 2, 5, 9, None, False, 0)])
    assert chart(schedule) is None
    with pytest.raises(InputError, match=r"has no _places\.csv, which says on which GPUs jobs ran"):
        chart(schedule, "gpu")


def test_gpus_that_are_unknown_are_refused() -> None:
    """And machines without any."""
    schedule = packed([(0, 1, 5, 9, TaskDemand(gpus=1, share=300), False, 0)])
    [record] = schedule.jobs
    assert record.places is not None
    unknown = replace(record.places, places=(record.places.places[0]._replace(gpus=()),))
    partial = replace(schedule, jobs=(replace(record, places=unknown),))
    assert gpus_known(schedule)
    assert not gpus_known(partial)
    with pytest.raises(InputError, match="does not say which GPUs w0!000 had"):
        chart(partial, "gpu")
    with pytest.raises(InputError, match="has no GPU on the shown hosts"):
        lane_chart(schedule, window_on([schedule], hosts=HostSet.parse("1-2")), number_jobs([schedule]), "gpu")


def test_the_terminal_stacks_jobs_in_the_lines_of_a_host() -> None:
    """The lowest line of a row has its name."""
    specs = [(0, 1, 9, 9, TaskDemand(cores=2000), False, 0)] * 2
    lines = render(packed(specs), 40, 16).plain.splitlines()
    named = {line[:8].strip(): line for line in lines[1:]}
    assert {"0", "1", "2", "3"} <= set(named)
    letters = {letter for line in lines[1:13] for letter in line[9:] if letter in "AB"}
    assert letters == {"A", "B"}
    assert not any("A" in line[9:] and "B" in line[9:] for line in lines[1:13])


def test_pages_have_lanes_and_resources(tmp_path: Path) -> None:
    """Only of runs whose jobs share hosts."""
    shared, plain = packed(), packed([(0, 2, 5, 9, None, False, 0)])
    content = pack([shared, plain])
    assert [lanes.rows for lanes in content.runs[0].lanes] == ["host", "gpu"]
    assert content.runs[0].resources.names == ["cores", "memory", "GPUs", "fpga", "licences matlab"]
    assert content.runs[0].busy is not None
    assert (content.runs[1].lanes, content.runs[1].resources.names, content.runs[1].busy) == ([], [], None)


def test_commands_draw_rows_of_gpus_and_resources(tmp_path: Path) -> None:
    """In files of any form, and on a page."""
    write_result(f"{tmp_path}/run", run_packed("filler", {}, packed_workload(SPECS))[0])
    assert run_here(tmp_path, "gantt", "run", "--rows", "gpu") == 0
    assert run_here(tmp_path, "gantt", "run", "-o", "run.svg", "--with", "resources", "--rows", "gpu") == 0
    assert run_here(tmp_path, "report", "run", "-o", "run.html") == 0
    picture = (tmp_path / "run.svg").read_text()
    assert "host:GPU" in picture
    assert "licences matlab" in picture
    page = (tmp_path / "run.html").read_text()
    assert '<select id="rows">' in page
    assert "Resources: run" in page
