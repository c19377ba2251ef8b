"""The address of Redis in options."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from batsched_py.cli.main import batsched
from batsched_py.cli.shared.redis_place import RedisPlace
from batsched_py.errors import StoreError
from batsched_py.protocol.events import Config


def test_redis_needs_to_be_enabled() -> None:
    """To say only where it is, is a mistake."""
    done = CliRunner().invoke(
        batsched, ["simulate", "-p", "p.xml", "-w", "w.json", "-s", "easy", "--redis", "127.0.0.1:6379"]
    )
    assert done.exit_code == 2
    assert "'--redis' goes with '--enable-redis'" in done.stderr


@pytest.mark.parametrize("address", ["redis", "redis:", ":6379", "redis:0", "redis:65536", "redis:6379:1", "::1:6379"])
def test_an_address_that_is_none_is_wrong_usage(address: str) -> None:
    """As it was typed."""
    done = CliRunner().invoke(batsched, ["serve", "-s", "easy", "--redis", address])
    assert done.exit_code == 2
    assert f"must be HOST:PORT like 127.0.0.1:6379, not '{address}'" in done.stderr


class Opened:
    """In the place of the store: keeps where it was opened."""

    def __init__(self, *where: object, password: str) -> None:
        self.where = where
        self.password = password


@pytest.mark.parametrize(
    ("place", "where"),
    [
        (RedisPlace(allowed_redis=("other", "BatSim")), ("batsim", 7000, "lab")),
        (RedisPlace(("::1", 1)), ("::1", 1, "lab")),
        (RedisPlace(allowed_redis=("batsim", "[::2]")), ("batsim", 7000, "lab")),
        (RedisPlace(redis_prefix="", allowed_redis=("batsim",)), ("batsim", 7000, "")),
    ],
)
def test_what_is_not_said_is_as_batsim_says(
    monkeypatch: pytest.MonkeyPatch, place: RedisPlace, where: tuple[object, ...]
) -> None:
    """Each of the two alone."""
    monkeypatch.setattr("batsched_py.metadata.redis_store.RedisStore", Opened)
    opened = place.open(Config(redis=True, redis_hostname="batsim", redis_port=7000, redis_prefix="lab"))
    assert isinstance(opened, Opened)
    assert opened.where == where


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "[::1]", "localhost", "LOCALHOST"])
def test_batsim_may_name_this_machine(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    """But gets no password there: a peer could listen on the port that it names."""
    monkeypatch.setattr("batsched_py.metadata.redis_store.RedisStore", Opened)
    monkeypatch.setenv("BATSCHED_REDIS_PASSWORD", "secret")
    opened = RedisPlace().open(Config(redis=True, redis_hostname=host))
    assert isinstance(opened, Opened)
    assert opened.password == ""


@pytest.mark.parametrize(
    "host",
    ["redis", "10.0.0.1", "127.0.0.1.nip.io", "localhost.evil.org", "0.0.0.0", "::", "2130706433", "", " 127.0.0.1"],
)
def test_batsim_may_name_no_other_machine(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    """Nothing is looked up or connected; the line says what the user may do."""
    monkeypatch.setattr("batsched_py.metadata.redis_store.RedisStore", Opened)
    with pytest.raises(StoreError) as caught:
        RedisPlace(allowed_redis=("other",)).open(Config(redis=True, redis_hostname=host))
    assert str(caught.value) == (
        f"Redis {host}: SIMULATION_BEGINS names another machine: if you trust it, say --allow-redis {host}, or where"
        " Redis is with --redis HOST:PORT"
    )


@pytest.mark.parametrize("place", [RedisPlace(("redis", 6379)), RedisPlace(allowed_redis=("redis",))])
def test_a_host_that_the_user_names_gets_the_password(monkeypatch: pytest.MonkeyPatch, place: RedisPlace) -> None:
    """It comes from the environment, where no list of processes shows it."""
    monkeypatch.setattr("batsched_py.metadata.redis_store.RedisStore", Opened)
    monkeypatch.setenv("BATSCHED_REDIS_PASSWORD", "secret")
    opened = place.open(Config(redis=True, redis_hostname="redis"))
    assert isinstance(opened, Opened)
    assert opened.password == "secret"
