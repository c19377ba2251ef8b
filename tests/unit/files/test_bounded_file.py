"""Files that are larger than they look, or larger than anybody reads."""

from __future__ import annotations

import gzip
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from batsched_py.errors import InputError, TranscriptError
from batsched_py.files.bounded_file import read_file, read_lines
from batsched_py.files.compression import DamageError
from batsched_py.reading.limits import LimitError, Limits
from batsched_py.reporting.api import read_schedule
from batsched_py.reporting.metrics.host_times import batsim_times
from batsched_py.reporting.schedules.jobs_file import read_jobs
from batsched_py.reporting.schedules.machine_states import read_machine_states
from batsched_py.reporting.schedules.occupancy import TakenHosts, free_hosts
from batsched_py.reporting.schedules.run_files import read_pstate_changes
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.event_file import read_events
from batsched_py.traces.simgrid_xml import read_platform
from batsched_py.traces.swf import read_swf
from batsched_py.transcripts.transcript import Transcript
from tests.memory import measured

#: Members of a gzip file: one after the other, they are one content.
MEMBERS = 100
#: Bytes of what one member holds.
MEMBER = 50_000_000
JOB = b"1 0 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n"


def bomb(path: Path, line: bytes) -> Path:
    """5 GB of a line in some MB."""
    path.write_bytes(gzip.compress(line * (MEMBER // len(line)), 6, mtime=0) * MEMBERS)
    assert path.stat().st_size < 50_000_000
    return path


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("log.swf.gz", read_swf),
        ("events.txt", read_events),
        ("run_jobs.csv", read_jobs),
        ("run.jsonl.gz", lambda path: Transcript(path, limits=Limits(message_size=1_000_000))),
    ],
)
def test_one_endless_line_is_given_up_early(tmp_path: Path, name: str, read: Callable[[Path], object]) -> None:
    """5 GB of zeros: no more than a line's limit is ever decompressed."""
    path = bomb(tmp_path / name, b"0")
    with measured() as memory, pytest.raises(InputError, match=r"must be at most \d+ bytes in a .*--limit .*-size=N"):
        read(path)
    assert memory.peak < 100_000_000


def test_endless_lines_are_given_up_at_the_limit(tmp_path: Path) -> None:
    """The line at which it was is named; none of what was read is kept but one batch of lines."""
    path = bomb(tmp_path / "log.swf.gz", b"; nothing\n")
    limits = Limits(file_size=2_000_000)
    rule = r"line 31251: must be at most 2000000 bytes \(--limit file-size=N allows more\)"
    with measured() as memory, pytest.raises(InputError, match=rule):
        read_swf(path, limits=limits)
    assert memory.peak < 1_500_000


def test_endless_jobs_are_given_up_at_the_limit(tmp_path: Path) -> None:
    """The limit of jobs is below that of bytes where jobs take more memory than their lines."""
    path = bomb(tmp_path / "log.swf.gz", JOB)
    with measured() as memory, pytest.raises(InputError, match=r"line 1001: must be at most 1000 jobs \(--limit jobs="):
        read_swf(path, limits=Limits(jobs=1000))
    assert memory.peak < 10_000_000


@pytest.mark.parametrize("read", [read_workload, read_platform])
def test_a_file_that_never_ends_is_no_file(read: Callable[..., object]) -> None:
    """A device has no size that could be asked for."""
    with measured() as memory, pytest.raises(InputError, match="/dev/zero: must be at most 1000000 bytes"):
        read(Path("/dev/zero"), limits=Limits(file_size=1_000_000))
    assert memory.peak < 10_000_000


def test_a_pipe_is_read_whole(tmp_path: Path) -> None:
    """As the shell makes one of `<(...)`; its pieces are joined."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = bytes(range(256)) * 1000
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    assert read_file(pipe, Limits()) == content
    writer.join()


def test_a_file_of_just_the_limit_is_read(tmp_path: Path) -> None:
    """One byte more is refused."""
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    assert read_file(path, Limits(file_size=100)) == b"x" * 100
    with pytest.raises(LimitError):
        read_file(path, Limits(file_size=99))


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_line_of_just_the_limit_is_read(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    """With its end; one byte more is refused."""
    path = tmp_path / "file"
    path.write_bytes(compress(b"x" * 99 + b"\n" + b"y" * 5))
    assert list(read_lines(path, Limits(line_size=100))) == [b"x" * 99 + b"\n", b"y" * 5]
    with pytest.raises(LimitError):
        list(read_lines(path, Limits(line_size=99)))


def test_parts_and_zeros_at_the_end_of_a_gzip_file_are_read(tmp_path: Path) -> None:
    """As Python's own module reads them, and as tapes wrote them."""
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n") + bytes(200_000))
    assert list(read_lines(path, Limits())) == [b"one\n", b"two\n"]


@pytest.mark.parametrize("damage", [lambda whole: whole[:-3], lambda whole: whole + b"more"])
def test_a_damaged_gzip_file_is_told(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    """It is, whether the file breaks off or goes on."""
    path = tmp_path / "file.gz"
    path.write_bytes(damage(gzip.compress(b"one\n" * 1000)))
    with pytest.raises(DamageError, match="is a damaged gzip file"):
        list(read_lines(path, Limits()))


HEADER = (
    "job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,starting_time,"
    "finish_time,stretch,allocated_resources\n"
)


def rows(hosts: list[str]) -> str:
    """A jobs file of jobs on these hosts."""
    return HEADER + "".join(f"{number},w0,0,1,10,1,0,5,1,{text}\n" for number, text in enumerate(hosts))


def test_host_sets_of_results_are_bounded_in_bytes(tmp_path: Path) -> None:
    """Each row of some bytes would take the bits of a large machine."""
    (tmp_path / "run_jobs.csv").write_text(rows([f"{number} 1000000" for number in range(5000)]))
    with (
        measured() as memory,
        pytest.raises(InputError, match="must be at most 10000000 bytes of host sets"),
    ):
        read_jobs(tmp_path / "run_jobs.csv", limits=Limits(sets_size=10_000_000))
    assert memory.peak < 80_000_000


def pstates(lines: list[str]) -> str:
    """Changes of power states."""
    return "time,machine_id,new_pstate\n" + "".join(f"{line}\n" for line in lines)


def test_host_sets_of_pstate_changes_are_bounded_in_bytes(tmp_path: Path) -> None:
    """As those of jobs."""
    (tmp_path / "run_pstate_changes.csv").write_text(pstates([f"1,{number} 1000000,0" for number in range(5000)]))
    with measured() as memory, pytest.raises(InputError, match="must be at most 10000000 bytes of host sets"):
        read_pstate_changes(tmp_path / "run_pstate_changes.csv", limits=Limits(sets_size=10_000_000))
    assert memory.peak < 80_000_000


def test_host_sets_in_proportion_to_their_file_are_read_whatever_the_limit(tmp_path: Path) -> None:
    """A long log of a machine of this century is no attack."""
    (tmp_path / "run_jobs.csv").write_text(rows([f"{number} 10000" for number in range(5000)]))
    assert len(read_jobs(tmp_path / "run_jobs.csv", limits=Limits(sets_size=100_000)).jobs) == 5000


def test_a_million_hosts_that_two_jobs_share_take_no_more_memory_than_their_sets(tmp_path: Path) -> None:
    """Two rows took all memory: a set for each host."""
    (tmp_path / "run_jobs.csv").write_text(rows(["0-1048575", "0-1048575"]))
    with measured() as memory:
        run = read_schedule(tmp_path / "run_jobs.csv")
        assert [free for _, free in free_hosts(run.ran, run.hosts, TakenHosts())] == [0, (1 << 1048576) - 1]
    assert memory.peak < 8_000_000


def test_a_million_hosts_that_change_their_pstate_take_no_more_memory_than_their_sets(tmp_path: Path) -> None:
    """Each row took a number for each host."""
    (tmp_path / "run_jobs.csv").write_text(rows(["0-1048575"]))
    changes = [f"{10 + number},0-1048575,{(-2, 3, -1, 0)[number % 4]}" for number in range(400)]
    (tmp_path / "run_pstate_changes.csv").write_text(pstates(changes))
    with measured() as memory:
        times = batsim_times(read_schedule(tmp_path / "run_jobs.csv"))
    assert times["sleeping"] == 100 * 1048576
    assert times["switching_on"] == 100 * 1048576
    assert memory.peak < 8_000_000


@pytest.mark.parametrize("count", ["1048576", "9999999999"])
def test_states_of_more_machines_than_the_limit_are_refused(tmp_path: Path, count: str) -> None:
    """With the line; 9999999999 was an internal error."""
    path = tmp_path / "run_machine_states.csv"
    header = "time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing"
    path.write_text(f"{header}\n0,0,0,0,{count},1\n")
    with pytest.raises(InputError, match=r"line 2: must be at most 1048576 hosts \(--limit hosts=N allows more\)"):
        read_machine_states(path)


def test_a_host_above_the_limit_is_named(tmp_path: Path) -> None:
    """Before its bits are made."""
    (tmp_path / "run_jobs.csv").write_text(rows(["9999999"]))
    with pytest.raises(InputError, match=r"line 2, column allocated_resources: host 9999999 is above 1048575"):
        read_jobs(tmp_path / "run_jobs.csv")


def test_a_machine_above_the_limit_is_refused(tmp_path: Path) -> None:
    """Pictures have rows for its hosts, and metrics a bit for each."""
    (tmp_path / "run_jobs.csv").write_text(rows(["0"]))
    (tmp_path / "run_schedule.csv").write_text("nb_computing_machines\n900000000000000\n")
    with pytest.raises(InputError, match="a machine of 900000000000000 hosts, which must be at most 1048576 hosts"):
        read_schedule(tmp_path / "run_jobs.csv")


@pytest.mark.parametrize("count", ["1" + "0" * 15, "9" * 18, "9" * 5000])
def test_counts_are_numbers_that_somebody_may_count_to(tmp_path: Path, count: str) -> None:
    """Numbers that overflow later are refused."""
    (tmp_path / "run_jobs.csv").write_text(rows(["0"]).replace(",0,1,10,", f",0,{count},10,"))
    with pytest.raises(InputError, match="column requested_number_of_resources: must be a whole number"):
        read_jobs(tmp_path / "run_jobs.csv")


def test_a_fragmented_set_of_a_large_machine_is_read(tmp_path: Path) -> None:
    """Longer than what Python's reader of such files takes if it is told nothing."""
    text = " ".join(map(str, range(0, 100_000, 2)))
    (tmp_path / "run_jobs.csv").write_text(rows([text]))
    assert len(read_jobs(tmp_path / "run_jobs.csv").jobs[0].hosts) == 50_000


def test_a_recording_has_lines_of_a_message_at_most(tmp_path: Path) -> None:
    """The line that is too long is named."""
    path = tmp_path / "run.jsonl"
    message = b'"%b"' % (b"x" * 5000)
    path.write_bytes(b'{"seq":0,"from":"batsim","message":{}}\n{"seq":0,"from":"scheduler","message":%b}' % message)
    with pytest.raises(TranscriptError, match=r"line 2: must be at most 100 bytes in a message \(--limit mess"):
        list(Transcript(path, limits=Limits(message_size=100)))
