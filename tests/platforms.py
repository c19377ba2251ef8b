"""Platforms for tests, made without a file."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from batsched_py.model.platform import Platform
from batsched_py.traces.platform_writer import write_homogeneous
from batsched_py.traces.simgrid_xml import read_platform


def plain_platform(hosts: int) -> Platform:
    """So many like hosts without a network, and a master."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "platform.xml"
        write_homogeneous(path, hosts)
        return read_platform(path)
