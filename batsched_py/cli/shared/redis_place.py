"""The location of Redis, given by the user, or by Batsim if it is this machine or the user allows it."""

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

#: The environment variable with the password; an option would be visible in lists of processes.
PASSWORD: Final = "BATSCHED_REDIS_PASSWORD"  # noqa: S105 - its name
#: A name or IPv4 address, or an IPv6 address in brackets, and a port.
_ADDRESS: Final = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^\s:\[\]/]+)):(\d{1,5})")


class RedisPlace(Struct, frozen=True):
    """The location of Redis given by the user; values that are None are read from SIMULATION_BEGINS.

    Attributes:
        redis_address: host and port; they differ from Batsim's if one of the two programs runs in a container.
        redis_prefix: prefix of keys.
        allowed_redis: hosts that Batsim may name, in addition to this machine.
    """

    redis_address: tuple[str, int] | None = None
    redis_prefix: str | None = None
    allowed_redis: tuple[str, ...] = ()

    def open(self, config: Config) -> RedisStore:
        """Open the store of a Batsim with the option --enable-redis.

        StoreError, before any look-up or connection, if Batsim names a host that is not allowed. The password is sent
        only to hosts named by the user: even on this machine, a peer could name a port of its own.
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
        module = importlib.import_module("batsched_py.metadata.redis_store")  # in an extra, and slow to import
        prefix = config.redis_prefix if self.redis_prefix is None else self.redis_prefix
        password = os.environ.get(PASSWORD, "") if named else ""
        opened: RedisStore = module.RedisStore(hostname, port, prefix, password=password)
        return opened


def without_brackets(hostname: str) -> str:
    """Return an IPv6 address without the brackets that separate it from a port."""
    return hostname[1:-1] if hostname.startswith("[") and hostname.endswith("]") else hostname


def is_this_machine(hostname: str) -> bool:
    """Return True for "localhost" and loopback addresses; no name is looked up."""
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
