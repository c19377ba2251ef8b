"""The files of a site: damaged, older than each other, lost while it runs, backed up and restored."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run
from batsched_py.errors import SiteError, TransportError
from batsched_py.model.external_event import MACHINE_EVENTS
from batsched_py.site.audit import read_audit
from batsched_py.site.client import SiteClient
from batsched_py.site.inbox import EVENT_KINDS, Asked
from batsched_py.site.site import JOURNAL, TRANSCRIPT, Site
from batsched_py.transcripts.recorder import exchange_lines
from tests.integration.test_site import lease, make, opened, states, wait_for
from tests.site_process import SITE, SiteProcess, running_site


def filled(folder: Path, *sizes: int) -> None:
    """Let a site in a folder do leases, one after the other."""
    with opened(folder) as site:
        for size in sizes:
            (entry,) = site.inbox.accept([lease(size, 100)])
            wait_for(partial(is_done, site, entry.number))


def is_done(site: Site, number: int) -> bool:
    """Return whether a lease is done."""
    return states(site).get(number) == "Done"


def failure(folder: Path) -> str:
    """Start a site that ends before it is ready; return why."""
    site: Site | None = None
    try:
        site = make(folder)
    except SiteError as error:
        return str(error)
    ready = list[bool]()
    look = site.board.look

    def looked(idle: bool) -> float:
        ready.append(site.inbox.ready)
        return look(idle)

    site.inbox._look = looked
    site.start()
    site.join()
    site.stop()
    assert not any(ready)
    assert isinstance(site.failure, SiteError)
    return str(site.failure)


def changed(folder: Path, statement: str, *values: Any) -> None:
    """Change the journal of a site that does not run."""
    with closing(sqlite3.connect(folder / JOURNAL)) as database, database:
        database.execute(statement, values)


def test_an_older_journal_is_noticed_before_the_site_is_ready(tmp_path: Path) -> None:
    """The message says how many requests each file has, and the way out works."""
    desk = tmp_path / "desk"
    filled(desk, 1, 2)
    shutil.copy(desk / JOURNAL, tmp_path / "older.sqlite")
    filled(desk, 3, 4)
    shutil.copy(tmp_path / "older.sqlite", desk / JOURNAL)
    for _ in range(2):
        told = failure(desk)
        assert f"{desk / TRANSCRIPT}: has 4 requests, but site.sqlite 2 requests: the journal was restored" in told
        assert "batsched-py restore" in told
    (desk / TRANSCRIPT).rename(tmp_path / "away.jsonl")
    filled(desk, 3)
    assert run(["replay", str(desk / TRANSCRIPT)]) == 0


def test_a_failure_of_a_host_is_a_request_that_an_older_journal_lacks(tmp_path: Path) -> None:
    """It is an event of another type in the transcript."""
    filled(tmp_path, 1)
    with opened(tmp_path) as site:
        for kind in ("machine_unavailable", "machine_available"):
            site.inbox.accept([Asked(kind, lambda _: {"resources": "1"})])
        wait_for(lambda: "event_machine_available" in (tmp_path / TRANSCRIPT).read_text())
    changed(tmp_path, "DELETE FROM requests WHERE number > 1")
    assert "has 3 requests, but site.sqlite 1 request: the journal was restored" in failure(tmp_path)


def test_requests_of_kinds_that_are_not_counted_are_not_made() -> None:
    """A new kind must be among those that are searched in transcripts."""
    with pytest.raises(ValueError, match="new_kind is not among the kinds"):
        Asked("new_kind", lambda _: {})


@pytest.mark.parametrize("kind", sorted(EVENT_KINDS))
@pytest.mark.parametrize("escape", ["", "\\"])
def test_each_kind_of_request_is_counted_in_a_transcript(tmp_path: Path, kind: str, escape: str) -> None:
    """In messages of Batsim 4, and as escaped text in those of Batsim 5."""
    with opened(tmp_path):
        pass
    kind = f"event_{kind}" if kind in MACHINE_EVENTS else kind
    event = f'{{"type":"{kind}"}}'.replace('"', f'{escape}"')
    message = f'{{"now":9.0,"events":[{event}]}}' if not escape else f'{{"now":9.0,"data":"{event}"}}'
    with (tmp_path / TRANSCRIPT).open("ab") as transcript:
        number = (tmp_path / TRANSCRIPT).read_bytes().count(b'"from":"batsim"')
        transcript.write(exchange_lines(number, message.encode(), b'{"now":9.0,"events":[]}'))
    assert "has 1 request, but site.sqlite 0 requests" in failure(tmp_path)


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_lost_last_requests_are_noticed(tmp_path: Path, lost: int) -> None:
    """As after damage of SQLite's own log, which ends at the first record that is wrong."""
    filled(tmp_path, 1, 2, 3)
    changed(tmp_path, "DELETE FROM requests WHERE number > ?", 3 - lost)
    assert f"has 3 requests, but site.sqlite {3 - lost} request" in failure(tmp_path)


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("UPDATE requests SET members = replace(CAST(members AS TEXT), '100', '200') WHERE number = 2", 2),
        ("UPDATE requests SET user = 'eve' WHERE number = 1", 1),
        ("UPDATE requests SET hash = zeroblob(32) WHERE number = 3", 3),
        ("DELETE FROM requests WHERE number = 2", 3),
        ("UPDATE about SET value = '1.000' WHERE name = 'begun'", 1),
    ],
)
def test_a_damaged_record_is_named(tmp_path: Path, statement: str, number: int) -> None:
    """Any change of it is found, and a missing record before it."""
    filled(tmp_path, 1, 2, 3)
    changed(tmp_path, statement)
    assert f"{tmp_path / JOURNAL}: request {number} is damaged, or one before it is missing" in failure(tmp_path)


def test_a_journal_without_hashes_gets_them(tmp_path: Path) -> None:
    """One of the version before goes on, and is protected from then on."""
    filled(tmp_path, 1, 2)
    changed(tmp_path, "ALTER TABLE requests DROP COLUMN hash")
    changed(tmp_path, "UPDATE about SET value = '1' WHERE name = 'version'")
    filled(tmp_path, 3)
    changed(tmp_path, "UPDATE requests SET time = 1 WHERE number = 1")
    assert "request 1 is damaged" in failure(tmp_path)


def test_a_clock_behind_the_transcript_is_put_right(tmp_path: Path) -> None:
    """After a failure of the machine nothing is missing but the time, which the transcript has."""
    filled(tmp_path, 1, 2)
    changed(tmp_path, "UPDATE clock SET time = 0")
    with opened(tmp_path) as site:
        assert site.inbox.now == 200


def test_a_part_of_an_exchange_that_never_came_to_its_end_is_dropped(tmp_path: Path) -> None:
    """The next decision may be another one."""
    filled(tmp_path, 1)
    path = tmp_path / TRANSCRIPT
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"seq":4,"from":"batsim","message":{"now":100.0,"events":[]}}\n{"seq":4,"fr')
    filled(tmp_path, 2)
    assert path.read_bytes().startswith(whole)
    assert run(["replay", str(path)]) == 0


def test_files_of_two_sites_do_not_go_together(tmp_path: Path) -> None:
    """The transcript of another one has other requests."""
    filled(tmp_path / "one", 1, 2)
    filled(tmp_path / "other", 3, 4)
    shutil.copy(tmp_path / "other" / TRANSCRIPT, tmp_path / "one" / TRANSCRIPT)
    assert "does not follow from the requests in site.sqlite" in failure(tmp_path / "one")


def test_only_the_owner_reads_the_files(tmp_path: Path) -> None:
    """The mask of the process does not matter; files of an older version are closed, too."""
    before = os.umask(0)
    try:
        with opened(tmp_path / "desk") as site:
            site.inbox.accept([lease(1, 100)])
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "desk").iterdir()}
        assert stat.S_IMODE((tmp_path / "desk").stat().st_mode) == 0o700
        assert modes == dict.fromkeys((JOURNAL, f"{JOURNAL}-wal", f"{JOURNAL}-shm", TRANSCRIPT, "audit.jsonl"), 0o600)
        for name in (JOURNAL, TRANSCRIPT):
            (tmp_path / "desk" / name).chmod(0o644)
        filled(tmp_path / "desk")
        assert stat.S_IMODE((tmp_path / "desk" / JOURNAL).stat().st_mode) == 0o600
        assert run(["backup", str(tmp_path / "copy"), "--data", str(tmp_path / "desk")]) == 0
        for path in (tmp_path / "copy", tmp_path / "copy" / JOURNAL, tmp_path / "copy" / TRANSCRIPT):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    finally:
        os.umask(before)


def test_a_site_that_runs_is_backed_up_and_restored(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """By another process, while requests come; the copy is a site of its own."""
    with running_site(tmp_path, "--pace", "1000", "-s", "leases") as site:
        client = site.client()
        for size in (1, 2, 3, 4):
            client.post("api", "leases", body={"nodes": size, "duration": 500})
        backup = [sys.executable, "-m", "batsched_py", "backup", "copy", "--data", "site"]
        process = subprocess.Popen(backup, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        while process.poll() is None:
            client.post("api", "leases", body={"nodes": 1, "duration": 60})
        told = process.communicate()[0]
        logged = list(read_audit(tmp_path / "copy" / "audit.jsonl"))
        assert 4 <= len(logged) <= len(list(read_audit(tmp_path / "site" / "audit.jsonl")))
        assert told.startswith("backed up ")
        requests = int(told.split()[2])
        assert requests >= 4
        assert client.get("healthz")["status"] == "ready"
    desk = tmp_path / "restored"
    assert run(["restore", str(tmp_path / "copy"), "--data", str(desk)]) == 0
    assert capfd.readouterr().out.startswith(f"restored {requests} requests; the site goes on at t=")
    assert list(read_audit(desk / "audit.jsonl")) == logged
    assert int(logged[-1].made.rpartition("/")[2]) <= requests
    shutil.rmtree(tmp_path / "site")
    shutil.copytree(desk, tmp_path / "site")
    with running_site(tmp_path, "--pace", "1000", "-s", "leases") as site:
        numbers = [one["number"] for one in site.client().get("api", "leases", finished="true")]
        assert numbers == list(range(1, requests + 1))
        assert site.client().post("api", "leases", body={"nodes": 1, "duration": 60})["number"] == requests + 1
    assert run(["replay", str(tmp_path / "site" / TRANSCRIPT)]) == 0


def test_what_cannot_be_backed_up_or_restored_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line each; nothing is left of the attempt."""
    filled(tmp_path / "desk", 1)

    def told(*command: str) -> str:
        assert run(list(command)) == 2
        return capsys.readouterr().err

    assert "has no site.sqlite" in told("backup", str(tmp_path / "b"), "--data", str(tmp_path))
    assert "is there already" in told("backup", str(tmp_path / "desk"), "--data", str(tmp_path / "desk"))
    assert "has no site.sqlite: it is not a backup" in told("restore", str(tmp_path), "--data", str(tmp_path / "n"))
    assert "move the files of the site away" in told(
        "restore", str(tmp_path / "desk"), "--data", str(tmp_path / "desk")
    )
    changed(tmp_path / "desk", "UPDATE requests SET user = 'eve'")
    assert "request 1 is damaged" in told("backup", str(tmp_path / "b"), "--data", str(tmp_path / "desk"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["desk"]
    with opened(tmp_path / "open"):
        assert "another process has it open" in told(
            "restore", str(tmp_path / "desk"), "--data", str(tmp_path / "open")
        )


def test_an_empty_folder_name_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It would be the current folder."""
    assert run([*SITE, "--data", "", "--listen", "127.0.0.1:0"]) == 2
    assert "'--data': must name a folder, not be empty" in capsys.readouterr().err


def _remove(folder: Path) -> None:
    shutil.rmtree(folder)


def _replace(folder: Path) -> None:
    content = (folder / JOURNAL).read_bytes()
    (folder / JOURNAL).unlink()
    (folder / JOURNAL).write_bytes(content)


@pytest.mark.parametrize(
    ("lose", "why"), [(_remove, "No such file or directory, while"), (_replace, "was replaced while")]
)
def test_a_site_whose_files_are_lost_ends(tmp_path: Path, lose: Callable[[Path], None], why: str) -> None:
    """It accepts nothing that it cannot keep; one line has the path, callers are not told it."""
    with running_site(tmp_path, "--pace", "1") as site:
        client = site.client()
        client.post("api", "jobs", body={"nodes": 1, "walltime": 5})
        lose(tmp_path / "site")
        told = site.process.communicate()[1]  # it ends by itself, at its next note of the time
    assert told.splitlines()[-1].startswith("batsched-py: error: ")
    assert why in told
    assert len(told.splitlines()) == 1
    assert site.process.returncode == 2


def test_a_full_disk_ends_a_site(tmp_path: Path) -> None:
    """One line with the cause; who asks then is told that nothing was kept, without the path."""
    limited = ["sh", "-c", 'ulimit -f 100; exec "$@"', "sh", sys.executable, "-m", "batsched_py", *SITE]
    limited += ["--listen", "127.0.0.1:0", "--data", str(tmp_path / "site"), "--pace", "1"]
    process = subprocess.Popen(limited, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stderr is not None
    site = object.__new__(SiteProcess)
    site.process, site.url = process, process.stderr.readline().split()[-1]
    site.client().get("api", "site")  # wait for it
    client = SiteClient(site.url)
    refused = ""
    while not refused:
        try:
            client.post("api", "leases", body={"nodes": 1, "duration": 5, "software": {"image": "x" * 5000, "size": 1}})
        except (SiteError, TransportError) as error:
            refused = str(error)
    told = process.communicate()[1]
    assert refused == "the site cannot keep requests: its log says why" or refused.startswith(
        f"the site at {site.url} cannot be reached"
    )
    assert len(told.splitlines()) == 1
    assert told.startswith(f"batsched-py: error: {tmp_path / 'site'}/")
    assert process.returncode == 2
