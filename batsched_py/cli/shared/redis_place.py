"""The place of Redis: as the user says, or as Batsim says if that is this machine or the user allows it."""

from __future__ import annotations

import importlib
import os
import re
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

import click
from msgspec import Struct

from batsched_py.cli.shared.parameters import option, together
from batsched_py.errors import StoreError
from batsched_py.protocol.events import Config
from batsched_py.text.display import displayed

if TYPE_CHECKING:
    from batsched_py.metadata.redis_store import RedisStore

#: The environment variable with the password; an option would show it in lists of processes.
PASSWORD: Final = "BATSCHED_REDIS_PASSWORD"  # noqa: S105 - its name
#: A name or IPv4 address, or an IPv6 address in brackets, and a port.
_ADDRESS: Final = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^\s:\[\]/]+)):(\d{1,5})")


class RedisPlace(Struct, frozen=True):
    """The place of Redis as a user gives it; what is None is taken from SIMULATION_BEGINS.

    Attributes:
        redis_address: host and port; they differ from Batsim's where one of the two runs in a container.
        redis_prefix: prefix of keys.
        allowed_redis: hosts that Batsim may name, besides this machine.
    """

    redis_address: tuple[str, int] | None = None
    redis_prefix: str | None = None
    allowed_redis: tuple[str, ...] = ()

    def open(self, config: Config) -> RedisStore:
        """Open the store that Batsim uses when it runs with --enable-redis.

        StoreError, before anything is looked up or connected, if Batsim names a host that it may not. The password goes
        to hosts that the user named, and to no other: on this machine, too, a peer could name a port of its own.
        """
        hostname, port = self.redis_address or (without_brackets(config.redis_hostname), config.redis_port)
        allowed = {without_brackets(host).lower() for host in self.allowed_redis}
        named = self.redis_address is not None or hostname.lower() in allowed
        if not (named or is_this_machine(hostname)):
            shown = displayed(hostname)
            raise StoreError(
                f"Redis {shown}: SIMULATION_BEGINS names another machine: if you trust it, say --allow-redis {shown},"
                " or where Redis is with --redis HOST:PORT"
            )
        module = importlib.import_module("batsched_py.metadata.redis_store")  # an extra, and slow to import
        prefix = config.redis_prefix if self.redis_prefix is None else self.redis_prefix
        password = os.environ.get(PASSWORD, "") if named else ""
        opened: RedisStore = module.RedisStore(hostname, port, prefix, password=password)
        return opened


def without_brackets(hostname: str) -> str:
    """Return an IPv6 address as it is looked up: without the brackets that set it apart from a port."""
    return hostname[1:-1] if hostname.startswith("[") and hostname.endswith("]") else hostname


def is_this_machine(hostname: str) -> bool:
    """True for "localhost" and loopback addresses; no name is looked up."""
    try:
        return ip_address(hostname).is_loopback
    except ValueError:
        return hostname.lower() == "localhost"


def _read_address(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, int] | None:
    if value is None:
        return None
    found = _ADDRESS.fullmatch(value)
    if found is None or not 1 <= int(found[3]) <= 65535:
        raise click.BadParameter(f"must be HOST:PORT like 127.0.0.1:6379, not {value!r}", context, parameter)
    return found[1] or found[2], int(found[3])


redis_option = option(
    "--redis redis_address",
    "HOST:PORT",
    "Address of Redis, if it differs from that in SIMULATION_BEGINS.",
    callback=_read_address,
)

redis_options = together(
    redis_option,
    option("--redis-prefix", "PREFIX", "Prefix of keys in Redis, if it differs from that in SIMULATION_BEGINS."),
    option(
        "--allow-redis allowed_redis",
        "HOST",
        "A remote host that SIMULATION_BEGINS may name as the host of Redis; may be given several times.",
        multiple=True,
    ),
)
