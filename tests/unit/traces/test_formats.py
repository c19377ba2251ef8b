"""The table of formats: each is detected by its first line, read and written by its module, and described."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from batsched_py.model.workload import Workload
from batsched_py.results.result_files import JOBS_HEADER
from batsched_py.traces.formats import (
    FORMATS,
    JSON,
    LWF,
    SACCT,
    SWF,
    Format,
    ReadOptions,
    WriteOptions,
    find_format,
    format_of,
    format_to_write,
)
from batsched_py.traces.lease_request import LeaseTrace
from batsched_py.traces.swf_log import SwfLog
from tests.clone import ROOT
from tests.public_samples import SAMPLES

#: Name of a format -> the content of a file.
EXAMPLES: Final = {
    "json": (ROOT / "workloads" / "first.json").read_bytes(),
    "lwf": (ROOT / "tests" / "data" / "haizea" / "multi-inst" / "leases.lwf").read_bytes(),
    "swf": b"; MaxProcs: 8\n1 0 0 100 4 -1 -1 4 200 -1 1 3 1 -1 1 -1 -1 -1\n",
    "sacct": b"JobID|State|Submit|Start|End|ReqCPUS|AllocCPUS\n"
    b"7|COMPLETED|2024-05-31T08:00:00|2024-05-31T08:05:00|2024-05-31T09:05:00|16|16\n",
    "sacct-json": (ROOT / "tests" / "data" / "accounting" / "sacct-v0.0.39.json").read_bytes(),
    "jobcomp": (ROOT / "tests" / "data" / "accounting" / "slurm_jobcomp.log").read_bytes(),
    "pbs": (ROOT / "tests" / "data" / "accounting" / "pbs-20240531").read_bytes(),
    "lsf": (ROOT / "tests" / "data" / "accounting" / "lsb.acct").read_bytes(),
    "csv": b"COBALT_JOBID,QUEUED_TIMESTAMP,START_TIMESTAMP,END_TIMESTAMP,USERNAME_GENID,PROJECT_NAME_GENID,QUEUE_NAME,"
    b"WALLTIME_SECONDS,RUNTIME_SECONDS,NODES_USED,NODES_REQUESTED\n"
    b"7,2019-01-01 00:00:08,2019-01-01 00:10:11,2019-01-01 01:10:12,12,34,default,7200.0,3601.0,128.0,128.0\n",
    "parquet": SAMPLES["pm100"],
    "philly": SAMPLES["philly"],
    "google-2019": SAMPLES["google-2019"],
    "wfformat": b'{"workflow": {"tasks": [{"id": "1", "runtime": 3}]}}',
    "table": JOBS_HEADER.encode() + b"\n",
}
READ: Final = [form for form in FORMATS.values() if form.content is not None]
WRITTEN: Final = [form for form in READ if form is JSON or form.written]


def example(form: Format, folder: Path) -> Path:
    """Write the example of a format, under a name that does not tell the format."""
    assert form.name in EXAMPLES, f"the format {form.name} has no file in EXAMPLES of this test: add a small one"
    path = folder / "file"
    path.write_bytes(EXAMPLES[form.name])
    return path


def test_each_example_is_of_a_format() -> None:
    """The row of a format that is lost would be noticed by nothing else here."""
    assert sorted(EXAMPLES) == sorted(FORMATS)


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_a_format_is_detected_by_its_first_line(form: Format, tmp_path: Path) -> None:
    """A row above that matches the same lines would hide it."""
    found = format_of(example(form, tmp_path))
    assert found is form, f"the example of {form.name} is taken for {found and found.name}: see `sniff` of both"


@pytest.mark.parametrize("form", READ, ids=lambda form: form.name)
def test_a_format_is_read_by_its_module(form: Format, tmp_path: Path) -> None:
    """The module is imported when it is used: no other check finds a wrong name, or another content."""
    read = form.read(example(form, tmp_path), ReadOptions())
    assert form.content is not None
    assert isinstance(read, form.content), f"{form.module}.read returns another class than `content` of its row"


@pytest.mark.parametrize("form", WRITTEN, ids=lambda form: form.name)
def test_what_is_written_is_read_again(form: Format, tmp_path: Path) -> None:
    """With the same bytes at the second time, under a name that tells the format."""
    content = form.read(example(form, tmp_path), ReadOptions())
    assert isinstance(content, Workload | LeaseTrace)
    first, second = tmp_path / f"first{form.written}", tmp_path / f"second{form.written}"
    assert format_to_write(first) is form
    form.write(first, content, WriteOptions("the same"))
    again = form.read(first, ReadOptions())
    assert isinstance(again, Workload | LeaseTrace)
    form.write(second, again, WriteOptions("the same"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_a_format_is_described(form: Format) -> None:
    """In the table of the page."""
    table = (ROOT / "docs" / "workloads.md").read_text().partition("\n## Formats\n")[2].partition("\n## ")[0]
    row = f"| `{form.name}` | "
    assert row in table, f"the format {form.name} has no row in the section Formats of docs/workloads.md: add {row}"


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.json", JSON), ("a.lwf", LWF), ("a.xml.gz", LWF), ("a.swf", SWF), ("stdin", SWF)],
)
def test_a_pipe_is_read_by_its_name(name: str, form: Format, tmp_path: Path) -> None:
    """Its content cannot be read twice; a log is what has no ending of its own."""
    assert find_format(tmp_path / name) is form


def test_a_file_of_no_known_format_is_read_as_a_log(tmp_path: Path) -> None:
    """The reader of logs says what is wrong in it, and in a table of Batsim's jobs, which is no log."""
    (tmp_path / "notes").write_text("something else\n")
    assert find_format(tmp_path / "notes") is SWF
    assert find_format(example(FORMATS["table"], tmp_path)) is SWF


def test_a_semicolon_is_a_comment_or_a_delimiter(tmp_path: Path) -> None:
    """It begins a comment of a log, or separates the names of fields of sacct."""
    path = tmp_path / "file"
    path.write_text(";JobID;State\n")
    assert format_of(path) is SACCT
    path.write_text("; the jobs; and their states\n")
    assert format_of(path) is SWF


@pytest.mark.parametrize("delimiter", ["|", ";", "\t", ",", " ", "^", ":::", "$$", "\x1f"])
def test_sacct_has_any_delimiter(delimiter: str, tmp_path: Path) -> None:
    """That of --delimiter, which may have several characters, with --parsable or --parsable2."""
    path = tmp_path / "file"
    for end in ("", delimiter):
        path.write_bytes(EXAMPLES["sacct"].replace(b"|", delimiter.encode()).replace(b"\n", f"{end}\n".encode()))
        assert format_of(path) is SACCT
        log = SACCT.read(path, ReadOptions())
        assert isinstance(log, SwfLog)
        assert [record.run for record in log.records] == [3600]


@pytest.mark.parametrize(
    "line", ["       JobID    JobName  Partition ", "JobID@State,User", "JobID", "# jobs by jobid"]
)
def test_other_lines_are_no_header_of_sacct(line: str, tmp_path: Path) -> None:
    """The columns of sacct without --parsable have blanks between them, and one text is no row of names."""
    path = tmp_path / "file"
    path.write_text(f"{line}\n")
    assert format_of(path) is not SACCT


def test_a_workload_with_members_of_slurm_is_no_accounting(tmp_path: Path) -> None:
    """Jobs of Batsim may have any members."""
    path = tmp_path / "file"
    path.write_text('{"nb_res": 4, "jobs": [{"id": 1, "allocation_nodes": 3}], "profiles": {}}')
    assert format_of(path) is JSON
