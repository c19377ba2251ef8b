"""Profiles of jobs and power states of hosts in the files that `generate` and `convert` write."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click
from msgspec import Struct

from batsched_py.cli.shared.parameters import option, together
from batsched_py.errors import OptionError
from batsched_py.files.output_file import make_folder
from batsched_py.traces.delay_workload import USUAL_SPEED, TimedWork
from batsched_py.traces.machine_shapes import Shape
from batsched_py.traces.platform_writer import write_homogeneous, write_topology
from batsched_py.traces.power_states import PowerStates, read_speed

_COMPUTE: Final = "compute"

machine_file_options = together(
    option(
        "--profiles",
        None,
        "Jobs wait (delay), or compute for as long on hosts of --speed, which draw more power then.",
        type=click.Choice(["delay", _COMPUTE]),
        default="delay",
    ),
    option("--speed", "FLOPS", "Speed of the hosts, for --profiles compute and --platform.  [default: 1Gf]"),
    option(
        "--power",
        "STATE,...",
        "With --platform: power in watts, as idle:epsilon:full, then slower states as idle:epsilon:full@SPEED and sleep"
        " states as sleep=watts:off_time:off_watts:on_time:on_watts.",
    ),
)


class MachineFiles(Struct, frozen=True):
    """The options as given."""

    profiles: str
    speed: str | None
    power: str | None

    def check(self, platform: Path | None) -> None:
        """Check that the options are compatible and valid. UsageError, OptionError."""
        if self.power is not None and platform is None:
            raise click.UsageError("'--power' goes with '--platform': it describes the hosts")
        if self.speed is not None and platform is None and not self.computes:
            raise click.UsageError("'--speed' goes with '--profiles compute' or '--platform'")
        self._states()

    @property
    def computes(self) -> bool:
        """True if jobs compute."""
        return self.profiles == _COMPUTE

    @property
    def supplied(self) -> bool:
        """True if any of the options differs from its default."""
        return self.computes or self.speed is not None or self.power is not None

    @property
    def work(self) -> TimedWork:
        """The work of the jobs. OptionError."""
        return TimedWork(self._flops() if self.computes else None)

    def write_platform(self, path: Path, hosts: int, shape: Shape | None = None) -> None:
        """Write a platform of hosts with these options, without network or of a shape. PlatformError, OptionError."""
        make_folder(path)
        speed, power = self.speed or "1Gf", self._states()
        if shape is None:
            write_homogeneous(path, hosts, speed=speed, power=power)
        else:
            write_topology(path, shape, hosts, speed=speed, power=power)

    def _flops(self) -> float:
        try:
            return USUAL_SPEED if self.speed is None else read_speed(self.speed)
        except OptionError as error:  # the message begins with the option's name
            raise OptionError(f"--{error}") from None

    def _states(self) -> PowerStates | None:
        flops = self._flops()
        try:
            return None if self.power is None else PowerStates.parse(self.power, flops)
        except OptionError as error:
            raise OptionError(f"--{error}") from None
