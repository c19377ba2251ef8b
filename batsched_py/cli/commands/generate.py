"""`batsched-py generate`: make a synthetic workload, and a platform to run it."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from batsched_py.cli.shared.command import takes
from batsched_py.cli.shared.output_paths import check_apart, check_writable, make_folder
from batsched_py.cli.shared.parameters import PATH, option
from batsched_py.cli.shared.terminal import say
from batsched_py.errors import OptionError
from batsched_py.text.wording import counted
from batsched_py.traces.batsim_json import write_workload
from batsched_py.traces.lublin import DEFAULT_OVERESTIMATE, Drawn
from batsched_py.traces.simgrid_xml import write_homogeneous


class GenerateRequest(Struct, frozen=True):
    """The options of `generate`."""

    drawn: Drawn
    output: Path
    platform: Path | None


@takes(GenerateRequest, limits=False)
@option("--jobs", "N", "How many jobs.", type=int, required=True)
@option("--hosts", "N", "Size of the machine.", type=int, required=True)
@option("--seed", "N", "The same seed, the same workload.", type=int, default=0)
@option("--load", "L", "Stretch the submission times for this load (0.8 = 80 %).", type=float)
@option(
    "--overestimate", "F", "Walltimes are up to 1 + F times the run time.", type=float, default=DEFAULT_OVERESTIMATE
)
@option("-o --output", "FILE", "The workload, Batsim JSON.", type=PATH, required=True)
@option("--platform", "FILE", "Write a platform of that many like hosts, too.", type=PATH)
def command(request: GenerateRequest) -> None:
    """Draw a workload from the model of Lublin and Feitelson (2003)."""
    drawn, output, platform = request.drawn, request.output, request.platform
    check_apart([], [("-o", output), ("--platform", platform)])
    check_writable([output, platform])
    try:
        workload = drawn.draw()
    except OptionError as error:  # begins with the option's name
        raise OptionError(f"--{error}") from error
    if platform is not None:
        make_folder(platform)
        write_homogeneous(platform, drawn.hosts)
    make_folder(output)
    write_workload(output, workload, description=drawn.description)
    if platform is not None:
        say(f"wrote {platform}: {counted(drawn.hosts, 'host')}")
    say(f"wrote {output}: {counted(drawn.jobs, 'job')} for {counted(drawn.hosts, 'host')}")
