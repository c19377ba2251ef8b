"""The benchmark of GPU placement, on a small list whose results are computed by hand in place of the published ones.

Two hosts: 8 cores and two GPUs T4, 16 cores and two GPUs V100. The tasks that arrive request 0.5, 1, 2, 0.5, 0, 0.6 and
0.6 GPUs. All policies but one can place the first five: GpuClustering puts the second on the other host, because the
first one shares a GPU and it does not; so there are no two whole GPUs left for the third. Half of the GPUs are then
allocated when all are requested, and 0.6 of one more by the sixth, where the others have none left.
"""

from __future__ import annotations

import gzip
import shutil
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.host_room import TaskPlace
from tests.acceptance import gpu_queue
from tests.acceptance.gpu_lists import TaskList, draw_order, read_lists, read_orders
from tests.acceptance.gpu_placement import POLICIES, RandomPlaces, allocation_curve, are_enough, main
from tests.acceptance.gpu_results import Published, PublishedMean, Results, read_published
from tests.clone import ROOT

FOLDER = ROOT / "tests" / "data" / "gpu-placement"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy that may be changed."""
    return Path(shutil.copytree(FOLDER, tmp_path / "lists"))


def test_the_table_has_the_results_that_are_computed_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    """The published orders, and for Random those that are drawn too."""
    assert main([str(FOLDER)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "list,policy,seeds,mean_100,mean_130"
    assert lines[1].startswith("mixed,Random,100,")
    assert lines[2:] == [
        "mixed,DotProd,1,100.000,100.000",
        "mixed,GpuClustering,1,50.000,65.000",
        "mixed,GpuPacking,1,100.000,100.000",
        "mixed,BestFit,1,100.000,100.000",
        "mixed,FGD,1,100.000,100.000",
    ]


def test_a_result_that_is_too_far_from_the_published_one_is_listed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 1; what is near enough is not listed."""
    exact = folder / "orders" / "expected-exact.csv"
    changed = exact.read_text().replace("Clustering,1,12.5", "Clustering,1,12.53")
    exact.write_text(changed.replace("FGD,1,12.5", "FGD,1,12.7").replace("BestFit,1,12.5", "BestFit,1,12.52"))
    assert main([str(folder)]) == 1
    assert capsys.readouterr().err.splitlines()[:-1] == [
        "mixed GpuClustering, seed 1: 12.50 at 13 %, published 12.53 +- 0.02"
    ]


def test_orders_are_drawn_where_none_are_published(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Five of them, the same ones each time."""
    shutil.rmtree(folder / "orders")
    tables = []
    for _ in range(2):
        assert main([str(folder)]) == 0
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]
    assert [line.split(",")[2] for line in tables[0].splitlines()[1:]] == ["100", "5", "5", "5", "5", "5"]


@pytest.mark.parametrize("policy", POLICIES)
def test_no_more_is_allocated_than_is_requested_or_there(policy: str) -> None:
    """At each percentage, with drawn orders; the nearest task may be one percent off."""
    (tasks,) = read_lists(FOLDER)
    for seed in range(1, 6):
        curve = allocation_curve(tasks, draw_order(tasks, seed), policy)
        assert list(curve) == list(range(131))
        assert all(0 <= allocated <= min(100, percent + 1) for percent, allocated in curve.items())


def test_random_places_are_all_places_where_a_task_fits() -> None:
    """Each host and each GPU with enough left, about equally often; none once it fits nowhere."""
    (tasks,) = read_lists(FOLDER)
    found = Counter[TaskPlace | None]()
    for seed in range(400):
        hosts = RandomPlaces(tasks.hosts, Random(seed))
        hosts.take(TaskDemand(gpus=1, share=600), TaskPlace(0, (0,)))
        found[hosts.find(TaskDemand(cores=1, gpus=1, share=500))] += 1
        hosts.take(TaskDemand(cores=16_000), TaskPlace(1, ()))
        assert hosts.find(TaskDemand(cores=8000, gpus=1)) == TaskPlace(0, (1,))
        assert hosts.find(TaskDemand(cores=8000, gpus=2)) is None
    assert set(found) == {TaskPlace(0, (1,)), TaskPlace(1, (0,)), TaskPlace(1, (1,))}
    assert 160 < found[TaskPlace(0, (1,))] < 240
    assert all(count > 60 for count in found.values())


def lists(*amounts: int) -> TaskList:
    """One host with ten GPUs, and tasks that request so many tenths of one."""
    host = HostCapacity(cores=1000, memory=1, gpus=10, model="T4")
    return TaskList("t", [host], [TaskDemand(gpus=1, share=100 * amount) for amount in amounts])


def test_drawn_orders_request_130_percent() -> None:
    """Tasks are added until the next one would exceed it, or removed until it is not exceeded."""
    added = draw_order(lists(10, 10, 10), 7)
    assert (len(added.tasks), sorted(added.tasks[:3]), added.hosts) == (13, [0, 1, 2], [0])
    removed = draw_order(lists(*[10] * 20), 7)
    assert len(removed.tasks) == len(set(removed.tasks)) == 13
    assert draw_order(lists(*[10] * 20), 7) == removed
    assert draw_order(lists(*[10] * 20), 8) != removed


def test_published_means_are_read(folder: Path) -> None:
    """With their deviations; other columns are ignored, such as the number of seeds."""
    (folder / "expected.csv").write_text("workload,policy,seeds,mean_100,sd_100\nmixed,Random,10,68.5,2.5\n")
    assert read_published(folder).means == {("mixed", "Random"): {100: PublishedMean(68.5, 2.5)}}


def test_random_orders_are_drawn_until_their_mean_is_known() -> None:
    """At least twenty, at most a hundred; to a standard error of 0.12."""
    assert not are_enough([50.0] * 19)
    assert are_enough([50.0] * 20)
    assert not are_enough([50.0, 51.5] * 18)
    assert are_enough([50.0, 51.5] * 21)
    assert not are_enough([0.0, 100.0] * 49)
    assert are_enough([0.0, 100.0] * 50)


def test_means_are_compared_where_no_curves_are_published() -> None:
    """By three standard deviations of the difference; those of Random by half a percent."""
    found = {"FGD": 0.0, "Random": 0.0}
    for policy in found:
        results = Results("t", policy, {seed: {100: 50.0} for seed in range(10)})
        for number in range(2000):
            published = Published({}, {("t", policy): {100: PublishedMean(50 + number / 1000, 0.5)}})
            if not published.differences(results):
                found[policy] = number / 1000
    assert found == {"FGD": 0.67, "Random": 0.5}


@pytest.mark.parametrize(
    ("name", "change", "error"),
    [
        ("pods-mixed.csv", ("a,2000", "a,much"), "line 2: cpu_milli: must be a whole number, not 'much'"),
        ("pods-mixed.csv", ("1,500,", "1,1500,"), "line 2: share: must be from 1 to 1000, not 1500"),
        ("pods-mixed.csv", ("num_gpu", "gpus"), "line 2: num_gpu: is missing"),
        ("nodes-gpu.csv", ("small,8000", "small,0"), "line 2: cores: must be at least 1, not 0"),
        ("orders/order-mixed.csv", ("nodes,0 1", "nodes,0 2"), "line 2: order: must be numbers from 0 to 1"),
        ("orders/order-mixed.csv", ("nodes,0 1", "nodes,0 0"), "must have one order of all nodes and one of pods"),
        ("orders/order-mixed.csv", ("1,pods", "2,pods"), "must have one order of all nodes and one of pods"),
        ("orders/expected-exact.csv", ("12.5", "x"), "line 2: 13: must be a number, not 'x'"),
    ],
)
def test_a_wrong_file_is_an_error_of_one_line(
    folder: Path, name: str, change: tuple[str, str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the file, the line, the column and the rule."""
    path = folder / name
    path.write_text(path.read_text().replace(*change, 1))
    assert main([str(folder)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {path}: {error}")


def test_a_folder_without_lists_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And a missing argument shows how to call the command."""
    nodes = tmp_path / "nodes-gpu.csv"
    nodes.write_text("sn,cpu_milli,memory_mib,gpu,model\na,1000,1,0,\n")
    with pytest.raises(WorkloadError, match="gpu: must be greater than 0 for a host"):
        read_lists(tmp_path)
    shutil.copy(FOLDER / "nodes-gpu.csv", nodes)
    with pytest.raises(WorkloadError, match=r"must have a file pods-NAME\.csv"):
        read_lists(tmp_path)
    assert main([]) == 2
    assert "usage: python -m tests.acceptance.gpu_placement FOLDER" in capsys.readouterr().err


def test_files_may_be_compressed(folder: Path) -> None:
    """As the published ones are."""

    (tasks,) = read_lists(folder)
    plain = read_orders(tasks, folder)
    for path in sorted(folder.rglob("*.csv")):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    (tasks,) = read_lists(folder)
    assert read_orders(tasks, folder) == plain


def test_tasks_with_times_queue_as_computed_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    """Two hosts with two GPUs each; `e` requests both of one.

    `a`, `b` and `c` have the first host, from 0 to 120, `d` the second, from 30 to 130. `e` waits from 40 to 120, `f`
    from 50 to 130: half a GPU is free at 100, but only for 20 s, as `e` needs all of it then.
    """
    assert gpu_queue.main([str(ROOT / "tests" / "data" / "gpu-queue"), "1"]) == 0
    told = capsys.readouterr()
    header, *rows = told.out.splitlines()
    assert header == gpu_queue.HEADER
    names = [f"{algorithm},{packing}" for algorithm in gpu_queue.ALGORITHMS for packing in gpu_queue.SELECTIONS]
    assert [row.rpartition(",")[0] for row in rows] == [f"{name},6,2,27,80,80,80,75.7,75.7,19.7" for name in names]
    assert told.err == "2 hosts, 4 GPUs; left out: 1 never started, 1 of no length, 1 for no host\n"


@pytest.mark.parametrize("words", [[], ["a", "b", "c"], ["nowhere"], [".", "0"]])
def test_a_queue_without_its_files_is_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 2."""
    assert gpu_queue.main(words) == 2
    assert capsys.readouterr().err.count("\n") == 1
