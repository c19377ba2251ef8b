"""The call `what-if` of a site and its command: bodies, users, one at a time, and a site that stops meanwhile."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

from tests.integration.test_served_site import served
from tests.integration.test_site import wait_for
from tests.integration.test_site_api import ask as send
from tests.integration.test_site_callers import GROUP, USER
from tests.integration.test_site_callers import ask as ask_as
from tests.integration.test_site_commands import Ask, ask, cells, follow
from tests.site_process import SiteProcess, running_site

__all__ = ["ask"]  # the fixture

WHAT_IF: Final = "/api/what-if"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    """A site whose time stands, with a lease that runs until 600 and waiting ones of two groups."""
    with running_site(tmp_path_factory.mktemp("site"), "--pace", "1e-9") as found:
        for user, group, nodes in (("ann", "red", 3), ("ann", "red", 4), ("bob", "red", 1), ("cy", "blue", 2)):
            found.client(user, group).post("api", "leases", body={"nodes": nodes, "duration": 600})
        wait_for(lambda: len(found.client().get("api", "queue")) == 2)
        yield found


def played(site: SiteProcess, user: str = "", group: str = "", **body: Any) -> Any:
    """Return the answer to a what-if of a user; of an operator without a name."""
    status, found = ask_as(site, "POST", WHAT_IF, [(USER, user)] * bool(user) + [(GROUP, group)] * bool(group), body)
    assert status == 200, found
    return found


def test_a_user_sees_own_leases_and_numbers_of_others(site: SiteProcess) -> None:
    """And those of the group; an operator sees all."""
    change = {"fail_hosts": "3"}  # of bob's lease, which ends
    found = played(site, "cy", "blue", **change)
    assert [one["number"] for one in found["leases"]] == [4]
    assert "ann" not in json.dumps(found)
    counts = {"earlier": 0, "later": 0, "waiting": 0, "changed_waiting": 0, "failed": 0, "changed_failed": 0}
    assert found["own"] == counts | {"leases": 1, "earlier": 1}
    assert found["others"] == counts | {"leases": 3, "changed_waiting": 1, "changed_failed": 1, "later": 1}
    found = played(site, "ann", "red", **change)
    assert [one["number"] for one in found["leases"]] == [1, 2, 3]
    found = played(site, **change)
    assert [(one["number"], one["user"]) for one in found["leases"]] == [(1, "ann"), (2, "ann"), (3, "bob"), (4, "cy")]
    assert (found["others"]["leases"], found["left_off"]) == (0, 0)
    failed = found["leases"][2]
    assert (failed["end"], failed["changed_end"], failed["difference"]) == (600, 0, None)
    assert (failed["outcome"], failed["changed_outcome"]) == ("Done", "Fail")


@pytest.mark.parametrize(
    ("body", "status", "path", "rule"),
    [
        ({"horizont": 1}, 422, "data", "unknown field `horizont`"),
        ({"horizon": 0}, 422, "horizon", "Expected `float` > 0"),
        ({"horizon": 3e6}, 422, "horizon", "Expected `float` <= 2678400"),
        ({"horizon": "60"}, 422, "horizon", "Expected `float`, got `str`"),
        ({"algorithm": "easyy"}, 422, "algorithm", "unknown; did you mean easy?"),
        ({"algorithm": "/tmp/own.py"}, 422, "algorithm", "unknown; "),
        ({"algorithm": "os:system"}, 422, "algorithm", "unknown; "),
        ({"algorithm": "easy", "options": {"order": "os:system"}}, 422, "options", "option order of easy: must be"),
        ({"options": {"policy_admission": "own.py:Own"}}, 422, "options", "option policy_admission of experiments"),
        ({"options": {"file": "/etc/passwd"}}, 422, "options", "option file of experiments: is set by the user alone"),
        ({"options": {"backfilling": ["off"]}}, 422, "options[...]", "Expected `bool | int | float | str | null`"),
        ({"options": {"backfilling": "intermediate"}}, 422, "options", "backfilling_reservations must be given"),
        ({"options": {"suspend_rate": 3}}, 409, "", "option suspend_rate of experiments cannot change"),
        ({"algorithm": "slurm"}, 409, "", "slurm cannot take over from experiments: it would begin"),
        ({"drain_hosts": "4"}, 422, "drain_hosts", "host 4"),
        ({"return_hosts": "0"}, 409, "return_hosts", "host 0 is in service"),
        ({"lease": {"nodes": 1}}, 422, "lease", "missing required field `duration`"),
        ({"lease": {"nodes": 0, "duration": 1}}, 422, "lease.nodes", "Expected `int` >= 1"),
        ({"lease": {"nodes": 1, "duration": -1}}, 422, "lease.duration", "must be greater than 0 s"),
    ],
)
def test_a_wrong_change_is_refused_with_its_member(
    site: SiteProcess, body: dict[str, Any], status: int, path: str, rule: str
) -> None:
    """Names of files and of code, too, and options that only who starts the site may set."""
    got, _, found = send(site, "POST", WHAT_IF, json.dumps(body).encode())
    (problem,) = found["problems"]
    assert (got, problem["path"]) == (status, path), problem
    assert rule in problem["message"]


def test_a_doubled_member_is_refused(site: SiteProcess) -> None:
    """Also in the lease."""
    for body in (b'{"horizon": 5, "horizon": 6}', b'{"lease": {"nodes": 1, "nodes": 2, "duration": 3}}'):
        assert send(site, "POST", WHAT_IF, body)[0] == 422


def test_a_site_plays_one_at_a_time_and_answers_meanwhile(site: SiteProcess) -> None:
    """Another one is refused, to be tried again; afterwards it is played."""
    statuses = list[int]()

    def play() -> None:
        statuses.append(send(site, "POST", WHAT_IF, b"{}")[0])

    threads = [threading.Thread(target=play) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert send(site, "GET", "/api/clock")[0] == 200
    for thread in threads:
        thread.join()
    assert set(statuses) == {200, 503}
    assert send(site, "POST", WHAT_IF, b"{}")[0] == 200


def test_the_command_shows_both_futures(site: SiteProcess, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of leases, the numbers, and the lease more; refusals are one line."""
    follow(site, monkeypatch)
    code, out, _ = ask("what-if", "-n", "1", "-d", "100", "-t", "+700", "--drain", "3", "--horizon", "5000")
    assert code == 0
    rows = list(cells(out))
    assert rows[0] == ["Played from 0 to 5000."]
    assert ["2", "ann", "Ready", "600", "1200", "-", "- Queued"] in rows
    assert ["4 leases: 1 earlier, 1 later; not started: 0, under the change 1; mean difference -200 s."] in rows
    assert rows[-1] == ["The lease more: Done, 700 to 800."]
    assert "later" in ask("what-if", "--user", "cy", "-s", "conservative")[1]
    assert ask("what-if", "-o", "backfilling=on")[::2] == (
        2,
        "batsched-py: error: options: option backfilling of experiments: must be off | aggressive | conservative |"
        " intermediate, not 'on'\n",
    )
    assert ask("what-if", "-t", "+5")[0] == 2


def test_files_and_journal_stay_as_they_are(tmp_path: Path) -> None:
    """Only the audit log has an entry for each call."""
    with running_site(tmp_path, "--pace", "1e-9") as site:
        site.client().post("api", "leases", body={"nodes": 3, "duration": 600})
        wait_for(lambda: site.client().get("api", ["leases", "1"][0])[0]["state"] == "Active")
        kept = {name: (tmp_path / "site" / name).read_bytes() for name in ("transcript.jsonl", "site.sqlite")}
        number = site.client().get("api", "site")["clock"]
        found = played(site, fail_hosts="0", lease={"nodes": 4, "duration": 60})
        assert found["added"]["outcome"] == "Queued"
        assert {name: (tmp_path / "site" / name).read_bytes() for name in kept} == kept
        assert site.client().get("api", "site")["clock"] == number
        assert [one["path"] for one in site.client().get("api", "audit")][-1] == WHAT_IF
        made = site.client().post("api", "leases", body={"nodes": 1, "duration": 60})
        assert made["number"] == 2


def test_a_site_with_batsim_cannot_be_played(tmp_path: Path) -> None:
    """Only Batsim knows its jobs."""
    with served(tmp_path) as (client, _):
        wait_for(lambda: client.get("healthz")["status"] == "ready")
        with pytest.raises(Exception, match="a site with Batsim cannot be played ahead: only Batsim knows its jobs"):
            client.post("api", "what-if", body={})
