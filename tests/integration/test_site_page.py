"""The page of a live site, in a real browser: what a person does there, by mouse and by keyboard."""

from __future__ import annotations

import csv
import json
import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from batsched_py.cli.main import run
from batsched_py.errors import SiteError
from tests.browser import Browser, browsing
from tests.clone import ROOT
from tests.integration.test_site import wait_for as wait_without_a_browser
from tests.integration.test_site_experiments import ask as ask_of_experiments
from tests.site_process import SiteProcess, running_site

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")


#: A question to a page costs four processes some milliseconds: more of them make it slower.
wait_for = partial(wait_without_a_browser, pause=0.1)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests."""
    with browsing(tmp_path_factory.mktemp("profile"), 1400, 1000) as found:
        yield found


@contextmanager
def left(browser: Browser) -> Iterator[None]:
    """Leave the page before its site ends: it would go on asking, and complain, in the next test."""
    try:
        yield
    finally:
        browser.driver.get("about:blank")


@pytest.fixture
def site(tmp_path: Path, browser: Browser) -> Iterator[SiteProcess]:
    """A site where ten minutes pass in a second."""
    options = ("--pace", "600", "-o", "policy_preemption=ar-preempts-everything")
    with running_site(tmp_path, *options) as found, left(browser):
        yield found


@pytest.fixture(scope="module")
def busy_site(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[SiteProcess]:
    """A site with a lease that never ends."""
    with running_site(tmp_path_factory.mktemp("busy"), "--pace", "600") as found, left(browser):
        found.client().post("api", "leases", body={"nodes": 4, "duration": "unlimited"})
        yield found


@pytest.fixture(scope="module")
def still_site(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[SiteProcess]:
    """A site on which time stands nearly still."""
    with running_site(tmp_path_factory.mktemp("still"), "--pace", "0.001") as found, left(browser):
        yield found


@pytest.fixture
def still(still_site: SiteProcess, browser: Browser) -> Iterator[SiteProcess]:
    """The same, without leases that have not ended."""
    client = still_site.client()
    for lease in client.get("api", "leases"):
        client.delete("api", "leases", lease["number"])
    wait_for(lambda: client.get("api", "leases") == [])
    with left(browser):
        yield still_site


@pytest.fixture(scope="module")
def fast_site(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[SiteProcess]:
    """A site as fast as possible."""
    with running_site(tmp_path_factory.mktemp("fast"), "--pace", "max") as found, left(browser):
        yield found


def state(browser: Browser, lease: int) -> str:
    """Return the state of a lease as the page shows it; "" if it does not."""
    return str(browser.ask(f"document.querySelector('tr[data-lease=\"{lease}\"] td:nth-child(4)')?.textContent ?? ''"))


def fill(browser: Browser, name: str, text: str) -> None:
    """Type a text into a field of the form."""
    field = browser.driver.find_element(By.CSS_SELECTOR, f"#ask [name={name}]")
    field.clear()
    field.send_keys(text)


def press(browser: Browser, button: str) -> None:
    """Click a button, in one step: news may move or replace it while a mouse is on its way."""
    browser.ask("document.querySelector(arguments[0]).click()", button)


#: Makes the page wait until letGo is called, with its next question for PATH or, if LATE is true, with the answer, note
#: when that was answered, and keep the number of the latest snapshot that it was told of.
HELD_BACK = """\
(() => {
  const parse = JSON.parse, fetched = window.fetch, open = new Promise((resolve) => { window.letGo = resolve; });
  JSON.parse = (text) => {
    const value = parse(text);
    window.snapshot = value.snapshot ?? window.snapshot;
    return value;
  };
  window.fetch = async (path, options) => {
    if (options.method !== "GET" || !path.startsWith("PATH")) return fetched(path, options);
    const early = LATE ? await fetched(path, options) : null;
    window.heldBack = true;
    await open;
    const answer = early ?? await fetched(path, options);
    window.answered = true;
    return answer;
  };
})()
"""


#: The middle of the button that takes lease NUMBER back.
PLACE = """\
(() => {
  const button = document.querySelector("button[data-cancel='NUMBER']");
  button.scrollIntoView();
  const place = button.getBoundingClientRect();
  return [place.x + place.width / 2, place.y + place.height / 2];
})()
"""


def hold_back(browser: Browser, path: str, late: bool = False) -> None:
    """Hold the page's next question for a path back, or its answer, until `window.letGo()`."""
    browser.ask(HELD_BACK.replace("PATH", path).replace("LATE", json.dumps(late)))


def latest_snapshot(site: SiteProcess) -> int:
    """Return the number of the site's snapshot, with which its events begin."""
    with urllib.request.urlopen(f"{site.url.rstrip('/')}/api/events", timeout=60) as answer:
        news = next(line for line in answer if line.startswith(b"data:"))
    return int(json.loads(news.removeprefix(b"data:"))["snapshot"])


def test_a_lease_with_all_terms_is_asked_for(site: SiteProcess, browser: Browser) -> None:
    """As of the API: an invalid query is said at the form, and the lease gets a host for which the query is true."""
    browser.visit(site.url)
    fill(browser, "duration", "3600")
    fill(browser, "deadline", "24:00:00")
    fill(browser, "constraint", "$id >=")
    press(browser, "#ask button")
    wait_for(lambda: "constraint: at offset 6" in str(browser.ask("document.querySelector('#asked').textContent")))
    fill(browser, "constraint", "$id == 2")
    browser.ask("document.querySelector('#ask details').open = true")
    fill(browser, "capacity", "cpu=half")
    press(browser, "#ask button")
    told = "document.querySelector('#asked').textContent"
    wait_for(lambda: "not cpu=half" in str(browser.ask(told)))
    fill(browser, "capacity", "cpu=50  memory=512")
    fill(browser, "image", "a.img")
    press(browser, "#ask button")
    wait_for(lambda: browser.ask(told) == "image: needs a name and a size")
    fill(browser, "image_size", "1024")
    press(browser, "#ask button")
    wait_for(lambda: state(browser, 1) == "Active")
    lease = site.client().get("api", "leases", 1)
    assert (lease["type"], lease["hosts"], lease["constraint"]) == ("Deadline", "2", "$id == 2")
    asked = json.loads(site.client().get("api", "audit")[-1]["body"])
    assert asked["capacity"] == {"cpu": 50, "memory": 512}
    assert asked["software"] == {"image": "a.img", "size": 1024}


def test_a_lease_is_asked_for_suspended_for_another_and_resumed(site: SiteProcess, browser: Browser) -> None:
    """All in front of who stands there; nothing is loaded from elsewhere, and nothing is complained about."""
    browser.visit(site.url)
    fill(browser, "nodes", "4")
    fill(browser, "duration", "360000000")
    press(browser, "#ask button")
    wait_for(lambda: state(browser, 1) == "Active")
    Select(browser.driver.find_element(By.NAME, "when")).select_by_value("later")
    fill(browser, "nodes", "2")
    fill(browser, "duration", "360000")
    fill(browser, "after", "05:00:00")
    press(browser, "#ask button")
    wait_for(lambda: state(browser, 2) == "Ready")  # for half a minute
    site.client().put("api", "clock", body={"pace": 6000})
    wait_for(lambda: state(browser, 1).startswith("Suspend"))
    wait_for(lambda: state(browser, 2) == "Active")  # for a minute
    site.client().put("api", "clock", body={"pace": 1e6})
    wait_for(lambda: state(browser, 1) == "Active")
    assert browser.ask("document.getElementById('trouble').hidden")
    assert [line for line in browser.complaints() if "SEVERE" in line or "WARNING" in line] == []
    assert [address for address in browser.requests() if not address.startswith((site.url, "data:"))] == []


def test_an_experiment_is_handed_in_deployed_and_deleted(site: SiteProcess, browser: Browser) -> None:
    """Its log grows, its dependencies are drawn; what is wrong is told; nothing is complained about."""
    browser.visit(site.url)
    browser.ask(
        "document.getElementById('descriptor').value = document.getElementById('descriptor').value"
        ".replace('\"duration\": 60,', '\"duration\": 60000,')"
    )  # so that it does not end unseen
    press(browser, "#hand-in button")
    told = "document.getElementById('handed-in').textContent"
    wait_for(lambda: str(browser.ask(told)).startswith("Accepted as"))
    shown = "document.getElementById('experiment-title').textContent"
    wait_for(lambda: browser.ask(shown) == "first: DEPLOYED")
    wait_for(lambda: browser.ask("document.querySelectorAll('#log li').length") >= 12)
    assert browser.ask("document.querySelectorAll('#graph rect').length") == 4
    assert browser.ask("document.querySelectorAll('#graph line').length") == 5
    assert str(browser.ask("location.hash")) == "#experiment/1"
    site.client().put("api", "clock", body={"pace": 1e6})
    wait_for(lambda: browser.ask(shown) == "first: ENDED")
    press(browser, "#experiment-delete")
    wait_for(lambda: browser.ask("document.getElementById('experiment').hidden"))
    note = "document.getElementById('experiments-note').textContent"
    assert browser.ask(note) == "Experiment 1 was deleted."
    browser.ask("document.getElementById('descriptor').value = '{}'")
    press(browser, "#hand-in button")
    wait_for(lambda: "resources: is missing" in str(browser.ask(told)))
    known = [line for line in browser.complaints() if "SEVERE" in line and "422" not in line]
    assert known == []
    browser.visit(f"{site.url}/#experiment/1")
    wait_for(lambda: browser.ask(note) == "Experiment 1: there is no experiment 1")


def combined() -> str:
    """Return the experiment of the documentation with queries and timelines."""
    found = re.search(r'```json title="combined.json"\n(.*?)```', (ROOT / "docs" / "site.md").read_text(), re.S)
    assert found is not None
    return found[1]


#: The machines that breaks hold, as the page shows it.
HELD = "[...document.querySelectorAll('#vms tbody tr')].map((row) => row.cells[2].textContent)"
#: Kind and outcome of each entry that is drawn.
DRAWN = """\
[...document.querySelectorAll("#timelines-picture rect")].map((one) => [one.dataset.kind, one.dataset.outcome])
"""


#: What the page says of an added entry.
ADDED = "document.getElementById('entry-told').textContent"


def add_entry(browser: Browser, vm: str, entry: str) -> None:
    """Send the form for an entry."""
    type_into(browser, "entry", "vm", vm)
    type_into(browser, "entry", "entry", f"{entry}{Keys.ENTER}")


def test_the_combined_experiment_is_paused_resumed_and_finished(
    site: SiteProcess, browser: Browser, tmp_path: Path
) -> None:
    """Queries choose the hosts, a lease runs next to it, a button ends the break; tables and report have all of it."""
    browser.visit(site.url)
    fill(browser, "constraint", "$id == 0")
    press(browser, "#ask button")
    wait_for(lambda: state(browser, 1) == "Active")
    browser.ask("document.getElementById('descriptor').value = arguments[0]", combined())
    press(browser, "#hand-in button")
    wait_for(lambda: browser.ask(HELD) == ["break@30", ""])
    wait_for(lambda: browser.ask("document.querySelector('#timelines rect[data-kind=pause]') !== null"))
    assert browser.ask("document.querySelectorAll('#timelines line.barrier, #timelines line.now').length") == 2
    assert ["break", "running"] in browser.ask(DRAWN)
    assert browser.ask("document.documentElement.scrollWidth") <= 1400
    browser.resize(390)
    if find_spec("axe_core_python") is not None:
        assert barriers(browser) == []
    assert browser.ask("document.documentElement.scrollWidth") <= 390
    browser.resize(None)
    add_entry(browser, "Client", '{"at": 0, "run": "probe"}')
    wait_for(lambda: "at: must not be 0" in str(browser.ask(ADDED)))
    add_entry(browser, "Client", '{"at": 95, "run": "probe", "takes": 5}')
    wait_for(lambda: str(browser.ask(ADDED)).startswith("Added at "))
    press(browser, "#vms button")
    wait_for(lambda: browser.ask(HELD) == ["", ""])
    assert site.client().get("managed_experiments", 2, "timelines")["vms"][0]["held_by"] is None
    site.client().put("api", "clock", body={"pace": 1e5})
    wait_for(lambda: browser.ask("document.getElementById('experiment-title').textContent") == "combined: ENDED")
    wait_for(lambda: {outcome for _, outcome in browser.ask(DRAWN)} == {"done"})
    with pytest.raises(SiteError, match="it has ended: ENDED"):  # not accepted and then ignored
        site.client().post("managed_experiments", 2, "timelines", "resume", body={})
    hosts = "[...document.querySelectorAll('#resources tbody tr')].map((row) => row.cells[4].textContent)"
    assert browser.ask(hosts) == ["", "2", "1"]
    press(browser, "#experiment a")
    wait_for(
        lambda: browser.ask("document.querySelector('tr[data-experiment=\"2\"]')?.cells[3].textContent") == "ENDED"
    )
    assert [line for line in browser.complaints() if "SEVERE" in line and "422" not in line] == []
    assert run(["site", "results", str(tmp_path / "site"), "-e", str(tmp_path / "out")]) == 0
    with (tmp_path / "out_timeline.csv").open() as file:
        rows = list(csv.DictReader(file))
    entries = {row["entry"]: (row["vm"], row["moved_by"], row["outcome"]) for row in rows}
    assert {outcome for _, _, outcome in entries.values()} == {"done"}
    assert entries["serve"][:2] == ("2/Server", "break@30")
    assert entries["load"][:2] == entries["probe"][:2] == ("2/Client", "pause@40")
    with (tmp_path / "out_leases.csv").open() as file:
        assert [(row["type"], row["state"]) for row in csv.DictReader(file)][1:] == [("IM", "Done")] * 2
    assert run(["report", str(tmp_path / "out"), "-o", str(tmp_path / "report.html")]) == 0
    browser.open(tmp_path / "report.html")
    text = str(browser.ask("document.body.textContent"))
    assert all(word in text for word in ("2/Server", "2/Client", "break@30"))
    assert [line for line in browser.complaints() if "SEVERE" in line] == []


def hand_in(browser: Browser) -> str:
    """Submit an experiment on the page, without waiting for it; return its number."""
    press(browser, "#hand-in button")
    told = "document.getElementById('handed-in').textContent"
    wait_for(lambda: str(browser.ask(told)).startswith("Accepted as"))
    return str(browser.ask(told)).removesuffix(".").rpartition(" ")[2]


def test_an_experiment_is_shown_though_a_list_without_it_comes_late(fast_site: SiteProcess, browser: Browser) -> None:
    """An experiment that is handed in while the page waits for its list stays chosen."""
    browser.visit(fast_site.url)
    hold_back(browser, "/managed_experiments", late=True)
    press(browser, "#finished")
    wait_for(lambda: browser.ask("window.heldBack"))
    hand_in(browser)
    browser.ask("window.letGo()")
    wait_for(lambda: browser.ask("document.getElementById('experiment-title').textContent") == "first: ENDED")


def test_an_experiment_that_is_deleted_while_the_page_asks_for_it_is_gone(
    fast_site: SiteProcess, browser: Browser
) -> None:
    """The page asks for changes again, though the answer was an error; no other change follows."""
    browser.visit(fast_site.url)
    number = hand_in(browser)
    wait_for(lambda: browser.ask("document.getElementById('experiment-title').textContent") == "first: ENDED")
    hold_back(browser, "/managed_experiments/")
    press(browser, "#finished")
    wait_for(lambda: browser.ask("window.heldBack"))
    press(browser, "#experiment-delete")
    deleted = f"/managed_experiments/{number}"
    wait_for(lambda: ask_of_experiments(fast_site, "GET", deleted, user="local")[0] == 404)
    latest = latest_snapshot(fast_site)
    wait_for(lambda: browser.ask("window.snapshot ?? -1") >= latest)  # nothing will tell the page again
    browser.ask("window.letGo()")
    wait_for(lambda: browser.ask("document.getElementById('experiment').hidden"))
    wait_for(lambda: browser.ask("document.querySelector('#experiments tr, #experiments caption') !== null"))
    wait_for(lambda: int(number) not in listed(browser, "experiment"))
    assert browser.ask("document.getElementById('trouble').hidden")


def test_a_click_counts_whatever_changes_meanwhile(still: SiteProcess, browser: Browser) -> None:
    """A table is not filled anew between the press and the release of one of its buttons."""
    client = still.client()
    first = client.post("api", "leases", body={"nodes": 4, "duration": "unlimited"})["number"]
    browser.visit(still.url)
    wait_for(lambda: state(browser, first) == "Active")
    hold_back(browser, "/api/nothing")  # for the number of the snapshot
    x, y = browser.ask(PLACE.replace("NUMBER", str(first)))
    mouse = {"x": x, "y": y, "button": "left", "clickCount": 1}
    browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mousePressed", **mouse})
    second = client.post("api", "leases", body={"nodes": 1, "duration": 60})["number"]
    wait_for(lambda: client.get("api", "leases", second)["state"] != "New")
    latest = latest_snapshot(still)
    wait_for(lambda: browser.ask("window.snapshot ?? -1") >= latest)
    browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseReleased", **mouse})
    wait_for(lambda: client.get("api", "leases", first)["state"] == "Cancelled")
    wait_for(lambda: state(browser, second) == "Active")


#: Keeps the paths that the page asks for.
LISTENED = """\
(() => {
  const fetched = window.fetch;
  window.asked = [];
  window.fetch = (path, options) => {
    window.asked.push(path);
    return fetched(path, options);
  };
})()
"""


def test_the_page_applies_changes_and_does_not_ask_for_lists_again(still: SiteProcess, browser: Browser) -> None:
    """Leases and the schedule come with the event; only the head of the queue and what is used are asked for."""
    client = still.client()
    first = client.post("api", "leases", body={"nodes": 4, "duration": "unlimited"})["number"]
    browser.visit(still.url)
    wait_for(lambda: state(browser, first) == "Active")
    browser.ask(LISTENED)
    second = client.post("api", "leases", body={"nodes": 2, "duration": 60})["number"]
    wait_for(lambda: state(browser, second) != "")
    wait_for(lambda: browser.ask("document.querySelector('#queue td')?.textContent") == str(second))
    client.delete("api", "leases", first)
    wait_for(lambda: (state(browser, first), state(browser, second)) == ("", "Active"))
    wait_for(lambda: browser.ask("document.getElementById('queue').textContent") == "The queue is empty.")
    paths = {str(path).partition("?")[0] for path in browser.ask("window.asked")}
    assert paths <= {"/api/queue", "/api/caller"}
    browser.ask("document.querySelector('#finished').click()")
    wait_for(lambda: state(browser, first) == "Cancelled")


def test_a_lease_is_taken_back_by_keyboard(busy_site: SiteProcess, browser: Browser) -> None:
    """Tab and Enter are enough."""
    number = busy_site.client().post("api", "leases", body={"nodes": 4, "duration": "unlimited"})["number"]
    browser.visit(busy_site.url)
    wait_for(lambda: state(browser, number) in {"Ready", "Queued"})
    browser.driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    for _ in range(80):
        if browser.ask("document.activeElement.dataset.cancel") == str(number):
            break
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    wait_for(lambda: state(browser, number) == "")
    press(browser, "#finished")
    wait_for(lambda: state(browser, number) == "Cancelled")


def test_a_lease_is_held_released_and_prioritised(busy_site: SiteProcess, browser: Browser) -> None:
    """The row says so, and has the other button; the priority in the queue leads to the form that changes it."""
    number = busy_site.client().post("api", "leases", body={"nodes": 1, "duration": 60})["number"]
    browser.visit(busy_site.url)
    wait_for(lambda: state(browser, number) == "Ready")
    press(browser, f"button[data-cancel=hold{number}]")
    wait_for(lambda: state(browser, number).endswith(", held"))
    assert busy_site.client().get("api", "leases", number)["held"] == "operator"
    press(browser, f"button[data-cancel=release{number}]")
    wait_for(lambda: browser.ask(f"document.querySelector('button[data-cancel=hold{number}]') !== null"))
    other = busy_site.client().post("api", "leases", body={"nodes": 1, "duration": 60})["number"]
    change = f"#queue button[data-cancel=priority{other}]"
    wait_for(lambda: browser.ask(f"document.querySelector('{change}')?.textContent") == "0")
    press(browser, change)
    browser.driver.switch_to.active_element.send_keys(f"7{Keys.ENTER}")
    wait_for(lambda: browser.ask(f"document.querySelector('{change}').textContent") == "7")
    told = "document.getElementById('priority-told').textContent"
    assert browser.ask(told) == f"The priority of lease {other} is 7."
    press(browser, "#priority button")
    wait_for(lambda: browser.ask(told) == "priority: its priority is 7 already")
    assert [line for line in browser.complaints() if "SEVERE" in line and "409" not in line] == []


def test_hosts_out_of_service_are_named(busy_site: SiteProcess, browser: Browser) -> None:
    """With state, operator and reason, as text."""
    client, out = busy_site.client(), "document.getElementById('out')"
    client.post("api", "hosts", "drain", body={"hosts": "0-1 3", "reason": "<b>disk</b>"})
    browser.visit(busy_site.url)
    text = "Hosts out of service: 0-1 3 (draining by local: <b>disk</b>)"
    wait_for(lambda: browser.ask(f"{out}.textContent") == text)
    client.post("api", "hosts", "return", body={"hosts": "0-1 3"})
    wait_for(lambda: browser.ask(f"{out}.hidden"))


def test_notices_are_shown_above_all(busy_site: SiteProcess, browser: Browser) -> None:
    """As text, as soon as they are published, and until they are removed; nothing keeps people out."""
    client, shown = busy_site.client(), "[...document.querySelectorAll('#notices span')].map((one) => one.textContent)"
    client.put("api", "clock", body={"paused": True})
    browser.visit(busy_site.url)
    assert browser.ask(shown) == []
    text = "<b>Disks</b> are replaced"
    number = client.post("api", "notices", body={"text": text, "until": "+01:00:00"})["number"]
    wait_for(lambda: browser.ask(shown) == [text])
    assert "local" in browser.ask("document.querySelector('#notices small').textContent")
    client.delete("api", "notices", number)
    wait_for(lambda: browser.ask(shown) == [])
    client.put("api", "clock", body={"paused": False})


def type_into(browser: Browser, form: str, name: str, text: str) -> None:
    """Type a text into a field of a form, in place of what it has."""
    field = browser.driver.find_element(By.CSS_SELECTOR, f"#{form} [name={name}]")
    field.clear()
    field.send_keys(text)


def _says(browser: Browser, told: str, said: str) -> bool:
    return bool(browser.ask(told) == said)


def test_operators_publish_and_remove_notices_and_take_hosts_out_of_service(
    busy_site: SiteProcess, browser: Browser
) -> None:
    """By forms that others do not see; what is refused is said there."""
    browser.visit(busy_site.url)
    wait_for(lambda: browser.ask("!document.getElementById('operators').hidden"))
    type_into(browser, "notice", "text", "Disks are replaced")
    type_into(browser, "notice", "until", "soon")
    press(browser, "#notice button")
    wait_for(lambda: str(browser.ask("document.getElementById('notice-told').textContent")).startswith("until: "))
    type_into(browser, "notice", "until", f"01:00:00{Keys.ENTER}")
    remove = "#notices button"
    wait_for(lambda: browser.ask(f"document.querySelector('{remove}') !== null"))
    (notice,) = busy_site.client().get("api", "notices")
    assert (notice["text"], notice["until"] is not None) == ("Disks are replaced", True)
    press(browser, remove)
    wait_for(lambda: browser.ask("document.getElementById('notices').children.length") == 0)
    told = "document.getElementById('hosts-told').textContent"
    for change, said in (
        ("drain", "Drained: 2-3."),
        ("drain", "hosts: host 2-3 is drained already"),
        ("return", "Returned: 2-3."),
    ):
        type_into(browser, "hosts", "hosts", "2-3")
        type_into(browser, "hosts", "reason", "new disks")
        Select(browser.driver.find_element(By.CSS_SELECTOR, "#hosts select")).select_by_value(change)
        press(browser, "#hosts button")
        wait_for(partial(_says, browser, told, said))
    assert {one["state"] for one in busy_site.client().get("api", "hosts")} == {"busy"}


def test_a_change_is_played_on_the_page_and_stopped(still: SiteProcess, browser: Browser) -> None:
    """By keyboard: differences are in a table; a play that is stopped leaves the site free for another one."""
    body = ({"nodes": nodes, "duration": 3600} for nodes in (3, 2, 1))
    numbers = [still.client().post("api", "leases", body=one)["number"] for one in body]
    browser.visit(still.url)
    wait_for(lambda: state(browser, numbers[-1]) == "Active")
    note = "document.getElementById('what-if-note').textContent"
    type_into(browser, "what-if", "options", f"backfilling{Keys.ENTER}")
    wait_for(lambda: browser.ask(note) == "options: must be KEY=VALUE, not backfilling")
    type_into(browser, "what-if", "options", "")
    browser.driver.find_element(By.CSS_SELECTOR, "#what-if [name=lease]").send_keys(Keys.SPACE)
    type_into(browser, "what-if", "drain_hosts", f"3{Keys.ENTER}")
    rows = "[...document.querySelectorAll('#what-if-leases tbody tr')].map((row) => row.cells[0].textContent)"
    wait_for(lambda: browser.ask(rows) == list(map(str, numbers)))
    assert "the lease more: " in str(browser.ask(note))
    press(browser, "#what-if-play")
    wait_for(lambda: browser.ask("!document.getElementById('what-if-stop').hidden"))
    press(browser, "#what-if-stop")
    wait_for(lambda: browser.ask(note) == "Stopped.")
    wait_for(lambda: is_played(still))
    assert [line for line in browser.complaints() if "SEVERE" in line] == []


def is_played(site: SiteProcess) -> bool:
    """Return whether the site is free to play a what-if."""
    try:
        return bool(site.client().post("api", "what-if", body={"horizon": 1})["until"])
    except SiteError:
        return False


def choose(browser: Browser, table: str, name: str, value: str) -> None:
    """Set a filter of a table, as a user would."""
    field = browser.driver.find_element(By.CSS_SELECTOR, f"#{table}-filter [name={name}]")
    if field.tag_name == "select":
        Select(field).select_by_visible_text(value)
        return
    field.clear()
    field.send_keys(value)


def test_tables_have_filters(still: SiteProcess, browser: Browser) -> None:
    """By state, user and text, as the API; a filter that nothing fits is said."""
    ann, bob = still.client("ann"), still.client("bob")
    first = ann.post("api", "leases", body={"nodes": 4, "duration": "unlimited"})["number"]
    second = bob.post("api", "leases", body={"nodes": 1, "duration": 60, "constraint": "$id == 3"})["number"]
    third = bob.post("api", "leases", body={"nodes": 1, "duration": 60})["number"]
    bob.delete("api", "leases", third)
    browser.visit(still.url)
    wait_for(lambda: listed(browser, "lease") == [second, first])
    choose(browser, "leases", "user", "bob")
    wait_for(lambda: listed(browser, "lease") == [second])
    press(browser, "#finished")
    wait_for(lambda: listed(browser, "lease") == [third, second])
    choose(browser, "leases", "in_state", "Cancelled")
    wait_for(lambda: listed(browser, "lease") == [third])
    choose(browser, "leases", "in_state", "any")
    choose(browser, "leases", "text", "$ID ==")
    wait_for(lambda: listed(browser, "lease") == [second])
    choose(browser, "leases", "text", "nothing")
    wait_for(lambda: browser.ask("document.getElementById('leases').textContent") == "Nothing fits the filter.")


def test_hosts_are_reserved_by_a_query_and_deleted(tmp_path: Path, browser: Browser) -> None:
    """With owner, times, hosts and state; what is made for an experiment has a link to it."""
    server = {"compute": {"name": "Server" * 30, "locations": ["here"]}}
    lab = {"name": "web" * 60, "duration": 60, "resources": [server]}
    with running_site(tmp_path, "--pace", "0.001", "-o", "reservations=on") as site, left(browser):
        browser.visit(site.url)
        form = "document.getElementById('reserve').elements"
        browser.ask(f"{form}.constraint.value = '$id >='")
        press(browser, "#reserve > button")
        told = "document.getElementById('reserved').textContent"
        wait_for(lambda: "resources[0].compute.constraint" in str(browser.ask(told)))
        browser.ask(f"{form}.constraint.value = '$id >= 2'")
        browser.ask(f"{form}.min.value = 2")
        Select(browser.driver.find_element(By.CSS_SELECTOR, "#reserve [name=when]")).select_by_value("later")
        press(browser, "#reserve > button")
        wait_for(lambda: str(browser.ask(told)) == "Accepted as reservation 1.")
        cells = "[...document.querySelectorAll('tr[data-reservation=\"1\"] td')].map((one) => one.textContent)"
        wait_for(lambda: browser.ask(cells)[6:8] == ["2", "2-3"])
        assert browser.ask(cells)[1:5] == ["lab", "local", "PENDING", "00:30:01"]
        site.client("ann").post("managed_experiments", body=lab)
        wait_for(lambda: listed(browser, "reservation") == [2, 1])
        link = "document.querySelector('tr[data-reservation=\"2\"] a')?.textContent"
        wait_for(lambda: browser.ask(link) == "experiment 2")
        if find_spec("axe_core_python") is not None:
            assert barriers(browser) == []
        browser.resize(390)
        assert browser.ask("document.documentElement.scrollWidth") <= 390
        browser.ask("location.hash = '#experiment/2'")
        wait_for(lambda: browser.ask("document.activeElement.id") == "experiment-title")
        assert browser.ask("document.documentElement.scrollWidth") <= 390
        browser.ask("history.back()")
        wait_for(lambda: browser.ask("document.getElementById('experiment').hidden"))
        browser.resize(None)
        choose(browser, "reservations", "user", "local")
        wait_for(lambda: listed(browser, "reservation") == [1])
        press(browser, "button[data-cancel=unreserve1]")
        wait_for(lambda: listed(browser, "reservation") == [])
        assert [line for line in browser.complaints() if "SEVERE" in line and "422" not in line] == []


def test_the_page_says_who_asks(busy_site: SiteProcess, browser: Browser) -> None:
    """With role and the use of quotas."""
    browser.visit(busy_site.url)
    text = "You are local (operator): leases "
    wait_for(lambda: str(browser.ask("document.getElementById('caller').textContent")).startswith(text))


def test_what_is_refused_is_told_beside_the_form(busy_site: SiteProcess, browser: Browser) -> None:
    """In the site's words."""
    browser.visit(busy_site.url)
    fill(browser, "duration", "soon")
    press(browser, "#ask button")
    wait_for(lambda: "duration: must be" in browser.ask("document.getElementById('asked').textContent"))


def test_time_is_paused_and_goes_on(site: SiteProcess, browser: Browser) -> None:
    """By the button and by the list of paces."""
    browser.visit(site.url)
    press(browser, "#pause")
    wait_for(lambda: site.client().get("api", "clock")["paused"])
    stopped = site.client().get("api", "clock")["now"]
    assert site.client().get("api", "clock")["now"] == stopped
    wait_for(lambda: browser.ask("document.getElementById('pause').textContent") == "Resume")
    press(browser, "#pause")
    wait_for(lambda: site.client().get("api", "clock")["now"] > stopped)
    Select(browser.driver.find_element(By.ID, "pace")).select_by_value("max")
    wait_for(lambda: site.client().get("api", "clock")["pace"] is None)


def test_a_guarded_site_asks_for_its_token(tmp_path: Path, browser: Browser) -> None:
    """Nothing is shown before."""
    token = "a-secret-of-many-characters"
    (tmp_path / "token").write_text(token)
    with running_site(tmp_path, "--token-file", str(tmp_path / "token")) as site, left(browser):
        browser.visit(site.url)
        wait_for(lambda: not browser.ask("document.getElementById('token-form').hidden"))
        assert browser.ask("document.getElementById('title').textContent") != "tiny4.xml"
        browser.driver.find_element(By.ID, "token").send_keys(token, Keys.ENTER)
        wait_for(lambda: browser.ask("document.getElementById('title').textContent") == "tiny4.xml")


def test_the_timelines_of_a_site_are_resumed_extended_and_closed(tmp_path: Path, browser: Browser) -> None:
    """A site with one experiment has a link to its timelines; an operator ends it, but not by one press."""
    machines = {f"vm{number}": [{"at": 10, "break": True}, {"at": 20, "run": "go", "takes": 5}] for number in range(12)}
    (tmp_path / "t.json").write_text(json.dumps({"vms": machines}))
    options, platform = ("--pace", "600", "-s", "timelines", "-o", "file=t.json"), ROOT / "platforms" / "cluster32.xml"
    with running_site(tmp_path, *options, opened_by=("site", "-p", str(platform))) as site, left(browser):
        browser.visit(site.url)
        press(browser, "#own-timelines")
        wait_for(lambda: browser.ask(HELD) == ["break@10"] * 12)
        choose(browser, "vms", "text", "vm11")
        wait_for(lambda: browser.ask(HELD) == ["break@10"])
        add_entry(browser, "vm3", '{"at": 30, "run": "more"}')
        wait_for(lambda: str(browser.ask(ADDED)).startswith("Added at "))
        press(browser, "#resume-all")
        wait_for(lambda: site.client().get("api", "timelines")["held"] == 0)
        wait_for(lambda: ["run", "done"] in browser.ask(DRAWN))
        press(browser, "#experiment a")
        wait_for(lambda: browser.ask("document.getElementById('experiment').hidden"))
        press(browser, "#close button")
        assert site.client().get("healthz")["status"] == "ready"
        press(browser, "#close [name=sure]")
        press(browser, "#close button")
        site.process.communicate()
        assert site.process.returncode == 0


def barriers(browser: Browser) -> list[tuple[str, str]]:
    """Return what axe-core finds on the page that keeps people out: rule and element."""
    browser.driver.execute_script((files("axe_core_python") / "axe.min.js").read_text())
    found: dict[str, Any] = browser.driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    return [
        (one["id"], one["nodes"][0]["html"]) for one in found["violations"] if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize(("scheme", "width"), [("dark", 1400), ("light", 390)])
def test_nothing_keeps_people_out(busy_site: SiteProcess, browser: Browser, scheme: str, width: int) -> None:
    """By the rules of axe-core, with a notice and hosts out of service; and nothing is wider than the window."""
    if find_spec("axe_core_python") is None:
        pytest.skip("needs axe-core-python")
    client = busy_site.client()
    notice = client.post("api", "notices", body={"text": "Disks are replaced"})["number"]
    client.post("api", "hosts", "drain", body={"hosts": "1", "reason": "new disks"})
    browser.prefer(scheme)
    browser.resize(width)
    browser.visit(busy_site.url)
    wait_for(lambda: state(browser, 1) == "Active")
    wait_for(lambda: browser.ask("!document.getElementById('out').hidden && document.querySelector('#notices p')"))
    serious = barriers(browser)
    wide = browser.ask("document.documentElement.scrollWidth") > width
    browser.resize(None)
    browser.prefer("light")
    client.delete("api", "notices", notice)
    client.post("api", "hosts", "return", body={"hosts": "1"})
    assert serious == []
    assert not wide


#: Keeps what the latest drawing of the chart wrote, and for which width: text, left and right end, top, in pixels.
WRITTEN = """\
(() => {
  if (window.written) return;
  window.written = { texts: new Map(), width: 0 };
  const { fillText, setTransform } = CanvasRenderingContext2D.prototype;
  let texts = new Map();
  CanvasRenderingContext2D.prototype.setTransform = function (...numbers) {  // a drawing begins; it ends in this task
    const { canvas } = this;
    if (canvas.id === "chart") {
      texts = new Map();
      queueMicrotask(() => window.written = { texts, width: canvas.width });
    }
    return setTransform.apply(this, numbers);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const width = this.measureText(text).width, left = { center: x - width / 2, right: x - width }[this.textAlign] ?? x;
    if (this.canvas.id === "chart") texts.set(String(text), [left, left + width, y]);
    return fillText.call(this, text, x, y);
  };
})()
"""
#: Whether the latest drawing has texts and is as wide as the chart is now.
CHART_IS_DRAWN = """\
window.written?.texts.size > 0 && window.written.width ===
  Math.round(document.getElementById("chart").getBoundingClientRect().width * devicePixelRatio)
"""


def listed(browser: Browser, kind: str) -> list[int]:
    """Return the numbers in a table of leases, experiments or reservations."""
    rows: list[str] = browser.ask(f"[...document.querySelectorAll('tr[data-{kind}]')].map((one) => one.dataset.{kind})")
    return list(map(int, rows))


def shows(browser: Browser, kind: str, first: int, count: int) -> bool:
    """Return whether a table has these numbers, the greatest first."""
    return listed(browser, kind) == list(range(first, first - count, -1))


def written(browser: Browser) -> dict[str, tuple[float, float, float]]:
    """Return the texts of the latest drawing of the chart, with left and right ends and places from above."""
    # It is drawn several times a second; a page that is left meanwhile takes with it what was kept.
    wait_for(lambda: browser.ask(WRITTEN) or browser.ask(CHART_IS_DRAWN))
    return {text: (left, right, y) for text, (left, right, y) in browser.ask("[...window.written?.texts ?? []]")}


def test_labels_of_the_time_axis_do_not_overlap_on_a_telephone(busy_site: SiteProcess, browser: Browser) -> None:
    """At 390 pixels, and inside of the chart."""
    browser.visit(busy_site.url)
    browser.resize(390)
    try:
        labels = sorted(place for text, place in written(browser).items() if ":" in text)
        width = browser.ask("document.getElementById('chart').getBoundingClientRect().width")
    finally:
        browser.resize(None)
    assert len(labels) >= 2
    assert all(left[1] < right[0] for left, right in pairwise(labels))
    assert labels[-1][1] <= width


#: The share of pixels of the chart that are as dark as borders are.
DARK = """\
(() => {
  const chart = document.getElementById("chart"), pen = chart.getContext("2d");
  const { data } = pen.getImageData(0, 0, chart.width, chart.height);
  let dark = 0;
  for (let at = 0; at < data.length; at += 4) dark += Math.max(data[at], data[at + 1], data[at + 2]) < 110;
  return dark / (data.length / 4);
})()
"""


def test_500_hosts_are_drawn_in_colours(tmp_path: Path, browser: Browser) -> None:
    """Blocks of one host have no border, which would be all that is seen; labels are whole and apart."""
    hosts = "".join(f'<host id="h{number}" speed="1f"/>' for number in range(500))
    zone = f'<zone id="z" routing="Full">{hosts}</zone>'
    (tmp_path / "big.xml").write_text(f'<?xml version="1.0"?><platform version="4.1">{zone}</platform>')
    site = SiteProcess(tmp_path, ("--pace", "60", "-s", "leases"), ("site", "-p", "big.xml"))
    try:
        with left(browser):
            for _ in range(250):
                site.client().post("api", "leases", body={"nodes": 1, "duration": 6000})
            browser.visit(site.url)
            wait_for(lambda: listed(browser, "lease") == list(range(250, 200, -1)))
            assert "Only 200 are shown here" not in browser.ask("document.getElementById('queue').textContent")
            assert browser.ask("document.documentElement.scrollWidth") <= 1400
            browser.driver.find_element(By.CSS_SELECTOR, "#leases-pages button:last-child").send_keys(Keys.ENTER)
            for page in range(1, 5):  # by keyboard: the focus stays at the button, and then goes to the other one
                wait_for(partial(shows, browser, "lease", 250 - 50 * page, 50))
                if page < 4:
                    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
            assert browser.ask("document.querySelector('#leases-pages button:last-child').disabled")
            wait_for(lambda: browser.ask("document.activeElement.textContent") == "Newer")
            browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
            wait_for(partial(shows, browser, "lease", 100, 50))
            assert browser.ask(DARK) < 0.05
            labels = sorted(place[2] for text, place in written(browser).items() if text.startswith("host "))
            assert labels[0] >= 8
            assert all(lower - upper >= 12 for upper, lower in pairwise(labels))
    finally:
        site.end()


def test_machines_of_experiments_have_names_in_the_chart(tmp_path: Path, browser: Browser) -> None:
    """The legend has planned machines."""
    with running_site(tmp_path, "--pace", "1") as site, left(browser):
        browser.visit(site.url)
        press(browser, "#hand-in button")
        wait_for(lambda: not browser.ask("document.getElementById('experiment').hidden"))
        press(browser, "#experiment a")
        wait_for(lambda: "1/Server" in written(browser))
        legend = browser.ask("document.getElementById('legend').textContent")
        assert "is planned" in legend
        assert "a machine of experiment" in legend
