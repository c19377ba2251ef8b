"""The store of runs: whole files, forgotten ones, and what a killed program leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.campaigns.execution.run_store import RunStore
from batsched_py.campaigns.execution.stored_run import decode_run, encode_run, stored
from batsched_py.campaigns.outcome import Outcome
from batsched_py.errors import InputError

RUN = encode_run(stored(Outcome("w", "easy", error="no", exit_code=3, warnings=("strange",))))
KEYS = ("ab" * 32, "cd" * 32)


def test_a_run_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    """Under its key, also for another program."""
    RunStore(tmp_path).put(KEYS[0], RUN)
    store = RunStore(tmp_path)
    assert store.keys() == {KEYS[0]}
    run = store.read(KEYS[0])
    assert run.outcome.failed
    assert run.outcome == Outcome("", "", error="no", exit_code=3, warnings=("strange",))


def test_jobs_are_kept_beside_a_run(tmp_path: Path) -> None:
    """Runs without them can be told; both are forgotten together."""
    store = RunStore(tmp_path)
    store.put(KEYS[0], RUN, b"rows")
    store.put(KEYS[1], RUN)
    assert store.keys(with_jobs=True) == {KEYS[0]}
    assert store.jobs_path(KEYS[0]).read_bytes() == b"rows"
    store.remove(KEYS[0])
    store.remove(KEYS[0])
    assert store.keys() == {KEYS[1]}
    assert not store.jobs_path(KEYS[0]).exists()


def test_what_a_killed_program_was_writing_is_no_run(tmp_path: Path) -> None:
    """It can be removed."""
    store = RunStore(tmp_path)
    store.put(KEYS[0], RUN)
    [whole] = (tmp_path / "runs" / "ab").iterdir()
    whole.with_name("." + whole.name + ".x7").write_bytes(RUN[:9])
    assert store.keys() == {KEYS[0]}
    assert (store.remove_remains(), store.remove_remains()) == (1, 0)
    assert store.keys() == {KEYS[0]}


def test_a_store_is_used_by_one_program_at_a_time(tmp_path: Path) -> None:
    """The other is told; when the first has ended, it may."""
    with RunStore(tmp_path).locked(), pytest.raises(InputError, match="another program runs this campaign now"):
        RunStore(tmp_path).locked().__enter__()
    with RunStore(tmp_path).locked():
        pass


@pytest.mark.parametrize("content", [b"", b"{}", RUN[:30], RUN.replace(b'"no"', b"7"), b"\xff"])
def test_a_file_that_is_no_run_is_named(tmp_path: Path, content: bytes) -> None:
    """With the rule that it breaks."""
    with pytest.raises(InputError, match=r"ab\.json: is not a run of a campaign: "):
        decode_run(tmp_path / "ab.json", content)


def test_a_folder_that_is_none_is_an_error(tmp_path: Path) -> None:
    """In one line with its name."""
    (tmp_path / "runs").touch()
    with pytest.raises(InputError, match=r"ab\.json: cannot be written: "):
        RunStore(tmp_path).put("ab" * 1 + "ab", RUN)
