"""The audit log of a site: who did what, with which result, also of refused calls and after a kill."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batsched_py.errors import SiteError
from batsched_py.site.audit import AuditEntry, AuditLog, read_audit
from batsched_py.site.client import SiteClient
from batsched_py.site.users import add_user
from tests.integration.test_site import wait_for
from tests.integration.test_site_callers import ask as call
from tests.integration.test_site_commands import Ask, ask, cells
from tests.site_process import SITE, SiteProcess, running_site

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

__all__ = ["ask"]  # a fixture
LEASE = {"nodes": 1, "duration": 600}


def entry(number: int) -> AuditEntry:
    """Return an entry that can be told from others."""
    return AuditEntry("2030-01-01T00:00:00.000+00:00", number, "ann", "user", "POST", f"/{number}", 201)


def test_changes_and_refused_calls_are_written_before_the_answer(ask: Ask, tmp_path: Path) -> None:
    """With user, role, result and reason; reads are not, nor tokens; a killed site has all lines."""
    file = tmp_path / "users.json"
    tokens = {name: add_user(file, name, "red", role) for name, role in (("ann", "user"), ("olga", "operator"))}  # type: ignore[arg-type]
    options = ("--pace", "0.001", "--users", str(file))

    def asked(site: SiteProcess, who: str, method: str, path: str, body: Any = None) -> int:
        return call(site, method, path, [("Authorization", f"Bearer {tokens.get(who, 'x' * 43)}")], body)[0]

    with running_site(tmp_path, *options) as site:
        assert asked(site, "ann", "POST", "/api/leases", LEASE) == 201
        assert asked(site, "ann", "GET", "/api/leases") == 200
        assert asked(site, "eve", "POST", "/api/leases", LEASE) == 401
        assert asked(site, "ann", "PUT", "/api/clock", {"paused": True}) == 403
        assert asked(site, "ann", "GET", "/api/audit") == 403
        assert asked(site, "ann", "POST", "/api/leases", {"nodes": "\x1b[31m" * 100, "duration": 1}) == 422
        assert asked(site, "olga", "DELETE", "/api/leases/1") == 204
        site.kill()
        found = [
            (one.number, one.user, one.role, f"{one.method} {one.path}", one.status)
            for one in read_audit(tmp_path / "site" / "audit.jsonl")
        ]
    expected = [
        (1, "ann", "user", "POST /api/leases", 201),
        (2, "ann", "user", "PUT /api/clock", 403),
        (3, "ann", "user", "GET /api/audit", 403),
        (4, "ann", "user", "POST /api/leases", 422),
        (5, "olga", "operator", "DELETE /api/leases/1", 204),
    ]
    assert found == expected
    log = tmp_path / "site" / "audit.jsonl"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert not any(token in log.read_text() for token in tokens.values())
    first, second, _, fourth, _ = map(json.loads, log.read_text().splitlines())
    assert (first["made"], first["group"], json.loads(first["body"])) == ("/api/leases/1", "red", LEASE)
    assert second["problem"] == "only an operator may do this"
    assert len(fourth["body"]) == 200
    with log.open("a") as broken:
        broken.write('{"date": "2030')  # a line that was not completed
    with running_site(tmp_path, *options) as site:
        client = site.client(token=tokens["olga"])
        client.put("api", "clock", body={"pace": 2})
        wait_for(lambda: [one["number"] for one in client.get("api", "audit")] == [1, 2, 3, 4, 5, 6])
        assert [one["number"] for one in client.get("api", "audit", after=2, limit=2)] == [3, 4]
    rows = list(cells(ask("site", "audit", "site", "--refused", "--last", "2")[1]))
    assert [row[4:6] for row in rows] == [["Call", "Status"], ["GET /api/audit", "403"], ["POST /api/leases", "422"]]
    assert "\x1b" not in ask("site", "audit", "site")[1]
    assert [
        json.loads(line)["number"] for line in ask("site", "audit", "site", "--user", "olga", "--json")[1].splitlines()
    ] == [5, 6]
    assert ask("site", "audit", "site", "--user", "bob")[1] == "There are no entries.\n"
    assert "audit.jsonl: cannot be read" in ask("site", "audit", ".")[2]


def test_refused_calls_cannot_fill_the_disk(tmp_path: Path) -> None:
    """A hundred of a user are written, and one more each second."""
    with running_site(tmp_path, "--pace", "0.001", "--rate", "100000") as site:
        for _ in range(130):
            assert call(site, "PUT", "/api/clock", [("X-Bonfire-Asserted-Id", "ann")], {"paused": True})[0] == 403
        assert call(site, "PUT", "/api/clock", [], {"paused": True})[0] == 200
    users = [one.user for one in read_audit(tmp_path / "site" / "audit.jsonl")]
    assert 100 <= users.count("ann") < 130
    assert users[-1] == "local"


def test_any_part_of_a_long_log_is_read(tmp_path: Path) -> None:
    """By number, while lines are added, and after it was opened again."""
    log = AuditLog(tmp_path / "audit.jsonl")
    for number in range(1, 1001):
        log.append(entry(number))
    for opened in (log, AuditLog(tmp_path / "audit.jsonl")):
        for after in (0, 1, 254, 255, 256, 257, 511, 512, 998):
            assert [one.number for one in opened.read(after, 2)] == [after + 1, after + 2]
        assert [one.time for one in opened.read(999, 5)] == [1000]
        assert opened.read(1000, 5) == []
        opened.close()
    log.append(entry(0))  # the site has ended
    assert len(list(read_audit(tmp_path / "audit.jsonl"))) == 1000


def test_a_damaged_log_is_one_error(tmp_path: Path) -> None:
    """With the line."""
    log = tmp_path / "audit.jsonl"
    log.write_bytes(b"{}\n")
    with pytest.raises(SiteError, match=r"audit\.jsonl: line 1: Object missing required field"):
        list(read_audit(log))
    log.write_bytes(b"x" * 100_000)
    with pytest.raises(SiteError, match="a line is too long"):
        AuditLog(log)


def test_a_site_that_cannot_write_its_log_ends(tmp_path: Path) -> None:
    """With one line that says so: it accepts nothing of which it cannot keep who asked."""
    (tmp_path / "site").mkdir(mode=0o700)
    log = AuditLog(tmp_path / "site" / "audit.jsonl")
    while (tmp_path / "site" / "audit.jsonl").stat().st_size < 51_100:
        log.append(entry(1))
    log.close()
    limited = ("sh", "-c", 'ulimit -f 100; exec "$@"', "sh", sys.executable, "-m", "batsched_py", *SITE)
    command = [*limited, "--listen", "127.0.0.1:0", "--data", str(tmp_path / "site"), "--pace", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stderr is not None
        client = SiteClient(process.stderr.readline().split()[-1], patience=60)
        client.put("api", "clock", body={"pace": 2})
        told = process.communicate()[1]
    assert told == f"batsched-py: error: {tmp_path / 'site'}/audit.jsonl: cannot be written: File too large\n"
    assert process.returncode == 2


@pytest.mark.parametrize(
    ("replaced", "why"), [(False, "No such file or directory, while"), (True, "was replaced while")]
)
@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.post("api", "leases", body=LEASE),
        lambda client: client.get("api", "audit"),
    ],
    ids=["change", "read"],
)
def test_a_site_that_loses_its_log_accepts_nothing_and_ends(
    tmp_path: Path, replaced: bool, why: str, call: Callable[[SiteClient], Any]
) -> None:
    """The caller does not learn where the log was."""
    with running_site(tmp_path, "--pace", "1") as site:
        site.client().post("api", "leases", body=LEASE)
        log = tmp_path / "site" / "audit.jsonl"
        log.rename(tmp_path / "away")
        if replaced:
            log.write_bytes((tmp_path / "away").read_bytes())
        with pytest.raises(SiteError) as refused:
            call(site.client())
        assert str(refused.value) == "the site cannot keep requests: its log says why"
        told = site.process.communicate()[1]
        assert f"{log}: {why}" in told
    assert len(list(read_audit(tmp_path / "away"))) == 1
    with running_site(tmp_path, "--pace", "1") as site:
        assert len(site.client().get("api", "leases")) == 1


def test_a_notice_that_cannot_be_written_ends_the_site(tmp_path: Path) -> None:
    """The caller does not learn where it would be."""
    with running_site(tmp_path, "--pace", "1") as site:
        (tmp_path / "site" / "notices.json").mkdir()
        with pytest.raises(SiteError, match=r"^the site cannot keep requests: its log says why$"):
            site.client().post("api", "notices", body={"text": "Maintenance"})
        assert "notices.json: cannot be written: Is a directory" in site.process.communicate()[1]
