"""Descriptions of runs as files: what is written is read again, and what is wrong is one line."""

from __future__ import annotations

import os
from pathlib import Path

import orjson
import pytest
from msgspec.structs import replace

from batsched_py.errors import InputError
from batsched_py.reading.limits import Limits
from batsched_py.results.run_file import (
    InputFile,
    Measured,
    OtherFile,
    RunFile,
    WorkloadFile,
    belongs,
    content_hash,
    read_run,
    run_path,
    write_run,
)

RUN = RunFile(
    algorithm="easy",
    options={"order": "sjf", "slack": 0.0, "repair_time": None, "seed": 3},
    seed=3,
    platform=InputFile("p.xml", "ab" * 32),
    workloads=(WorkloadFile("w.json", "cd" * 32, {"model": "lublin", "jobs": 10}), WorkloadFile("/dev/fd/3", None)),
    files=(OtherFile("events.txt", "ef" * 32, "events"),),
    settings={"protocol": "v4", "roles": {"a": "storage"}},
    approximations=("one",),
    command=("batsched-py", "simulate"),
    version="0.1.0",
    results={"jobs": "12" * 32},
    measured=Measured("2026-01-02T03:04:05+00:00", 1.5),
)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """With every member; twice the same bytes."""
    path = run_path(str(tmp_path / "out"))
    assert path.name == "out_run.json"
    write_run(path, RUN)
    assert read_run(path) == RUN
    written = path.read_bytes()
    write_run(path, read_run(path))
    assert path.read_bytes() == written


def test_scripts_find_the_members_that_they_rely_on(tmp_path: Path) -> None:
    """By the names that the documentation gives them."""
    write_run(tmp_path / "r", RUN)
    told = orjson.loads((tmp_path / "r").read_bytes())
    assert told["platform"] == {"path": "p.xml", "sha256": "ab" * 32}
    assert [(one["path"], one["sha256"]) for one in told["workloads"]] == [("w.json", "cd" * 32), ("/dev/fd/3", None)]
    assert [told[name] for name in ("algorithm", "version", "command")] == [
        "easy",
        "0.1.0",
        ["batsched-py", "simulate"],
    ]
    assert told["options"] == RUN.options
    assert told["settings"] == RUN.settings


def test_members_of_later_versions_mean_nothing(tmp_path: Path) -> None:
    """A description is read by older programs, too."""
    write_run(tmp_path / "r", RUN)
    told = orjson.loads((tmp_path / "r").read_bytes())
    (tmp_path / "r").write_bytes(orjson.dumps({**told, "colour": "red"}))
    assert read_run(tmp_path / "r") == RUN


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"options": []}, "r: options: is not a description of a run: must be an object, not a list"),
        (
            {"workloads": [{"path": 1, "sha256": None}]},
            "r: workloads[0].path: is not a description of a run: must be a text",
        ),
        ({"measured": {"started": "x"}}, "r: measured.seconds: is not a description of a run: is missing"),
        ({"version": None}, "r: version: is not a description of a run: must be a text, not null"),
        ({"settings": {"deep": [[[[[]]]]]}}, "r: must be at most 4 levels deep"),
    ],
)
def test_a_wrong_member_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, object], rule: str
) -> None:
    """With the file, the member and the rule."""
    monkeypatch.chdir(tmp_path)
    write_run(Path("r"), RUN)
    Path("r").write_bytes(orjson.dumps({**orjson.loads(Path("r").read_bytes()), **change}))
    with pytest.raises(InputError) as caught:
        read_run(Path("r"), limits=Limits(depth=4))
    assert str(caught.value).startswith(rule)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    """As all files that others wrote."""
    write_run(tmp_path / "r", RUN)
    with pytest.raises(InputError, match="must be at most 100 bytes"):
        read_run(tmp_path / "r", limits=Limits(file_size=100))


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    """Its content can be read once, and that was for the run; to open it might take for ever."""
    os.mkfifo(tmp_path / "pipe")
    assert content_hash(tmp_path / "pipe") is None
    (tmp_path / "file").write_bytes(b"abc")
    assert content_hash(tmp_path / "file") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    with pytest.raises(InputError, match="none: cannot be read: No such file or directory"):
        content_hash(tmp_path / "none")


def test_a_description_beside_results_of_another_run_is_known(tmp_path: Path) -> None:
    """By their hashes, as far as it has some."""
    jobs = tmp_path / "jobs"
    jobs.write_bytes(b"abc")
    mine = replace(RUN, results={"jobs": content_hash(jobs) or ""})
    assert belongs(mine, {"jobs": jobs})
    assert not belongs(RUN, {"jobs": jobs})
    assert belongs(RUN, {"leases": jobs})
