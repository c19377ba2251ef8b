"""The HTTP door of a site, over real sockets: leases, jobs, hosts, clock; who may ask, and how often."""

from __future__ import annotations

import http.client
import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families

from batsched_py.cli.main import run
from batsched_py.errors import SiteError
from tests.integration.test_site import wait_for
from tests.site_process import SiteProcess, running_site

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

#: Reservations may take hosts from others.
PREEMPTION = ("-o", "policy_preemption=ar-preempts-everything")
TOKEN = "a-secret-of-many-characters"
ANN = {"Authorization": f"Bearer {TOKEN}", "X-Bonfire-Asserted-Id": "ann"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    """A site as fast as it can."""
    with running_site(tmp_path_factory.mktemp("site"), "--pace", "max", *PREEMPTION) as found:
        yield found


@pytest.fixture(scope="module")
def busy_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    """A site whose time stands nearly still, with a lease that runs and three that wait."""
    with running_site(tmp_path_factory.mktemp("site"), "--pace", "0.001") as found:
        client = found.client(user="ann")
        for nodes in (4, 1, 1, 1):
            client.post("api", "leases", body={"nodes": nodes, "duration": 600})
        wait_for(lambda: len(client.get("api", "queue")) == 3)
        yield found


def ask(
    site: SiteProcess, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], Any]:
    """Ask whatever; return status, headers and content."""
    parts = urlsplit(site.url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=30)
    given = {"Content-Type": "application/json"} if body is not None else {}
    connection.request(method, path, body, given | (headers or {}))
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    names = {name.lower(): value for name, value in answer.getheaders()}
    return answer.status, names, json.loads(content) if content else None


def problems(answer: tuple[int, dict[str, str], Any]) -> tuple[int, list[tuple[str, str]]]:
    """Return the status, and paths and messages of problems."""
    return answer[0], [(one["path"], one["message"]) for one in answer[2]["problems"]]


def test_a_lease_is_handed_in_shown_and_done(site: SiteProcess) -> None:
    """201 and Location; then its states."""
    status, headers, lease = ask(site, "POST", "/api/leases", b'{"nodes": 4, "duration": "00:10:00"}')
    assert (status, headers["location"], lease["state"]) == (201, f"/api/leases/{lease['number']}", "New")
    client = site.client()
    wait_for(lambda: client.get("api", "leases", lease["number"])["state"] == "Done")
    shown = client.get("api", "leases", lease["number"])
    assert (shown["type"], shown["duration"], shown["nodes"]) == ("Best-effort", 600, 4)
    assert shown["end"] - shown["start"] == 600
    assert lease["number"] not in [one["number"] for one in client.get("api", "leases")]
    assert lease["number"] in [one["number"] for one in client.get("api", "leases", finished="true")]


def test_a_job_without_terms_is_handed_in(site: SiteProcess) -> None:
    """It may take less than its walltime."""
    lease = site.client().post("api", "jobs", body={"nodes": 1, "walltime": 100, "duration": 60})
    wait_for(lambda: site.client().get("api", "leases", lease["number"])["state"] == "Done")
    shown = site.client().get("api", "leases", lease["number"])
    assert shown["end"] - shown["start"] == 60


@pytest.mark.parametrize(
    ("body", "status", "paths"),
    [
        (b"{", 400, [""]),
        (b"[]", 422, ["data"]),
        (b'{"nodes": 1}', 422, ["data"]),
        (b'{"nodes": 1, "duration": 5, "colour": "red"}', 422, ["data"]),
        (b'{"nodes": 0, "duration": 5}', 422, ["nodes"]),
        (b'{"nodes": 1000000000000, "duration": 5}', 422, ["nodes"]),
        (b'{"nodes": 1, "duration": 5, "capacity": {"CPU": 18446744073709551616}}', 422, ["capacity.CPU"]),
        (b'{"nodes": "1", "duration": 5}', 422, ["nodes"]),
        (b'{"nodes": 1, "duration": 5, "preemptible": 0}', 422, ["preemptible"]),
        (b'{"nodes": 1, "duration": 0}', 422, ["duration"]),
        (b'{"nodes": 1, "duration": 1e300}', 422, ["duration"]),
        (b'{"nodes": 1, "duration": 5, "start": "later"}', 422, ["start"]),
        (b'{"nodes": 1, "duration": 5, "start": "1999-01-01T00:00:00"}', 422, ["start"]),
        (b'{"nodes": 1, "duration": 5, "capacity": {"cpu": -1}}', 422, ["capacity.cpu"]),
        (b'{"nodes": 1, "duration": 5, "software": {"image": ""}}', 422, ["software.image", "software.size"]),
        (b'{"nodes": 1, "duration": 5, "start": "now", "deadline": 900}', 422, ["deadline"]),
    ],
)
def test_what_is_wrong_is_named(site: SiteProcess, body: bytes, status: int, paths: list[str]) -> None:
    """By its path and a message; nothing is accepted."""
    before = len(site.client().get("api", "leases", finished="true"))
    found, told = problems(ask(site, "POST", "/api/leases", body))
    assert (found, [path for path, _ in told]) == (status, paths)
    assert all(message for _, message in told)
    assert len(site.client().get("api", "leases", finished="true")) == before


@pytest.mark.parametrize(
    ("call", "body", "status", "paths"),
    [
        ("POST /api/leases", b'{"nodes": 1, "nodes": 2, "duration": 5}', 422, [""]),
        ("POST /api/leases", b'{"nodes": 1, "duration": 5, "capacity": {"CPU": 1, "CPU": 2}}', 422, ["capacity"]),
        ("POST /api/hosts/drain", b'{"hosts": "0", "hosts": "1"}', 422, [""]),
        ("PUT /api/leases/1/priority", b'{"priority": 1, "priority": 2}', 422, [""]),
        ("POST /api/leases/1/release", b"garbage{", 400, [""]),
        ("POST /api/leases/1/hold", b'{"reason": "x", "bogus": 1}', 422, ["reason", "bogus"]),
        ("POST /api/close", b'{"x": 1}', 422, ["x"]),
        ("POST /api/hosts/return", b'{"hosts": "0", "reason": "x"}', 422, ["data"]),
        ("POST /api/close", b"[]", 422, [""]),
        ("DELETE /api/leases/1", b'{"x": 1}', 422, ["x"]),
        ("POST /api/leases/1/hold?x=1", b"{}", 422, ["x"]),
        ("GET /api/hosts?bogus=1&number=2", None, 422, ["bogus", "number"]),
        ("GET /api/hosts?limit=1&limit=2", None, 422, ["limit"]),
    ],
)
def test_what_a_call_does_not_read_is_refused(
    site: SiteProcess, call: str, body: bytes | None, status: int, paths: list[str]
) -> None:
    """Parameters, members and bodies, and what comes twice; nothing is accepted."""
    before = len(site.client().get("api", "leases", finished="true"))
    method, path = call.split()
    found, told = problems(ask(site, method, path, body))
    assert (found, [path for path, _ in told]) == (status, paths)
    assert len(site.client().get("api", "leases", finished="true")) == before


def test_bodies_are_bounded_and_json(site: SiteProcess) -> None:
    """413 over 1 MB, 415 for other types."""
    assert ask(site, "POST", "/api/leases", b" " * (1 << 20) + b"{}")[0] == 413
    assert ask(site, "POST", "/api/leases", b"nodes=1", {"Content-Type": "text/plain"})[0] == 415
    deep = b"[" * 5000 + b"]" * 5000
    assert ask(site, "POST", "/api/leases", b'{"nodes": 1, "duration": 5, "capacity": ' + deep + b"}")[0] in (400, 422)


def test_what_is_not_there_is_404(site: SiteProcess) -> None:
    """Another method of a path is 405."""
    assert ask(site, "GET", "/api/leases/999999")[0] == 404
    assert ask(site, "GET", "/nothing")[0] == 404
    assert ask(site, "PATCH", "/api/leases")[0] == 405


@pytest.mark.parametrize(
    ("path", "methods"),
    [("/api/leases", {"GET", "POST"}), ("/api/clock", {"GET", "PUT"}), ("/api/leases/1", {"GET", "DELETE"})],
)
def test_a_path_names_its_methods(site: SiteProcess, path: str, methods: set[str]) -> None:
    """To those who ask for them, and to those who use another."""
    for method, status in (("OPTIONS", 204), ("PATCH", 405)):
        found, headers, _ = ask(site, method, path)
        assert (found, set(headers["allow"].split(", "))) == (status, {*methods, "OPTIONS"})


def test_users_see_their_own_and_those_of_their_group(site: SiteProcess) -> None:
    """Only who asked for a lease may take it back."""
    ann, bob, eve = site.client("ann", "red"), site.client("bob", "red"), site.client("eve", "blue")
    number = ann.post("api", "leases", body={"nodes": 1, "duration": 1e6, "start": "+1000000"})["number"]
    for client, seen in [(ann, True), (bob, True), (eve, False)]:
        assert (number in [one["number"] for one in client.get("api", "leases", finished="true")]) is seen
    with pytest.raises(SiteError, match="it belongs to another user"):
        eve.get("api", "leases", number)
    with pytest.raises(SiteError, match="only the user who requested it, or an operator, may cancel it"):
        bob.delete("api", "leases", number)


def test_pages_of_other_sites_may_not_write(site: SiteProcess) -> None:
    """Browsers tell where a request comes from; a name that leads here is no reason to believe it."""
    body = b'{"nodes": 1, "duration": 5}'
    for headers in [{"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Host": "evil.example"}]:
        assert ask(site, "POST", "/api/leases", body, headers)[0] == 403
    assert ask(site, "GET", "/api/leases", headers={"Host": "evil.example:80"})[0] == 403
    assert ask(site, "POST", "/api/leases", body, {"Origin": site.url, "Sec-Fetch-Site": "same-origin"})[0] == 201


def test_names_are_checked(site: SiteProcess) -> None:
    """They stand in tables and on pages."""
    for name in ("x" * 101, "a,b", 'a"b'):
        assert ask(site, "GET", "/api/leases", headers={"X-Bonfire-Asserted-Id": name})[0] == 400


def test_the_site_tells_what_it_is(site: SiteProcess) -> None:
    """It also tells what its hosts do."""
    described = site.client().get("api", "site")
    assert (described["platform"], described["hosts"], described["algorithm"]) == ("tiny4.xml", 4, "experiments")
    assert [host["name"] for host in site.client().get("api", "hosts")] == ["t0", "t1", "t2", "t3"]
    assert ask(site, "GET", "/healthz")[2] == {"status": "ready", "why": ""}


def test_the_commands_speak_to_a_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """HA-55: one lease runs, a reservation and others wait; paced, so that nothing ends meanwhile."""
    with running_site(tmp_path, "--pace", "1", *PREEMPTION) as paced:
        place = ["--url", paced.url]

        def done(*words: str) -> str:
            assert run([*words, *place]) == 0
            return capsys.readouterr().out

        assert done("queue") == "Queue is empty.\n"
        assert done("lease", "list") == "There are no leases.\n"
        assert done("lease", "request", "-n", "4", "-d", "01:00:00") == "Lease submitted correctly.\nLease ID: 1\n"
        done("lease", "request", "-n", "1", "-d", "600", "-t", "+02:00:00")
        done("lease", "request", "-n", "4", "-d", "600", "--preemptible")
        wait_for(lambda: "Active" in done("lease", "show", "1") and "Ready" in done("lease", "show", "3"))
        listed = done("lease", "list")
        assert [line.split()[:2] for line in listed.splitlines()[3:6]] == [
            ["1", "Best-effort"],
            ["2", "AR"],
            ["3", "Best-effort"],
        ]
        assert [line.split()[0] for line in done("queue").splitlines()[3:4]] == ["3"]
        assert "busy" in done("hosts")
        assert done("lease", "cancel", "1") == ""
        wait_for(lambda: "Cancelled" in done("lease", "list", "--all"))
        assert run(["lease", "cancel", "1", *place]) == 2
        assert "it has ended: Cancelled" in capsys.readouterr().err
        assert run(["lease", "request", "-n", "1", "-d", "60", "-c", "1", *place]) == 0
        assert "'-c' is a percentage: 1 is at most 1 % of a CPU" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/api/leases?limit=2", "number"),
        ("/api/leases?limit=2&newest=true&finished=true", "number"),
        ("/api/queue?limit=1", "number"),
        ("/api/hosts?limit=3", "number"),
    ],
)
def test_a_part_of_a_list_says_where_the_next_one_is(busy_site: SiteProcess, path: str, name: str) -> None:
    """The parts are the whole list, each item once; nobody takes a part for the whole."""
    headers = {"X-Bonfire-Asserted-Id": "ann"}
    _, _, whole = ask(busy_site, "GET", path.replace("limit=", "limit=9"), None, headers)
    parts, link = [], path
    while link:
        status, told, items = ask(busy_site, "GET", link, None, headers)
        assert (status, len(items) > 0) == (200, True)
        parts.append(items)
        given = told.get("link", "")
        assert not given or given.endswith('>; rel="next"')
        link = given[1:].partition(">")[0]
    assert len(parts) > 1
    assert [one[name] for items in parts for one in items] == [one[name] for one in whole]


def test_the_clock_is_paused_and_changed(tmp_path: Path) -> None:
    """Time stands still until it goes on."""
    with running_site(tmp_path, "--pace", "1000") as paced:
        change = ask(paced, "PUT", "/api/clock", b'{"paused": true}')[2]
        assert change["paused"]
        assert ask(paced, "GET", "/api/clock")[2]["now"] == change["now"]
        assert ask(paced, "PUT", "/api/clock", b'{"pace": "max", "paused": false}')[2]["pace"] is None
        assert problems(ask(paced, "PUT", "/api/clock", b'{"pace": -1}'))[1][0][0] == "pace"


def test_a_token_is_wanted(tmp_path: Path) -> None:
    """401 without it, whoever asks; with it all is as before."""
    (tmp_path / "token").write_text(TOKEN + "\n")
    with running_site(tmp_path, "--token-file", str(tmp_path / "token"), "--rate", "1") as guarded:
        assert ask(guarded, "GET", "/api/leases")[0] == 401
        assert ask(guarded, "GET", "/api/leases", headers={"Authorization": "Bearer wrong"})[0] == 401
        assert ask(guarded, "GET", "/healthz")[0] == 200
        client = guarded.client("ann", token=TOKEN)
        for _ in range(10):
            client.post("api", "jobs", body={"nodes": 1, "walltime": 5})
        statuses = [ask(guarded, "POST", "/api/jobs", b"{}", ANN)[0] for _ in range(10)]
        assert statuses[-1] == 429
        guarded.client("bob", token=TOKEN).post("api", "jobs", body={"nodes": 1, "walltime": 5})


def test_what_was_accepted_survives_a_kill(tmp_path: Path) -> None:
    """The same numbers, states and users, holds and priorities."""
    with running_site(tmp_path, "--pace", "1") as first:
        for _ in range(3):
            first.client("ann").post("api", "leases", body={"nodes": 4, "duration": 500})
        first.client("ann").post("api", "leases", 2, "hold", body={})
        first.client("ann").put("api", "leases", 3, "priority", body={"priority": -7})
        wait_for(lambda: first.client("ann").get("api", "leases", 3)["state"] in ("Ready", "Queued"))
        wait_for(lambda: first.client("ann").get("api", "leases", 3).get("priority") == -7)
        assert first.client("ann").get("api", "leases", 2)["held"] == "user"
        before = first.client("ann").get("api", "leases")
        first.kill()
    with running_site(tmp_path, "--pace", "1") as second:
        wait_for(lambda: ask(second, "GET", "/healthz")[0] == 200)
        assert second.client("ann").get("api", "leases") == before
        assert [one["number"] for one in before] == [1, 2, 3]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--listen", "0.0.0.0:0"], "other machines can reach it: set a token"),
        (["--listen", "nowhere"], "must be HOST:PORT"),
        (["--pace", "0"], "--pace"),
        (["-s", "nothing"], "nothing"),
        (["--token-file", "none.txt"], "none.txt: cannot be read"),
    ],
)
def test_wrong_options_are_one_line(
    tmp_path: Path, options: list[str], told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2, and no folder is begun."""
    monkeypatch.chdir(tmp_path)
    platform = Path(__file__).parents[2] / "platforms" / "tiny4.xml"
    assert run(["site", "-p", str(platform), *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    assert list(tmp_path.iterdir()) == []


def test_prometheus_reads_numbers(tmp_path: Path) -> None:
    """By its own parser: requests, jobs and hosts; only for the operator."""
    with running_site(tmp_path, "--pace", "600") as site:
        client = site.client()
        client.post("api", "leases", body={"nodes": 3, "duration": "unlimited"})
        one = client.post("api", "jobs", body={"nodes": 1, "walltime": 60})
        wait_for(lambda: client.get("api", "leases", one["number"])["final"])
        wait_for(lambda: numbers(site).get(("batsched_site_jobs_ended_total", "COMPLETED_WALLTIME_REACHED")) == 1)
        found = numbers(site)
        assert found["batsched_site_requests_total", "submit_job"] == 2
        assert found["batsched_site_jobs", "running"] == 1
        assert found["batsched_site_hosts", "busy"] == 3
        assert sum(value for (name, _), value in found.items() if name == "batsched_site_hosts") == 4
        assert found["batsched_site_ready", ""] == 1
        assert found["batsched_site_pace", ""] == 600
        assert ask(site, "GET", "/metrics", headers={"X-Bonfire-Asserted-Id": "ann"})[0] == 403


def numbers(site: SiteProcess) -> dict[tuple[str, str], float]:
    """Return what Prometheus would read: name and label -> value."""
    with urllib.request.urlopen(f"{site.url}/metrics") as answer:
        families = text_string_to_metric_families(answer.read().decode())
        samples = [sample for family in families for sample in family.samples]
    return {(sample.name, "".join(sample.labels.values())): sample.value for sample in samples}
