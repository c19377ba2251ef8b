"""Quotas of users and groups in the file of users: what they refuse, and what callers see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from batsched_py.errors import OptionError
from batsched_py.site.users import add_user, list_users, set_group_quotas, set_user_quotas
from tests.integration.test_site import wait_for
from tests.integration.test_site_callers import WEB
from tests.integration.test_site_callers import ask as call
from tests.integration.test_site_commands import Ask, ask, cells
from tests.site_process import running_site

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

__all__ = ["ask"]  # a fixture
Asked = Callable[..., tuple[int, Any]]


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    """Ask, as ann or bob of the group red, a site whose time stands nearly still."""
    file = tmp_path / "users.json"
    tokens = {name: add_user(file, name, "red", "user") for name in ("ann", "bob")}
    set_user_quotas(file, "ann", {"hosts": 3, "leases": 2, "experiments": 1})
    set_group_quotas(file, "red", {"hosts": 4, "experiments": 2})
    options = ("--pace", "0.001", "--users", str(file))
    with running_site(tmp_path, *options) as site:

        def as_user(user: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
            return call(site, method, path, [("Authorization", f"Bearer {tokens[user]}")], body)

        yield as_user


def lease(asked: Asked, user: str, nodes: int, **terms: Any) -> str:
    """Request a lease; return what the site said, "" if it was accepted."""
    status, answer = asked(user, "POST", "/api/leases", {"nodes": nodes, "duration": 600, **terms})
    return "" if status == 201 else f"{status}: {answer['problems'][0]['message']}"


def uses(asked: Asked, user: str) -> dict[str, tuple[float, float | None]]:
    """Return what a caller uses of each quota, and the quota."""
    found = asked(user, "GET", "/api/caller")[1]["quotas"]
    return {f"{one['quota']} of the {one['of']}": (one["used"], one["limit"]) for one in found}


def test_quotas_hold_for_requests_at_the_same_time(asked: Asked) -> None:
    """Neither more nor fewer are accepted than one after the other."""
    with ThreadPoolExecutor(12) as pool:
        leases = [pool.submit(lease, asked, "ann", 1) for _ in range(12)]
        experiments = [pool.submit(asked, "ann", "POST", "/managed_experiments", WEB) for _ in range(6)]
        reservations = [pool.submit(asked, "ann", "POST", "/reservations", WEB) for _ in range(6)]
        assert [one.result() for one in leases].count("") == 2
        assert [one.result()[0] for one in (*experiments, *reservations)].count(201) == 1


def test_quotas_of_users_and_groups_refuse_with_their_name(asked: Asked, tmp_path: Path) -> None:
    """Ended leases do not count; a change of the file holds at once, and other users have the options of the site."""
    open_ones = "leases and jobs that have not ended"
    assert (
        lease(asked, "ann", 4)
        == f"429: you have 0 machines of {open_ones}, and you ask for 4: the quota hosts of the user is 3"
    )
    assert lease(asked, "ann", 2) == ""
    assert lease(asked, "bob", 3) == (
        f"429: the users of red have 2 machines of {open_ones}, and you ask for 3: the quota hosts of the group is 4"
    )
    assert lease(asked, "ann", 1) == ""
    assert lease(asked, "ann", 1) == f"429: you have 3 machines of {open_ones}: the quota hosts of the user is 3"
    set_user_quotas(tmp_path / "users.json", "ann", {"hosts": None})
    assert lease(asked, "ann", 1) == f"429: you have 2 {open_ones}: the quota leases of the user is 2"
    assert asked("ann", "POST", "/api/jobs", {"nodes": 1, "walltime": 5})[0] == 429
    assert lease(asked, "bob", 1) == ""
    found = uses(asked, "ann")
    assert found.pop("megabytes of the user")[1] == 256
    assert found == {
        "hosts of the user": (3, None),
        "hosts of the group": (4, 4),
        "leases of the user": (2, 2),
        "experiments of the user": (0, 1),
        "experiments of the group": (0, 2),
    }
    assert uses(asked, "bob")["leases of the user"] == (1, 20_000)
    assert asked("ann", "DELETE", "/api/leases/1")[0] == 204
    wait_for(lambda: uses(asked, "ann")["hosts of the user"] == (1, None))
    assert lease(asked, "ann", 2) == ""


def test_each_final_lease_leaves_the_count(asked: Asked) -> None:
    """Also one that is refused on its arrival, and reservations that are cancelled."""

    def used() -> float:
        return uses(asked, "ann")["hosts of the user"][0]

    for terms in ({"constraint": "$gpus > 0"}, {"capacity": {"gpu": 9}}):
        assert lease(asked, "ann", 3, **terms) == ""
        wait_for(lambda: used() == 0)
    for starts in ((3600, 3600), (7200, 9000)):
        assert [lease(asked, "ann", 1, start=start) for start in starts] == ["", ""]
        wait_for(lambda: len(asked("ann", "GET", "/api/leases")[1]) == used() > 0)
        for one in asked("ann", "GET", "/api/leases")[1]:
            assert asked("ann", "DELETE", f"/api/leases/{one['number']}")[0] in (204, 409)
        wait_for(lambda: used() == 0)
    assert {one["final"] for one in asked("ann", "GET", "/api/leases?finished=true")[1]} == {True}


def test_experiments_and_reservations_of_a_group_count_together(asked: Asked) -> None:
    """Deleted ones do not."""
    rule = "experiments and reservations: the quota experiments of the"
    answers = [asked(user, "POST", "/managed_experiments", WEB) for user in ("ann", "ann", "bob", "bob")]
    assert [status for status, _ in answers] == [201, 429, 201, 429]
    told = [answers[number][1]["problems"][0]["message"] for number in (1, 3)]
    assert told == [f"you have 1 {rule} user is 1", f"the users of red have 2 {rule} group is 2"]
    assert asked("ann", "DELETE", "/managed_experiments/1")[0] == 204
    wait_for(lambda: uses(asked, "bob")["experiments of the group"] == (1, 2))


def test_quotas_are_set_and_ended_by_a_command(ask: Ask) -> None:
    """Those that are not given stay; the list has them."""
    assert ask("site", "users", "add", "ann", "--group", "red", "--file", "users.json")[0] == 0
    quota = ("site", "users", "quota")
    assert ask(*quota, "ann", "--hosts", "8", "--leases", "0", "--file", "users.json") == (0, "", "")
    assert ask(*quota, "ann", "--hosts", "none", "--file", "users.json") == (0, "", "")
    assert ask(*quota, "red", "--group", "--experiments", "5", "--file", "users.json") == (0, "", "")
    assert list(cells(ask("site", "users", "list", "--file", "users.json")[1]))[1:] == [
        ["ann", "red", "user", "leases 0"],
        ["red", "experiments 5"],
    ]
    assert ask(*quota, "red", "--group", "--experiments", "none", "--file", "users.json") == (0, "", "")
    assert list_users(Path("users.json")).groups == ()
    for words, rule in [
        (("bob", "--hosts", "1"), "there is no user 'bob'"),
        (("blue", "--group", "--hosts", "1"), "no user has the group 'blue'"),
        (("ann",), "Give '--hosts', '--leases' or '--experiments'"),
        (("ann", "--hosts", "-1"), "-1 is not in the range 0<=x<=1000000000"),
        (("ann", "--hosts", "x"), "'--hosts': must be a number or none, not 'x'"),
    ]:
        code, _, told = ask(*quota, *words, "--file", "users.json")
        assert (code, rule in told) == (2, True), told


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        ('{"groups": [{"name": "", "quotas": {}}]}', r"groups\[0\].name: must not be empty"),
        ('{"groups": [{"name": "a", "quotas": {"hosts": -1}}]}', r"groups\[0\].quotas.hosts: must be a whole number"),
        ('{"groups": [{"name": "a", "quotas": {"disks": 1}}]}', "disks"),
        ('{"groups": [{"name": "a", "quotas": {}}, {"name": "a", "quotas": {}}]}', r"groups\[1\].name: appears twice"),
    ],
)
def test_wrong_groups_are_one_error(tmp_path: Path, content: str, rule: str) -> None:
    """With the member and the rule."""
    file = tmp_path / "users.json"
    file.write_text(content)
    file.chmod(0o600)
    with pytest.raises(OptionError, match=rule):
        list_users(file)


def test_a_command_shows_the_caller(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the options of the site."""
    with running_site(tmp_path, "--pace", "0.001", "--quota-leases", "7") as site:
        monkeypatch.setenv("BATSCHED_PY_URL", site.url)
        told = ask("site", "caller", "--user", "ann", "--group", "red")[1]
    assert told.startswith("ann (user, group red)\n")
    assert ["leases", "user", "0", "7"] in cells(told)
    assert ["hosts", "user", "0"] in cells(told)
