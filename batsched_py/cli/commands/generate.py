"""`batsched-py generate`: create a synthetic workload, a platform to run it, and failures of its hosts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import click
import orjson
from msgspec import Struct

from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.machine_files import MachineFiles, machine_file_options
from batsched_py.cli.shared.output_paths import check_apart, check_writable
from batsched_py.cli.shared.parameters import PATH, option
from batsched_py.cli.shared.terminal import say
from batsched_py.errors import OptionError
from batsched_py.files.atomic_file import write_pieces_atomically
from batsched_py.files.output_file import make_folder, writing
from batsched_py.model.demand_members import DEMAND, read_job_demand
from batsched_py.model.profile import Profile
from batsched_py.reading.limits import LONGEST
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted
from batsched_py.traces.batsim_json_writer import write_jobs
from batsched_py.traces.delay_workload import DelayJob, named_jobs
from batsched_py.traces.failures import FailureModel, event_lines, parse_failures
from batsched_py.traces.lublin import DEFAULT_OVERESTIMATE, Drawn
from batsched_py.traces.machine_shapes import TOPOLOGIES, Shape
from batsched_py.traces.quantity import TIME, parse_quantity


class GenerateRequest(Struct, frozen=True):
    """The options of `generate`."""

    jobs: int | None
    hosts: int
    seed: int
    load: float | None
    overestimate: float
    output: Path | None
    platform: Path | None
    topology: Shape | None
    failures: FailureModel | None
    events: Path | None
    until: float | None
    demand: tuple[Mapping[str, Any], ...]
    machine: MachineFiles

    @property
    def drawn(self) -> Drawn | None:
        """The workload; None if only failures are requested. OptionError."""
        if self.jobs is None:
            return None
        speed = self.machine.work.speed
        return Drawn(self.jobs, self.hosts, self.seed, self.load, self.overestimate, speed)


def _read_failures(context: click.Context, parameter: click.Parameter, text: str | None) -> FailureModel | None:
    try:
        return None if text is None else parse_failures(text)
    except OptionError as error:
        raise click.BadParameter(str(error).removeprefix("failures: "), context, parameter) from None


def _read_demands(
    context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> tuple[Mapping[str, Any], ...]:
    found = []
    for text in texts:
        try:
            found.append(orjson.loads(text))
            read_job_demand({DEMAND: found[-1]}, 1)
        except ValueError as error:  # also one of orjson
            raise click.BadParameter(displayed(str(error)), context, parameter) from None
    return tuple(found)


def _read_time(context: click.Context, parameter: click.Parameter, text: str | None) -> Any:
    if text is None:
        return None
    try:
        value = parse_quantity(text, TIME)
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from None
    if not 0 < value <= LONGEST:
        raise click.BadParameter(f"must be greater than 0 and at most {LONGEST:g} s, not {text}", context, parameter)
    return value


@typed_command(limits=False)
@option("--jobs", "N", "How many jobs.", type=int)
@option("--hosts", "N", "Size of the machine.", type=int, required=True)
@option("--seed", "N", "The same seed, the same files.", type=int, default=0)
@option("--load", "L", "Stretch the submission times for this load (0.8 = 80 %).", type=float)
@option(
    "--overestimate", "F", "Walltimes are up to 1 + F times the run time.", type=float, default=DEFAULT_OVERESTIMATE
)
@option("-o --output", "FILE", "The workload, Batsim JSON; goes with --jobs.", type=PATH)
@option("--platform", "FILE", "Write a platform of that many like hosts, too.", type=PATH)
@option("--topology", None, "Network of the platform's hosts.  [default: none]", type=click.Choice(list(TOPOLOGIES)))
@option(
    "--demand",
    "JSON",
    'What each task of a job requests, as {"cores": 2, "gpus": 1}; given several times, each job draws one.',
    multiple=True,
    callback=_read_demands,
)
@machine_file_options
@option(
    "--failures",
    "mtbf=T,repair=T",
    "Generate host failures with these means, such as 30d and 2h; shape=K, repair-shape=K for Weibull distributions.",
    callback=_read_failures,
)
@option("--events", "FILE", "The failures, as external events; goes with --failures.", type=PATH)
@option("--until", "T", "Hosts fail until then. Default: the last job is submitted.", callback=_read_time)
def command(request: GenerateRequest) -> None:
    """Generate a workload with the model of Lublin and Feitelson (2003), host failures, or both."""
    _check_usage(request)
    output, platform, events = request.output, request.platform, request.events
    check_apart([], [("-o", output), ("--platform", platform), ("--events", events)])
    check_writable([output, platform, events])
    drawn = request.drawn
    try:
        if drawn is not None:
            drawn.check()
        failures = None if request.failures is None else _draw_failures(request, request.failures, drawn)
    except OptionError as error:  # the message begins with the option's name
        raise OptionError(f"--{error}") from error
    if platform is not None:
        request.machine.write_platform(platform, request.hosts, request.topology)
    if drawn is not None and output is not None:
        make_folder(output)
        _write_jobs(output, drawn, request.demand)
    if failures is not None and events is not None:
        with writing(events):
            write_pieces_atomically(events, event_lines(failures))
    if platform is not None:
        say(f"wrote {platform}: {counted(request.hosts, 'host')}")
    if drawn is not None:
        say(f"wrote {output}: {counted(drawn.jobs, 'job')} for {counted(request.hosts, 'host')}")
    if failures is not None:
        number = counted(len(failures) // 2, "failure")
        say(f"wrote {events}: {number} of {counted(len({host for _, _, host in failures}), 'host')}")


def _write_jobs(output: Path, drawn: Drawn, demands: Sequence[Mapping[str, Any]]) -> None:
    """Write the jobs while they are generated: they may not fit into memory. WorkloadError."""
    profiles: dict[str, Profile] = {}
    jobs, description = drawn.draw_jobs(), drawn.description
    if demands:
        jobs = _with_demands(jobs, demands, drawn.seed)
        description += "".join(f" --demand '{orjson.dumps(demand).decode()}'" for demand in demands)
    made = named_jobs(jobs, drawn.jobs, drawn.work, profiles)
    write_jobs(output, drawn.hosts, made, profiles, description=description)


def _with_demands(jobs: Iterable[DelayJob], demands: Sequence[Mapping[str, Any]], seed: int) -> Iterator[DelayJob]:
    """Give each job one of the demands, at random."""
    draw = Random(seed)
    for job in jobs:
        yield job._replace(members={**job.members, DEMAND: draw.choice(demands)})


def _check_usage(request: GenerateRequest) -> None:
    if (request.jobs is None) != (request.output is None):
        raise click.UsageError("'--jobs' and '-o' go together: a workload and its file")
    if (request.failures is None) != (request.events is None):
        raise click.UsageError("'--failures' and '--events' go together: failures and their file")
    if request.jobs is None and request.failures is None:
        raise click.UsageError("'--jobs' or '--failures' is needed: what is to be drawn?")
    if request.until is not None and request.failures is None:
        raise click.UsageError("'--until' goes with '--failures'")
    if request.jobs is None and request.until is None:
        raise click.UsageError("'--until' is needed without '--jobs': until when do hosts fail?")
    if request.topology is not None and request.platform is None:
        raise click.UsageError("'--topology' goes with '--platform': it is the network of the hosts")
    if request.demand and request.jobs is None:
        raise click.UsageError("'--demand' goes with '--jobs'")
    request.machine.check(request.platform)
    if request.machine.computes and request.jobs is None:
        raise click.UsageError("'--profiles' goes with '--jobs'")


def _draw_failures(request: GenerateRequest, model: FailureModel, drawn: Drawn | None) -> list[tuple[float, bool, int]]:
    until = request.until
    if until is None:
        assert drawn is not None  # noqa: S101  # the usage was checked
        until = max(job.submit for job in drawn.draw_jobs())
    return model.draw(request.hosts, until, request.seed)
