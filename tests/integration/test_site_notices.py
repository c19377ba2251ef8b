"""Notices of operators to all users: published, shown by the commands that list, kept, and removed."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

from batsched_py.errors import SiteError
from batsched_py.site.audit import read_audit
from tests.integration.test_site_commands import Ask, ask, cells, follow
from tests.site_process import SiteProcess, running_site

__all__ = ["ask"]  # a fixture
LISTS = (("queue",), ("lease", "list"), ("experiment", "list"), ("reservation", "list"), ("hosts",))


def test_a_notice_is_shown_by_the_commands_that_list_and_survives_a_kill(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a line of its own on standard error; a backup has it too, and the audit log who published it."""
    options, users = ("--pace", "0.001", "-o", "reservations=on"), ("--user", "ann")
    with running_site(tmp_path, *options) as site:
        follow(site, monkeypatch)
        assert ask("site", "notice", "list") == (0, "There are no notices.\n", "")
        assert ask("site", "notice", "add", "<b>Disks</b> & [red]more[/red]") == (0, "Notice ID: 1\n", "")
        assert ask("site", "notice", "add", "Maintenance", "--until", "2999-01-01 12:00:00+01:00")[0] == 0
        refused = ask("site", "notice", "add", "mine", *users)
        assert refused == (2, "", "batsched-py: error: only an operator may do this\n")
        site.kill()
    with running_site(tmp_path, *options) as site:
        follow(site, monkeypatch)
        first, second = site.client("ann").get("api", "notices")
        assert (first["until"], second["until"][:10]) == (None, "2999-01-01")
        lines = f"notice: {first['text']} (local)\nnotice: Maintenance (local, until {second['until']})\n"
        for words in LISTS:
            assert (words, ask(*words, *users)[2]) == (words, lines)
        assert ask("lease", "request", "-n", "1", "-d", "60", *users)[2] == ""
        header, one, _ = cells(ask("site", "notice", "list")[1])
        assert (header[0], header[-1], one[0], one[-1]) == ("ID", "Text", "1", first["text"])
        assert ask("backup", "copy", "--data", "site")[0] == 0
        assert ask("site", "notice", "remove", "1") == (0, "", "")
        assert "there is no notice 1" in ask("site", "notice", "remove", "1")[2]
        assert ask("queue")[2].splitlines() == [lines.splitlines()[1]]
    assert ask("restore", "copy", "--data", "again")[0] == 0
    restored = json.loads((tmp_path / "again" / "notices.json").read_text())
    assert [one["text"] for one in restored["notices"]] == [first["text"], "Maintenance"]
    found = [(one.method, one.status, one.made) for one in read_audit(tmp_path / "site" / "audit.jsonl")]
    made = [("POST", 201, "/api/notices/1"), ("POST", 201, "/api/notices/2"), ("POST", 403, "")]
    assert found[:3] == made
    assert found[-2:] == [("DELETE", 204, ""), ("DELETE", 404, "")]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ({"text": ""}, "text: "),
        ({"text": "x" * 501}, "text: "),
        ({"text": "a\nb"}, "text: must be on one line"),
        ({"text": "\x1b[31mred"}, "text: must be on one line"),
        ({"text": "\u202eevil"}, "text: must be on one line"),
        ({"text": 5}, "text: "),
        ({}, "text"),
        ({"text": "x", "until": "soon"}, "until: must be a date like"),
        ({"text": "x", "until": "+soon"}, r"until: must be \[DD:\]HH:MM:SS"),
        ({"text": "x", "until": "+0"}, "until: must be after now"),
        ({"text": "x", "until": "+" + "9" * 90}, "until: must be after now"),
        ({"text": "x", "until": "1999-01-01T00:00:00"}, "until: must be after now"),
        ({"text": "x", "until": "9999-12-31T00:00:00"}, "until: must be after now"),
        ({"text": "x", "more": 1}, "more"),
    ],
)
def test_a_notice_that_breaks_a_rule_is_refused(quiet_site: SiteProcess, body: dict[str, Any], rule: str) -> None:
    """With the member and the rule."""
    with pytest.raises(SiteError, match=rule):
        quiet_site.client().post("api", "notices", body=body)
    assert quiet_site.client().get("api", "notices") == []


def test_a_site_has_twenty_notices_at_most(quiet_site: SiteProcess) -> None:
    """Another one is refused until one is removed; an end from now on is a date."""
    client = quiet_site.client()
    numbers = [client.post("api", "notices", body={"text": "x", "until": "+01:00:00"})["number"] for _ in range(20)]
    with pytest.raises(SiteError, match="the site has 20 notices: remove one first"):
        client.post("api", "notices", body={"text": "x"})
    assert all(one["until"] > one["published"] for one in client.get("api", "notices"))
    for number in numbers:
        client.delete("api", "notices", number)


def test_a_site_that_cannot_keep_a_notice_ends(tmp_path: Path) -> None:
    """Its log names the file, the answer does not. It does not start with a damaged file, and says which."""
    with running_site(tmp_path, "--pace", "0.001") as site:
        (tmp_path / "site" / "notices.json").mkdir()
        with pytest.raises(SiteError, match="the site cannot keep requests: its log says why"):
            site.client().post("api", "notices", body={"text": "x"})
        _, told = site.process.communicate()
        assert "notices.json: cannot be written: Is a directory" in told
    (tmp_path / "site" / "notices.json").rmdir()
    (tmp_path / "site" / "notices.json").write_text('{"notices": "none"}')
    rule = r"error: .*notices\.json: .*`\$\.notices`.*: correct the file, or remove it"
    with pytest.raises(AssertionError, match=rule):
        SiteProcess(tmp_path, ("--pace", "0.001"))


def test_an_event_says_that_notices_have_changed(quiet_site: SiteProcess) -> None:
    """Though nothing else has."""
    client = quiet_site.client()
    with urllib.request.urlopen(f"{quiet_site.url}/api/events", timeout=60) as answer:
        lines = (line.decode().strip() for line in answer)
        assert next(line for line in lines if line.startswith("event:")) == "event: change"
        number = client.post("api", "notices", body={"text": "x"})["number"]
        assert next(line for line in lines if line.startswith("event:")) == "event: notice"
    client.delete("api", "notices", number)


@pytest.fixture(scope="module")
def quiet_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    """A site whose time stands nearly still."""
    with running_site(tmp_path_factory.mktemp("quiet"), "--pace", "0.001") as site:
        yield site
