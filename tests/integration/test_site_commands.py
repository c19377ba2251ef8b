"""Commands of a live site for experiments and timelines, and those that close it and take its results."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from batsched_py.cli.main import run
from tests.integration.test_site import wait_for
from tests.integration.test_site_callers import ask as call
from tests.site_process import SiteProcess, running_site

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

WEB = {"name": "web", "duration": 60, "resources": [{"compute": {"name": "Server", "locations": ["here"]}}]}
VMS = {
    "vms": {
        "vm": [{"at": 10, "run": "first"}, {"at": 15, "break": True}, {"at": 30, "run": "second"}],
        "other": [{"at": 5, "run": "x", "takes": 3}],
    }
}
Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run a command in the folder of a site; return its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def asked(*words: str) -> tuple[int, str, str]:
        code = run(words)
        return code, *capsys.readouterr()

    return asked


def follow(site: SiteProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the commands address a site."""
    monkeypatch.setenv("BATSCHED_PY_URL", site.url)


def cells(table: str) -> Iterator[list[str]]:
    """Yield the rows of a printed table."""
    for line in table.splitlines():
        if line.strip() and "─" not in line:
            yield re.split(r" {2,}", line.strip())


#: Options of `experiment list`.
SELECTIONS: Final = (
    ("--newest",),
    ("--newest", "--first", "1"),
    ("--before", "2", "--state", "deployed"),
    ("--after", "1", "--text", "WEB"),
    ("--state", "failed"),
    ("--owner", "ann"),
)


def _is_deployed(ask: Ask, number: str) -> bool:
    return ask("experiment", "status", number)[1].startswith("web: DEPLOYED\n")


def test_experiments_are_submitted_shown_and_deleted(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the operator and by users, each with their own; the results have all of them."""
    Path("web.json").write_text(json.dumps(WEB))
    Path("bad.json").write_text('{"name": "x"}')
    with running_site(tmp_path, "--pace", "0.001") as site:
        follow(site, monkeypatch)
        assert ask("experiment", "list") == (0, "There are no experiments.\n", "")
        assert ask("experiment", "submit", "web.json") == (0, "Experiment submitted.\nExperiment ID: 1\n", "")
        assert ask("experiment", "submit", "web.json", "--user", "ann")[1].endswith("ID: 2\n")
        for number in ("1", "2"):
            wait_for(partial(_is_deployed, ask, number))
        assert ["Server", "compute", "here", "created", "0", "10.0.0.1"] in cells(ask("experiment", "status", "1")[1])
        assert json.loads(ask("experiment", "status", "1", "--json")[1])["name"] == "web"
        rows = list(cells(ask("experiment", "list", "--user", "ann")[1]))
        assert [row[:4] for row in rows] == [["ID", "name", "owner", "state"], ["2", "web", "ann", "DEPLOYED"]]
        assert "Server: Server created at here, address 10.0.0.1" in ask("experiment", "log", "1")[1]
        listed = [[row[0] for row in cells(ask("experiment", "list", *more)[1])][1:] for more in SELECTIONS]
        assert listed == [["2", "1"], ["2"], ["1"], ["2"], [], ["2"]]
        messages = ask("experiment", "log", "1")[1].splitlines()
        assert ask("experiment", "log", "1", "--newest", "--first", "2")[1].splitlines() == messages[:-3:-1]
        assert ask("experiment", "log", "1", "--text", "address")[1].splitlines() == [
            line for line in messages if "address" in line
        ]
        code, _, error = ask("experiment", "delete", "2", "--user", "bob")
        assert (code, error) == (2, "batsched-py: error: it belongs to another user\n")
        assert ask("experiment", "delete", "1") == (0, "", "")
        wait_for(lambda: [row[0] for row in cells(ask("experiment", "list")[1])] == ["ID", "2"])
        assert "duration: is missing; resources: is missing" in ask("experiment", "submit", "bad.json")[2]
        assert ask("site", "results", "site", "-e", "half")[0] == 0
    states = [line.split(",")[3] for line in Path("half_experiments.csv").read_text().splitlines()]
    assert states == ["state", "DELETED", "DEPLOYED"]


def test_a_break_of_an_experiment_is_ended(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the user who submitted it, while it is live; an added entry has the contexts of its machine."""
    server = {"name": "Server", "locations": ["here"], "resources": [{"network": "lan"}]}
    client = {"name": "Client", "locations": ["here"], "resources": [{"network": "lan"}]}
    server["timeline"] = [{"at": 10, "run": "serve"}, {"at": 100, "break": True}, {"at": 200, "run": "collect"}]
    client["contexts"] = [{"server": ["Server", "lan"]}]
    client["timeline"] = [{"at": -5, "run": "join ${ctx.server}"}]
    resources = [{"network": {"name": "lan", "location": "here"}}, {"compute": server}, {"compute": client}]
    Path("combined.json").write_text(json.dumps({"name": "combined", "duration": 6000, "resources": resources}))
    Path("web.json").write_text(json.dumps(WEB))
    with running_site(tmp_path, "--pace", "600") as site:
        follow(site, monkeypatch)
        ann, bob = ("--experiment", "1", "--user", "ann"), ("--experiment", "1", "--user", "bob")
        assert ask("experiment", "submit", "combined.json", "--user", "ann")[0] == 0
        assert ask("experiment", "submit", "web.json", "--user", "ann")[0] == 0

        def held_by() -> str | None:
            code, found, _ = ask("timeline", "status", "--json", *ann)
            return None if code else str(json.loads(found)["vms"][0]["held_by"])

        wait_for(lambda: held_by() == "break@100")
        for refused in (("status", *bob), ("resume", *bob), ("add", "Server", "{}", *bob)):
            assert ask("timeline", *refused)[2] == "batsched-py: error: it belongs to another user\n"
        assert "VM 'x': " in ask("timeline", "resume", "x", *ann)[2]
        assert "has no timelines" in ask("timeline", "status", "--experiment", "2", "--user", "ann")[2]
        assert "no timelines of its own" in ask("timeline", "status")[2]
        wrong = ask("timeline", "add", "Client", '{"at": 150, "run": "ask ${ctx.nobody}"}', *ann)
        assert (wrong[0], "context 'nobody': " in wrong[2]) == (2, True)
        assert "twice" in ask("timeline", "add", "Client", '{"at": 150, "at": 160, "run": "ask"}', *ann)[2]
        added = json.dumps({"at": 150, "run": "ask ${ctx.server}"})
        assert ask("timeline", "add", "Client", added, *ann)[0] == 0
        assert ask("timeline", "resume", "Server", *ann)[0] == 0

        def outcomes(vm: str) -> dict[str, str]:
            return {row["name"]: row["outcome"] for row in json.loads(ask("timeline", "status", vm, "--json", *ann)[1])}

        wait_for(lambda: outcomes("Server")["collect"] == "done")
        assert outcomes("Client") == {"join 10.0.0.1": "done", "ask 10.0.0.1": "done"}
        assert ask("site", "results", "site", "-e", "all")[0] == 0
    assert "1/Client,ask 10.0.0.1,run,150," in Path("all_timeline.csv").read_text()


def test_leases_of_several_users_have_their_names(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that an operator sees whose is whose; users with one name do not need it. Metrics compare them."""
    with running_site(tmp_path, "--pace", "1000") as site:
        follow(site, monkeypatch)
        for user in ("ann", "bob"):
            assert ask("lease", "request", "-n", "1", "-d", "60", "--user", user)[0] == 0
        wait_for(lambda: ask("lease", "list", "--all")[1].count("Done") == 2)
        assert [row[:2] for row in cells(ask("lease", "list", "--all")[1])] == [
            ["ID", "User"],
            ["1", "ann"],
            ["2", "bob"],
        ]
        assert [row[0] for row in cells(ask("lease", "list", "--all", "--user", "bob")[1])] == ["ID", "2"]
        assert next(cells(ask("lease", "list", "--all", "--owner", "ann")[1]))[:2] == ["ID", "Type"]
        assert ask("site", "results", "site", "-e", "out")[0] == 0
    assert Path("out_users.csv").read_text() == "job,user\nsite!1,ann\nsite!2,bob\n"
    assert ["users", "2"] in cells(ask("metrics", "out")[1])


def test_timelines_are_shown_resumed_and_extended(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A break is ended, an entry is added; after the site was closed, its results have both."""
    Path("timelines.json").write_text(json.dumps(VMS))
    options = ("--pace", "max", "-s", "timelines", "-o", "file=timelines.json")
    with running_site(tmp_path, *options) as site:
        follow(site, monkeypatch)

        def state() -> dict[str, list[str]]:
            return {row[0]: row[1:] for row in cells(ask("timeline", "status")[1])}

        wait_for(lambda: state().get("vm", [])[2:] == ["break@15", "second"])
        assert ask("timeline", "status")[1].startswith("The experiment is at ")
        assert ask("timeline", "add", "vm", '{"at": 40, "run": "probe"}')[1].startswith("Added at ")
        assert ask("timeline", "add", "vm", "[]")[2].startswith("batsched-py: error: JSON: must be")
        assert ask("timeline", "add", "vm", "{")[0] == 2
        assert ask("timeline", "status", "nobody")[2] == "batsched-py: error: there is no VM nobody\n"
        assert ask("timeline", "resume", "vm")[1].startswith("Resumed at ")
        assert ask("timeline", "resume")[2] == "batsched-py: error: no break holds a VM\n"
        wait_for(
            lambda: any(row["name"] == "probe" for row in json.loads(ask("timeline", "status", "vm", "--json")[1]))
        )
        assert json.loads(ask("timeline", "status", "--json")[1])["failed"] == ""
        assert ask("site", "close") == (0, "The site ends when all requests are done.\n", "")
        site.process.communicate()
    assert "with -o or --options-file" in ask("site", "results", "site", "-e", "all")[2]
    assert ask("site", "results", "site", "-e", "all", "-o", "file=timelines.json")[0] == 0
    assert "\nvm,probe,run,40," in Path("all_timeline.csv").read_text()


def test_leases_are_held_released_and_prioritised(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list says what is held; what is refused is one line."""
    with running_site(tmp_path, "--pace", "0.001") as site:
        follow(site, monkeypatch)
        assert ask("lease", "request", "-n", "4", "-d", "600")[0] == 0
        assert ask("lease", "request", "-n", "4", "-d", "600", "--user", "ann")[0] == 0
        wait_for(lambda: "Active" in ask("lease", "show", "1")[1])
        assert ask("lease", "hold", "1")[2] == (
            "batsched-py: error: it has begun (Active): only waiting leases can be held\n"
        )
        assert ask("lease", "hold", "2", "--user", "ann") == (0, "", "")
        assert ask("lease", "hold", "2", "--user", "ann")[2] == "batsched-py: error: it is held already\n"
        wait_for(lambda: ", held" in ask("lease", "list")[1])
        assert ask("lease", "release", "2", "--user", "bob")[2] == "batsched-py: error: it belongs to another user\n"
        assert ask("lease", "release", "2", "--user", "ann") == (0, "", "")
        wait_for(lambda: ", held" not in ask("lease", "list")[1])
        assert ask("lease", "priority", "2", "--to", "-3", "--user", "ann") == (0, "", "")
        wait_for(lambda: re.search(r"^priority +-3$", ask("lease", "show", "2")[1], re.MULTILINE) is not None)
        assert ask("lease", "priority", "2", "--to", "-2", "--user", "ann")[2] == (
            "batsched-py: error: priority: only an operator may raise its priority, which is -3\n"
        )
        assert ask("lease", "release", "2")[2] == "batsched-py: error: it is not held\n"
        assert "-10000<=x<=10000" in ask("lease", "priority", "2", "--to", "10001")[2]


def test_a_site_without_leases_holds_none(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The algorithm cannot, which the answer says."""
    with running_site(tmp_path, "--pace", "0.001", "-s", "fcfs") as site:
        follow(site, monkeypatch)
        for _ in range(2):
            site.client().post("api", "jobs", body={"nodes": 4, "walltime": 600})
        rule = "batsched-py: error: the algorithm fcfs cannot hold, release or prioritise jobs\n"
        wait_for(lambda: "waiting" in ask("lease", "show", "2")[1])
        assert ask("lease", "hold", "2") == (2, "", rule)
        assert ask("lease", "priority", "2", "--to", "1") == (2, "", rule)


def test_a_time_that_is_no_finite_number_is_refused(ask: Ask) -> None:
    """By the command, before a site is asked: JSON has no such number."""
    for text in ("inf", "nan", "-Infinity", "1e999"):
        rule = f"must be a finite number of seconds, or [DD:]HH:MM:SS, not {text!r}"
        for words, option in [
            (("job", "-n", "1", "-w", text), "-w"),
            (("job", "-n", "1", "-w", "5", "-d", text), "-d"),
            (("request", "-n", "1", "-d", text), "-d"),
            (("request", "-n", "1", "-d", "5", "-t", text), "-t"),
            (("request", "-n", "1", "-d", "5", "--deadline", text), "--deadline"),
        ]:
            code, _, told = ask("lease", *words)
            assert (code, f"'{option}' {rule}" in told) == (2, True), told
    assert "'--pace': must be a number or max, not 'fast'" in ask("site", "clock", "--pace", "fast")[2]


@pytest.mark.parametrize(
    ("algorithm", "terms", "refused", "rule"),
    [
        (
            "easy",
            {
                "start": "+60",
                "deadline": 1e6,
                "preemptible": True,
                "capacity": {"cpu": 50},
                "software": {"image": "a", "size": 1},
                "constraint": "$id == 2",
            },
            ["start", "deadline", "preemptible", "capacity", "software", "constraint"],
            "the algorithm easy knows no leases: request a job without terms",
        ),
        ("easy", {"start": "best_effort", "preemptible": False, "deadline": None}, [], ""),
        (
            "ar_preempt",
            {"start": "+60", "preemptible": False, "deadline": 1e6, "capacity": {"cpu": 50}},
            ["deadline", "capacity"],
            "the algorithm ar_preempt does not obey this term",
        ),
    ],
)
def test_terms_that_the_algorithm_would_ignore_are_refused(
    tmp_path: Path, algorithm: str, terms: dict[str, Any], refused: list[str], rule: str
) -> None:
    """Each with its name, and the algorithm; the site says which it obeys."""
    with running_site(tmp_path, "--pace", "0.001", "-s", algorithm) as site:
        status, answer = call(site, "POST", "/api/leases", [], {"nodes": 1, "duration": 60, **terms})
        assert status == (409 if refused else 201)
        problems = answer.get("problems", [])
        assert [(one["path"], one["message"]) for one in problems] == [(name, rule) for name in refused]
        known = site.client().get("api", "site")["lease_terms"]
        assert known == ([] if algorithm == "easy" else ["start", "preemptible"])
