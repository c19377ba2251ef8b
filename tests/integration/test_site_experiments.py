"""Managed experiments at a site, over real sockets: BonFIRE's routes, headers, status codes and XML."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, fromstring

import pytest

from tests.clone import ROOT
from tests.integration.test_site import wait_for
from tests.site_process import SiteProcess, running_site

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

DATA = ROOT / "tests" / "data" / "experiments"
PATH = "/managed_experiments"
JSON, XML = "application/json", "application/xml"
WEB: dict[str, Any] = {
    "name": "web <&>",
    "description": "a \x01 server",
    "duration": 120,
    "resources": [
        {"compute": {"name": "Server", "locations": ["epcc"]}},
        {"compute": {"name": "Client", "locations": ["epcc"], "contexts": [{"server_ip": ["Server", "wan"]}]}},
    ],
}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[SiteProcess]:
    """A site whose time stands nearly still, so that experiments last."""
    with running_site(tmp_path, "--pace", "0.001") as found:
        yield found


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    """Another, on which it does not matter what others have deployed."""
    with running_site(tmp_path_factory.mktemp("site"), "--pace", "0.001") as found:
        yield found


def ask(
    site: SiteProcess,
    method: str,
    path: str = PATH,
    body: Any = None,
    *,
    user: str = "ann",
    group: str = "",
    kind: str = JSON,
    accept: str = "",
) -> tuple[int, dict[str, str], bytes]:
    """Ask as a user; return status, headers and content."""
    parts = urlsplit(site.url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=30)
    operator = {"X-Batsched-Py-Operator": "true"}
    headers = operator if user == "local" else {"X-Bonfire-Asserted-Id": user} if user else {}
    headers |= {"X-BONFIRE-ASSERTED-SELECTED-GROUP": group} if group else {}
    headers |= {"Accept": accept} if accept else {}
    content = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.request(method, path, content, headers | ({"Content-Type": kind} if content is not None else {}))
    answer = connection.getresponse()
    found = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, found


def tree(answer: tuple[int, dict[str, str], bytes], status: int = 200) -> Element:
    """The XML of an answer."""
    assert answer[0] == status, answer
    assert answer[1]["content-type"].startswith(XML)
    return fromstring(answer[2])


def problems(answer: tuple[int, dict[str, str], bytes]) -> tuple[int, list[str]]:
    """Status and paths of what is wrong."""
    return answer[0], [one["path"] for one in json.loads(answer[2])["problems"]]


def hand_in(site: SiteProcess, **options: Any) -> str:
    """Hand in an experiment; return its path."""
    status, headers, _ = ask(site, "POST", body=WEB, **options)
    assert status == 201
    return headers["location"]


def status_of(site: SiteProcess, path: str, user: str = "ann") -> str:
    """The status of an experiment."""
    return str(tree(ask(site, "GET", path, user=user)).findtext("status"))


def test_an_experiment_is_accepted_deployed_and_shown(site: SiteProcess) -> None:
    """MA-1 over HTTP: 201, Location and the resource; then its states, links and log (M2, M37, M38)."""
    answer = ask(site, "POST", body=WEB)
    accepted = tree(answer, 201)
    path = answer[1]["location"]
    assert (accepted.tag, accepted.get("href"), accepted.findtext("name")) == ("managed_experiment", path, "web <&>")
    wait_for(lambda: status_of(site, path) == "DEPLOYED")
    shown = tree(ask(site, "GET", path))
    assert shown.findtext("description") == "a \ufffd server"
    links = {one.get("rel"): one.get("href") for one in shown.findall("link")}
    assert links == {"experiment": "/experiments/1", "log": f"{path}/log"}
    client = shown.find("resources/resource[@name='Client']")
    assert client is not None
    assert (client.get("state"), client.findtext("context[@key='server_ip']")) == ("created", "10.0.0.1")
    log = tree(ask(site, "GET", f"{path}/log"))
    assert log.tag == "log"
    states = [one.text for one in log.findall("message") if one.get("resource") == ""]
    assert [str(text).partition(":")[0] for text in states] == ["READY", "DEPLOYABLE", "DEPLOYING", "DEPLOYED"]
    _, headers, _ = ask(site, "GET", f"{path}/log?limit=1&text=deploy")
    assert headers["link"] == f'<{path}/log?limit=1&text=deploy&after=2>; rel="next"'
    as_json = json.loads(ask(site, "GET", path, accept=JSON)[2])
    assert (as_json["status"], [one["name"] for one in as_json["resources"]]) == ("DEPLOYED", ["Server", "Client"])
    assert json.loads(ask(site, "GET", f"{path}/log", accept=JSON)[2])[0]["text"] == "READY"


def test_an_experiment_has_its_name_at_once(shared: SiteProcess) -> None:
    """A client that asks before the algorithm has seen it gets what was handed in."""
    for _ in range(20):
        path = hand_in(shared, user="gina")
        assert tree(ask(shared, "GET", path, user="gina")).findtext("name") == "web <&>"
        assert ask(shared, "DELETE", path, user="gina")[0] == 204


def test_ovf_is_accepted(site: SiteProcess) -> None:
    """M5, M18: as application/xml."""
    answer = ask(site, "POST", body=(DATA / "ma-1.ovf").read_bytes(), kind=XML)
    assert tree(answer, 201).findtext("name") == "MA-1"
    wait_for(lambda: status_of(site, answer[1]["location"]) == "DEPLOYED")


def test_what_is_wrong_is_refused_with_its_path(shared: SiteProcess) -> None:
    """MA-19, MA-6: 400, 415, 422, 413, 401; nothing is stored."""
    cycle = {**WEB, "resources": [{"compute": {"name": "a", "locations": ["x"], "after": ["a"]}}]}
    assert problems(ask(shared, "POST", body=b"{", user="bob"))[0] == 400
    assert problems(ask(shared, "POST", body=b"<a", kind=XML, user="bob"))[0] == 400
    assert problems(ask(shared, "POST", body=b"\xff\xfe", user="bob"))[0] == 400
    assert problems(ask(shared, "POST", body=b"<a/>", user="bob"))[0] == 400
    assert problems(ask(shared, "POST", body=b"x", kind="text/plain", user="bob")) == (415, ["Content-Type"])
    assert problems(ask(shared, "POST", body=cycle, user="bob")) == (422, ["resources[0].compute"])
    assert problems(ask(shared, "POST", body={"name": 1}, user="bob")) == (422, ["name", "duration", "resources"])
    assert problems(ask(shared, "POST", body={**WEB, "start": "2001-01-01T00:00:00Z"}, user="bob")) == (
        422,
        ["start", "start"],
    )
    assert problems(ask(shared, "POST", body={**WEB, "reservation": "/r/1"}, user="bob")) == (422, ["reservation"])
    assert ask(shared, "POST", body=b" " * 1_000_001, user="bob")[0] == 413
    assert problems(ask(shared, "POST", body=WEB, user="")) == (401, ["X-Bonfire-Asserted-Id"])
    assert problems(ask(shared, "GET", user=""))[0] == 401
    assert list(tree(ask(shared, "GET", user="bob")).iter("managed_experiment")) == []


def test_users_see_their_own(shared: SiteProcess) -> None:
    """MA-17': 403; the same group sees it, and may not delete it; 404 for what there is not."""
    path = hand_in(shared, user="carl", group="lab")
    assert [one.get("href") for one in tree(ask(shared, "GET", user="carl")).iter("managed_experiment")] == [path]
    assert ask(shared, "GET", f"{PATH}?user_id=carl", user="carl")[0] == 200
    assert problems(ask(shared, "GET", f"{PATH}?user_id=carl", user="dora")) == (403, ["user_id"])
    assert ask(shared, "GET", path, user="dora")[0] == 403
    assert ask(shared, "DELETE", path, user="dora")[0] == 403
    assert list(tree(ask(shared, "GET", user="dora")).iter("managed_experiment")) == []
    assert path in [
        one.get("href") for one in tree(ask(shared, "GET", user="eve", group="lab")).iter("managed_experiment")
    ]
    assert ask(shared, "GET", path, user="eve", group="lab")[0] == 200
    assert ask(shared, "DELETE", path, user="eve", group="lab")[0] == 403
    assert ask(shared, "GET", f"{PATH}/99999")[0] == 404
    assert ask(shared, "DELETE", f"{PATH}/99999")[0] == 404


def test_an_experiment_is_deleted(shared: SiteProcess) -> None:
    """MA-46, MA-11: 204, then 404 at once."""
    path = hand_in(shared, user="fred")
    assert ask(shared, "DELETE", path, user="fred")[0] == 204
    assert ask(shared, "GET", path, user="fred")[0] == 404
    assert ask(shared, "GET", f"{path}/log", user="fred")[0] == 404
    assert ask(shared, "DELETE", path, user="fred")[0] == 404


def test_a_site_goes_on_with_its_experiments(tmp_path: Path) -> None:
    """M34, MA-49: killed while it deploys and started again, it has the same experiments, and none twice."""
    platform, testbed = "--pace", tmp_path / "testbed.json"
    testbed.write_text(json.dumps({"locations": {"epcc": {"creation_delay": 3}}}))
    options = (platform, "1", "-o", f"testbed={testbed}")
    with running_site(tmp_path, *options) as site:
        path, deleted = hand_in(site), hand_in(site)
        assert ask(site, "DELETE", deleted)[0] == 204
        wait_for(lambda: status_of(site, path) == "DEPLOYING")
        site.kill()
    with running_site(tmp_path, *options) as site:
        wait_for(lambda: site.client().get("healthz")["status"] == "ready")
        wait_for(lambda: status_of(site, path) == "DEPLOYED")
        assert ask(site, "GET", deleted)[0] == 404
        shown = json.loads(ask(site, "GET", path, accept=JSON)[2])
        assert [one["state"] for one in shown["resources"]] == ["created", "created"]
        assert len(json.loads(ask(site, "GET", accept=JSON)[2])["items"]) == 1


def test_machines_take_no_numbers_of_leases(tmp_path: Path) -> None:
    """A lease that is asked for after four machines is the second request, and shows its own terms."""
    machines = [{"compute": {"name": f"m{number}", "locations": ["epcc"]}} for number in range(4)]
    with running_site(tmp_path, "--pace", "0.001") as site:
        assert ask(site, "POST", body={**WEB, "resources": machines})[0] == 201
        wait_for(lambda: status_of(site, f"{PATH}/1") == "DEPLOYED")
        client = site.client("ann")
        assert client.post("api", "leases", body={"nodes": 2, "duration": 77})["number"] == 2
        wait_for(lambda: client.get("api", "leases", 2)["state"] != "New")
        (lease,) = client.get("api", "leases")
        assert (lease["number"], lease["nodes"], lease["duration"]) == (2, 2, 77)


def test_a_site_without_experiments_says_so(tmp_path: Path) -> None:
    """409: its algorithm takes none."""
    with running_site(tmp_path, "--pace", "max", "-s", "easy") as site:
        status, _, content = ask(site, "POST", body=WEB)
        assert status == 409
        assert "easy takes no submit_experiment" in content.decode()


def test_a_large_descriptor_does_not_stop_others(site: SiteProcess) -> None:
    """While one of 10 000 resources is read, others are answered many times."""
    many = [{"compute": {"name": f"c{number}", "locations": ["here"]}} for number in range(10_000)]
    answers = list[int]()
    large = threading.Thread(
        target=lambda: answers.append(ask(site, "POST", body={"name": "large", "duration": 60, "resources": many})[0])
    )
    large.start()
    meanwhile = 0
    while large.is_alive():
        assert ask(site, "GET", "/healthz")[0] == 200
        meanwhile += large.is_alive()
    assert answers == [201]
    assert meanwhile >= 10


def test_experiments_are_listed_in_parts(site: SiteProcess) -> None:
    """Forward from a number or backward from the newest, with the address of the next part, in both media types."""
    for _ in range(3):
        assert ask(site, "POST", body=WEB)[0] == 201
    ask(site, "POST", body=WEB, user="bob")
    seen, path, links = list[str](), f"{PATH}?limit=2", 0
    while path:
        status, headers, content = ask(site, "GET", path, accept=JSON)
        assert status == 200
        seen += [one["id"] for one in json.loads(content)["items"]]
        path = headers.get("link", "").partition(">")[0].removeprefix("<")
        links += bool(path)
    assert (seen, links) == (["1", "2", "3"], 1)
    newest = ask(site, "GET", f"{PATH}?limit=2&newest=true", accept=JSON)
    assert [one["id"] for one in json.loads(newest[2])["items"]] == ["3", "2"]
    assert newest[1]["link"] == f'<{PATH}?limit=2&newest=true&before=2>; rel="next"'
    found = ask(site, "GET", f"{PATH}?limit=1&after=1")
    assert [one.get("href") for one in tree(found).iter("managed_experiment")] == [f"{PATH}/2"]
    assert found[1]["link"] == f'<{PATH}?limit=1&after=2>; rel="next"'
    assert ask(site, "GET", f"{PATH}?limit=0")[0] == 422
