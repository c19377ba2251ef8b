"""`convert` on logs of many rows, next to a bare loop that splits the same lines and writes a line of JSON for each."""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Final

import orjson
from msgspec import Struct

#: Rows of a file, unless a number is given.
ROWS: Final = 1_000_000
#: The first submission, in seconds from 1970: 31 May 2024, 08:00 UTC.
_BEGIN: Final = 1_717_142_400
_COLUMNS: Final = "submit=submit,start=start,end=end,size=nodes,request=limit,user=user"


class LogRow(Struct, frozen=True):
    """A job of a log: times in seconds from the first submission."""

    number: int
    submit: int
    wait: int
    run: int
    nodes: int
    limit: int
    user: int


class MeasuredConversion(Struct, frozen=True):
    """CPU seconds of `convert` for a file with so many rows, start-up included, and those of the bare loop."""

    form: str
    rows: int
    seconds: float
    bare: float


def log_rows(count: int) -> Iterator[LogRow]:
    """Yield seeded jobs, as in a log of some 70 jobs an hour with round limits."""
    chance, submit = random.Random(1), 0
    for number in range(1, count + 1):
        submit += chance.randrange(100)
        limit = chance.choice((600, 3600, 7200, 14_400, 86_400))
        run = chance.randint(1, limit)
        wait, nodes, user = chance.randrange(5000), 2 ** chance.randrange(8), chance.randrange(300)
        yield LogRow(number, submit, wait, run, nodes, limit, user)


def _swf(row: LogRow) -> str:
    fields = (row.number, row.submit, row.wait, row.run, row.nodes, -1, -1, row.nodes, row.limit, -1, 1, row.user)
    return " ".join(map(str, (*fields, 1, -1, 1, -1, -1, -1)))


def _table(row: LogRow) -> str:
    start = _BEGIN + row.submit + row.wait
    return f"{_BEGIN + row.submit},{start},{start + row.run},{row.nodes},{row.limit},u{row.user}"


def _date(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


def _dates(row: LogRow) -> str:
    start = _BEGIN + row.submit + row.wait
    dates = ",".join(map(_date, (_BEGIN + row.submit, start, start + row.run)))
    return f"{dates},{row.nodes},{row.limit},u{row.user}"


def _sacct(row: LogRow) -> str:
    start = _BEGIN + row.submit + row.wait
    dates = "|".join(map(_date, (_BEGIN + row.submit, start, start + row.run)))
    limit = str(timedelta(seconds=row.limit)).replace(" day, ", "-").replace(" days, ", "-")
    return f"{row.number}|u{row.user}|COMPLETED|{dates}|{row.nodes}|{row.nodes}|{limit}|normal"


def _pbs(row: LogRow) -> str:
    start = _BEGIN + row.submit + row.wait
    moment = datetime.fromtimestamp(start + row.run, UTC).strftime("%m/%d/%Y %H:%M:%S")
    instants = " ".join(f"{name}={_BEGIN + row.submit}" for name in ("ctime", "qtime", "etime"))
    hours, minutes = divmod(row.limit // 60, 60)
    return (
        f"{moment};E;{row.number}.s;user=u{row.user} group=g queue=q {instants} start={start} end={start + row.run} "
        f"Resource_List.ncpus={row.nodes} Resource_List.walltime={hours:02d}:{minutes:02d}:00 Exit_status=0"
    )


class MeasuredForm(Struct, frozen=True):
    """A format: its first line, how it writes a row, what separates its fields, and further options of `convert`."""

    head: str
    write: Callable[[LogRow], str]
    separator: str
    options: Sequence[str] = ()


#: Name -> format.
FORMS: Final = {
    "Standard Workload Format": MeasuredForm("; MaxProcs: 1024\n", _swf, " "),
    "table, times in seconds": MeasuredForm(
        "submit,start,end,nodes,limit,user\n", _table, ",", ("--columns", _COLUMNS.replace(",", ":s,", 3))
    ),
    "table, dates": MeasuredForm("submit,start,end,nodes,limit,user\n", _dates, ",", ("--columns", _COLUMNS)),
    "output of `sacct`": MeasuredForm(
        "JobID|User|State|Submit|Start|End|ReqCPUS|AllocCPUS|Timelimit|Partition\n", _sacct, "|"
    ),
    "accounting of PBS": MeasuredForm("", _pbs, " "),
}


def measure_conversion(name: str, rows: int) -> MeasuredConversion:
    """Write a log of this format, and convert it once."""
    form = FORMS[name]
    with tempfile.TemporaryDirectory() as folder:
        log, output = Path(folder, "log"), Path(folder, "w.json")
        with log.open("w") as file:
            file.write(form.head)
            file.writelines(f"{form.write(row)}\n" for row in log_rows(rows))
        bare = _bare(log, form.separator, Path(folder, "bare.json"), len(form.head) > 0)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "batsched_py.cli", "convert", str(log), "-o", str(output), *form.options]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if f"{rows} jobs kept" not in said:
            raise RuntimeError(f"{name}: not all jobs were kept: {said}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return MeasuredConversion(name, rows, spent, bare)


def _bare(log: Path, separator: str, output: Path, head: int) -> float:
    """Return the CPU seconds of a loop without checks: the first fields of each line after the head, as JSON."""
    began = time.process_time()
    with log.open() as lines, output.open("wb") as file:
        for line in islice(lines, head, None):
            number, submit, wait, run, size, *_ = line.split(separator)
            job = {"id": number, "subtime": submit, "walltime": run, "res": size, "profile": wait}
            file.write(orjson.dumps(job) + b"\n")
    return time.process_time() - began


def markdown(measured: Sequence[MeasuredConversion]) -> Iterator[str]:
    """The lines of a table."""
    yield "| file | rows | CPU s | rows/s | x bare loop |"
    yield "|---|---|---|---|---|"
    for one in measured:
        rate = f"{one.rows / one.seconds:,.0f}".replace(",", " ")
        rows = f"{one.rows:,}".replace(",", " ")
        yield f"| {one.form} | {rows} | {one.seconds:.1f} | {rate} | {one.seconds / one.bare:.1f} |"
