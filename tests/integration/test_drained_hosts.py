"""Hosts that are drained, fail and return: by events and at a site, with leases that run, wait and are reserved."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.integration.test_lease_controls import lease, simulate, starts
from tests.integration.test_requests import cancellation
from tests.integration.test_site import wait_for
from tests.integration.test_site_commands import Ask, ask, cells, follow
from tests.site_process import running_site

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

__all__ = ["ask"]  # a fixture


def hosts(time: float, kind: str, some: object) -> dict[str, object]:
    """Return the event that changes hosts."""
    return {"timestamp": time, "type": kind, "resources": some}


def test_what_runs_on_drained_hosts_goes_on_and_nothing_starts(tmp_path: Path) -> None:
    """A lease of all hosts waits for the return of one; a lease of three does not."""
    events = [lease(0, 1, 4, 50), lease(1, 2, 4, 10), lease(2, 3, 3, 10), hosts(20, "drain_hosts", "3")]
    found = simulate(tmp_path, [*events, hosts(100, "undrain_hosts", "3")])
    assert {name: (start, end) for name, (_, start, end) in found.items()} == {
        "1": (0, 50),
        "3": (50, 60),
        "2": (100, 110),
    }


def test_reservations_leave_drained_hosts_or_are_rejected(tmp_path: Path) -> None:
    """One of three hosts moves to the fourth; one of all has no place any more."""
    events = [lease(0, 1, 3, 10, start=50), lease(0, 2, 4, 10, start=80), hosts(20, "drain_hosts", "0")]
    found = simulate(tmp_path, [*events, hosts(70, "undrain_hosts", "0")])
    assert (found["1"][1], found["2"][0]) == (50, "REJECTED")


def test_a_drained_host_that_fails_ends_its_leases(tmp_path: Path) -> None:
    """And returns as drained."""
    events = [lease(0, 1, 4, 50), hosts(10, "drain_hosts", "1"), hosts(20, "machine_unavailable", "1")]
    events += [hosts(30, "machine_available", "1"), lease(40, 2, 4, 5), hosts(60, "undrain_hosts", "1")]
    found = simulate(tmp_path, events)
    assert found["1"][0].startswith("COMPLETED_")
    assert (found["1"][2], found["2"][1]) == (20, 60)


def test_drains_end_when_no_request_can_follow(tmp_path: Path) -> None:
    """Leases that wait for the hosts are completed."""
    events = [lease(0, 1, 4, 50), hosts(10, "drain_hosts", "0-3"), lease(20, 2, 4, 5), cancellation(70, "s!9")]
    assert starts(simulate(tmp_path, events))["2"] == 70


def test_wrong_hosts_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And change nothing."""
    wrong = [hosts(at, "drain_hosts", some) for at, some in enumerate(["9", "x", 3, "\x1b[31m", None], 1)]
    assert starts(simulate(tmp_path, [lease(0, 1, 4, 50), *wrong, lease(10, 2, 4, 5)])) == {"1": 0, "2": 50}
    told = capsys.readouterr().err
    assert "\x1b" not in told
    assert "t=1: drain_hosts: resources: host 9 does not exist; it is ignored" in told
    assert "t=3: drain_hosts: resources: must be a text, not 3; it is ignored" in told
    assert len(set(re.findall(r"t=\d+: drain_hosts: resources: ", told))) == 5


def test_an_operator_takes_hosts_out_of_service(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list says which, why and by whom, after kill -9, too; each refusal is one line."""

    def states() -> list[list[str]]:
        return [row[:1] + row[4:] for row in cells(ask("hosts")[1])][1:]

    with running_site(tmp_path, "--pace", "0.001") as site:
        follow(site, monkeypatch)
        assert ask("lease", "request", "-n", "2", "-d", "600")[0] == 0
        wait_for(lambda: "Active" in ask("lease", "show", "1")[1])
        assert [row[1] for row in states()] == ["busy", "busy", "free", "free"]
        assert ask("hosts", "drain", "0,2", "--reason", "new disk") == (0, "", "")
        assert ask("hosts", "fail", "3") == (0, "", "")
        wait_for(lambda: [row[1] for row in states()] == ["draining", "busy", "drained", "unavailable"])
        assert states()[2] == ["2", "drained", "local", "new disk"]
        client = site.client()
        client.post("api", "leases", body={"nodes": 4, "duration": 600})
        wait_for(lambda: client.get("api", "queue") != [])
        (waiting,) = client.get("api", "queue")
        assert waiting["why"].endswith(", 1 unavailable, 2 drained")
        assert "estimated_start" not in waiting
        out = site.client().get("api", "hosts", out="true", limit=2)
        assert [one["number"] for one in out] == [0, 2]
        for words, rule in [
            (("drain", "2"), "hosts: host 2 is drained already"),
            (("fail", "3"), "hosts: host 3 is unavailable already"),
            (("return", "1-2"), "hosts: host 1 is in service"),
            (("drain", "4"), "hosts: "),
            (("drain", "x"), "hosts: "),
            (("drain", ""), "hosts: "),
            (("drain", "1", "--reason", "x" * 201), "reason: "),
            (("drain", "1", "--user", "ann"), "only an operator may do this"),
        ]:
            code, _, told = ask("hosts", *words)
            assert (code, told.startswith(f"batsched-py: error: {rule}"), told.count("\n")) == (2, True, 1), told
        before = states()
        site.kill()
    with running_site(tmp_path, "--pace", "0.001") as site:
        follow(site, monkeypatch)
        assert states() == before
        assert ask("hosts", "return", "0-2")[2].endswith("host 1 is in service\n")
        assert ask("hosts", "return", "0 2-3") == (0, "", "")
        wait_for(lambda: [row[1] for row in states()] == ["busy", "busy", "free", "free"])
        assert len(states()[0]) == 2
    assert run_replay(tmp_path, ask) == 0


def run_replay(folder: Path, ask: Ask) -> int:
    """Replay the decisions of a site; return the exit code."""
    return ask("replay", str(folder / "site" / "transcript.jsonl"))[0]


def test_algorithms_without_leases_drain_nothing(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their hosts fail and return."""
    with running_site(tmp_path, "--pace", "0.001", "-s", "easy") as site:
        follow(site, monkeypatch)
        assert ask("hosts", "drain", "0")[2] == "batsched-py: error: the algorithm easy cannot drain hosts\n"
        assert ask("hosts", "fail", "0-3") == (0, "", "")
        assert site.client().post("api", "jobs", body={"nodes": 4, "walltime": 600})["number"] == 2
        wait_for(lambda: site.client().get("api", "leases", 2)["state"] == "waiting")
        assert ask("hosts", "return", "0-3") == (0, "", "")
        wait_for(lambda: site.client().get("api", "leases", 2)["state"] == "running")


def test_a_site_that_is_closed_completes_what_waits_for_hosts(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hosts that failed or are drained return to service, and held leases are cancelled."""
    with running_site(tmp_path, "--pace", "max") as site:
        follow(site, monkeypatch)
        assert ask("hosts", "fail", "0-1") == (0, "", "")
        assert ask("hosts", "drain", "2-3") == (0, "", "")
        for _ in range(2):
            assert ask("lease", "request", "-n", "4", "-d", "600")[0] == 0
        assert ask("lease", "hold", "4")[0] == 0
        assert ask("site", "close")[0] == 0
        site.process.communicate()
        assert site.process.returncode == 0
    assert ask("site", "results", "site", "-e", "all")[0] == 0
    states = [line.split(",")[2] for line in Path("all_leases.csv").read_text().splitlines()]
    assert sorted(states[1:]) == ["Cancelled", "Done"]
