"""Lists of GPU tasks and hosts, in the form of the FGD paper's published ones, and the orders of their runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_content
from batsched_py.model.demand import WHOLE, HostCapacity, TaskDemand
from batsched_py.text.display import displayed

#: Demand of a run for GPUs, in percent of all.
REQUESTED: Final = 130


class ArrivalOrder(NamedTuple):
    """One run: hosts in the order in which equal ones are taken, and tasks as they arrive."""

    seed: int
    hosts: Sequence[int]
    tasks: Sequence[int]


@dataclass(frozen=True, slots=True)
class TaskList:
    """A list of tasks, with the hosts for which it is."""

    name: str
    hosts: Sequence[HostCapacity]
    tasks: Sequence[TaskDemand]

    @property
    def gpu_capacity(self) -> int:
        """Thousandths of GPUs of all hosts."""
        return sum(host.gpus for host in self.hosts) * WHOLE


def read_lists(folder: Path) -> list[TaskList]:
    """Read `nodes-gpu.csv` and each `pods-NAME.csv` of a folder, compressed or not. WorkloadError."""
    hosts = [read_host(row) for row in read_table(found(folder, "nodes-gpu"))]
    if not any(host.gpus for host in hosts):
        raise WorkloadError(str(found(folder, "nodes-gpu")), "gpu", "must be greater than 0 for a host")
    names = sorted({path.name.removeprefix("pods-").partition(".csv")[0] for path in folder.glob("pods-*.csv*")})
    if not names:
        raise WorkloadError(str(folder), "", "must have a file pods-NAME.csv or pods-NAME.csv.gz")
    return [
        TaskList(name, hosts, [read_task(row) for row in read_table(found(folder, f"pods-{name}"))]) for name in names
    ]


def found(folder: Path, name: str) -> Path:
    """Return the path of a table of the folder, which may be compressed."""
    plain = folder / f"{name}.csv"
    packed = folder / f"{name}.csv.gz"
    return plain if plain.exists() or not packed.exists() else packed


def read_orders(tasks: TaskList, folder: Path) -> list[ArrivalOrder]:
    """Read the orders of `orders/order-NAME.csv`; none if there is no such file. WorkloadError."""
    path = found(folder / "orders", f"order-{tasks.name}")
    if not path.exists():
        return []
    hosts: dict[int, list[int]] = {}
    arrivals: dict[int, list[int]] = {}
    for row in read_table(path):
        if row.text("what") == "nodes":
            hosts[row.number_in("seed")] = row.numbers_in("order", len(tasks.hosts))
        else:
            arrivals[row.number_in("seed")] = row.numbers_in("order", len(tasks.tasks))
    if hosts.keys() != arrivals.keys() or any(len(set(one)) != len(tasks.hosts) for one in hosts.values()):
        raise WorkloadError(str(path), "", "must have one order of all nodes and one of pods for each seed")
    return [ArrivalOrder(seed, hosts[seed], arrivals[seed]) for seed in hosts]


def draw_order(tasks: TaskList, seed: int) -> ArrivalOrder:
    """Draw an order of the hosts, and of tasks that request REQUESTED percent of the GPUs.

    Tasks are shuffled; then random ones are removed, or added at the end, until this is their request.
    """
    random = Random(seed)
    amounts = [task.gpu_amount for task in tasks.tasks]
    order = list(range(len(amounts)))
    random.shuffle(order)
    target = tasks.gpu_capacity * REQUESTED // 100
    total = sum(amounts)
    if total > target:
        while total > target:
            total -= amounts[order.pop(random.randrange(len(order)))]
    elif total:
        # The first task that would exceed the target ends the additions, though smaller ones would still fit.
        while total + _share(tasks.tasks[task := random.randrange(len(amounts))]) <= target:
            total += amounts[task]
            order.append(task)
    hosts = list(range(len(tasks.hosts)))
    random.shuffle(hosts)
    return ArrivalOrder(seed, hosts, order)


def _share(task: TaskDemand) -> int:
    return task.share if task.gpus else 0


@dataclass(frozen=True, slots=True)
class TableLine:
    """A line of a table, with its place for messages."""

    path: Path
    number: int
    cells: Mapping[str, str]

    def text(self, column: str) -> str:
        """Return a cell. WorkloadError if there is none."""
        if column not in self.cells:
            raise self.error(column, "is missing")
        return self.cells[column]

    def number_in(self, column: str) -> int:
        """Return a whole number from 0."""
        text = self.text(column)
        if not (text.isascii() and text.isdigit()):
            raise self.error(column, f"must be a whole number, not {displayed(repr(text[:40]))}")
        return int(text)

    def numbers_in(self, column: str, below: int) -> list[int]:
        """Return whole numbers, all below a bound."""
        pieces = self.text(column).split()
        if not all(piece.isascii() and piece.isdigit() and int(piece) < below for piece in pieces):
            raise self.error(column, f"must be numbers from 0 to {below - 1}")
        return [int(piece) for piece in pieces]

    def real_in(self, column: str) -> float:
        """Return a number."""
        try:
            return float(self.text(column))
        except ValueError:
            raise self.error(column, f"must be a number, not {displayed(repr(self.text(column)[:40]))}") from None

    def error(self, column: str, rule: str) -> WorkloadError:
        """Return the error for a cell that breaks a rule."""
        return WorkloadError(str(self.path), f"line {self.number}", f"{column}: {rule}")


def read_table(path: Path) -> Iterator[TableLine]:
    """Yield the lines of a table, whose cells have neither commas nor quotes. WorkloadError."""
    header, *lines = read_content(path).decode("utf-8", "replace").splitlines() or [""]
    columns = header.split(",")
    for number, line in enumerate(lines, start=2):
        yield TableLine(path, number, dict(zip(columns, line.split(","), strict=False)))


def read_host(row: TableLine) -> HostCapacity:
    try:
        return HostCapacity(
            cores=row.number_in("cpu_milli"),
            memory=row.number_in("memory_mib"),
            gpus=row.number_in("gpu"),
            model=row.text("model"),
        )
    except ValueError as error:
        raise WorkloadError(str(row.path), f"line {row.number}", str(error)) from None


def read_task(row: TableLine) -> TaskDemand:
    gpus = row.number_in("num_gpu")
    models = row.cells.get("gpu_spec") or ""
    try:
        return TaskDemand(
            cores=row.number_in("cpu_milli"),
            memory=row.number_in("memory_mib"),
            gpus=gpus,
            share=row.number_in("gpu_milli") if gpus else WHOLE,
            models=tuple(models.split("|")) if models else (),
        )
    except ValueError as error:
        raise WorkloadError(str(row.path), f"line {row.number}", str(error)) from None
