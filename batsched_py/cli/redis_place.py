"""Where Redis is: as Batsim says, or as the user says of this process."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Final

import click
from msgspec import Struct

from batsched_py.protocol.events import Config

if TYPE_CHECKING:
    from batsched_py.metadata.redis_store import RedisStore

#: A name or IPv4 address, or an IPv6 address in brackets; and a port.
_ADDRESS: Final = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^\s:\[\]/]+)):(\d{1,5})")


class RedisPlace(Struct, frozen=True):
    """What a user says of Redis; what is None is as SIMULATION_BEGINS says.

    Attributes:
        address: host and port; another than Batsim's where one of the two runs in a container.
        prefix: what keys begin with.
    """

    address: tuple[str, int] | None = None
    prefix: str | None = None

    def open(self, config: Config) -> RedisStore:
        """The store that Batsim uses when it runs with --enable-redis. StoreError."""
        module = importlib.import_module("batsched_py.metadata.redis_store")  # an extra, and slow to import
        hostname, port = self.address or (config.redis_hostname, config.redis_port)
        prefix = config.redis_prefix if self.prefix is None else self.prefix
        opened: RedisStore = module.RedisStore(hostname, port, prefix)
        return opened


#: As Batsim says.
AS_TOLD: Final = RedisPlace()


def _read_address(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, int] | None:
    if value is None:
        return None
    found = _ADDRESS.fullmatch(value)
    if found is None or not 1 <= int(found[3]) <= 65535:
        raise click.BadParameter(f"must be HOST:PORT like 127.0.0.1:6379, not {value!r}", context, parameter)
    return found[1] or found[2], int(found[3])


redis_option = click.option(
    "--redis",
    "redis_address",
    callback=_read_address,
    metavar="HOST:PORT",
    help="Where Redis is for us, if not where SIMULATION_BEGINS says.",
)

redis_prefix_option = click.option(
    "--redis-prefix", metavar="PREFIX", help="What keys in Redis begin with, if not as SIMULATION_BEGINS says."
)
