"""`batsched-py site`: a live site, to which users submit leases and jobs in real time."""

from __future__ import annotations

import importlib
import math
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import click
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.cli.shared.algorithm import AlgorithmChoice, Warnings, load_from_here
from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.described_runs import check_choice_apart, files_of_choice, this_call
from batsched_py.cli.shared.output_paths import check_writable
from batsched_py.cli.shared.parameters import FOLDER, PATH, Number, Pace, Seconds, algorithm_options, flag, option
from batsched_py.cli.shared.recorded_choice import recorded_choice, recorded_features, trust_option
from batsched_py.cli.shared.repetition import CommandWithParts
from batsched_py.cli.shared.simulation_options import machine_options, platform_option
from batsched_py.cli.shared.site_audit import audit
from batsched_py.cli.shared.site_caller import caller
from batsched_py.cli.shared.site_callers import CallerOptions, quota_options
from batsched_py.cli.shared.site_notices import notice
from batsched_py.cli.shared.site_options import SitePlace, site_options
from batsched_py.cli.shared.site_users import users
from batsched_py.cli.shared.terminal import say, warn, warn_all
from batsched_py.errors import BatschedError
from batsched_py.files.bounded_file import read_raw
from batsched_py.model.settings import Settings
from batsched_py.results.job_users import users_table
from batsched_py.runs.choice import Choice
from batsched_py.runs.decision_spool import DecisionSpool
from batsched_py.runs.recorded_run import play_recording
from batsched_py.runs.result_writer import result_paths, write_run
from batsched_py.runs.run_description import Decider, RunInputs, RunOrigin, other_files
from batsched_py.site.folder import TRANSCRIPT
from batsched_py.site.simulated import SimulatedSite
from batsched_py.site.site import SiteSettings
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted, seconds
from batsched_py.traces.simgrid_xml import read_platform
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.transcript import Transcript

#: The default algorithm of a site.
DEFAULT: Final = "experiments"


class SiteRequest(Struct, frozen=True):
    """The options of `site`."""

    platform: Path
    choice: AlgorithmChoice
    settings: Settings
    pace: float
    listen: str
    data: Path
    callers: CallerOptions


@typed_command(kind=CommandWithParts)
@platform_option
@algorithm_options
@machine_options
@flag("-E energy", "Measure energy, and allow changes of power states.")
@flag("--enable-compute-sharing compute_sharing", "Allow several jobs on one host.")
@option(
    "--pace",
    "N|max",
    "Simulated seconds per second; max: as fast as possible.",
    type=Pace(min=0, min_open=True),
    default=1,
)
@option("--listen", "HOST:PORT", "Address of the API; port 0 selects a free port.", default="127.0.0.1:8080")
@option("--data", "DIR", "Folder for the state of the site, for restarts.", type=FOLDER, default="site-data")
@option(
    "--token-file",
    "FILE",
    "File with the token that callers must send; required if other machines can reach the site.",
    type=PATH,
)
@option("--rate", "N", "Requests per second that each user may send.", type=Number(min=1), default=100.0)
@quota_options
@option(
    "--request-timeout",
    "S",
    "Seconds that the headers, and the body, of a request may take to arrive.",
    type=Seconds(min=0.1),
    default=20.0,
)
def command(request: SiteRequest) -> None:
    """Run a live site: an HTTP API for leases and jobs on a simulated platform whose clock runs.

    Accepted requests are stored in the folder DIR. After a restart, even after kill -9, the site continues with the
    same leases, queue and clock. Without -s, the algorithm is experiments, which also schedules leases.
    """
    front = importlib.import_module("batsched_py.cli.shared.site_front")  # needs an extra
    settings, limits = _settings(request), current_limits()
    platform, content = read_platform(request.platform, limits=limits), read_raw(request.platform, limits)
    warn_all(platform.notes)
    site = partial(SimulatedSite, settings, platform, content, request.settings, warn)
    front.open_doors(request.listen, request.callers, site)


@typed_command()
@click.argument("source", type=PATH, metavar="DIR|RUN.jsonl")
@option("-e --export", "PREFIX", "Write PREFIX_jobs.csv, the algorithm's PREFIX_NAME.csv and others.", required=True)
@algorithm_options
@trust_option
def results(source: Path, export: str, choice: AlgorithmChoice, *, trust_header: bool) -> None:
    """Write the files of a run from the folder DIR of a site, which may be running, or from a recording.

    The recorded requests are answered again, with the same decisions. Jobs that have not ended are in the algorithm's
    own files only. Energy and traces of hosts are not recorded.
    """
    recording = source / TRANSCRIPT if source.is_dir() else source
    paths = result_paths(export, machine_states=False, energy=False, decisions=True)
    transcript = Transcript(recording, Warnings(), limits=current_limits())
    header = transcript.header or Header()
    chosen = recorded_choice(choice, str(recording), header, trusted=trust_header)
    check_choice_apart(chosen, [("DIR|RUN.jsonl", recording)], [("-e", path) for path in paths])
    check_writable(paths)
    inputs = RunInputs(files=(*files_of_choice(chosen), *other_files(recording=recording)))
    with DecisionSpool(export) as spool:
        session = chosen.session(spool.add, features=recorded_features(transcript))
        found = play_recording(transcript, session, str(recording), timed=header.clock != "measured")
        session.end_log()
        result = found.result
        with suppress(BatschedError) if found.failed else nullcontext():
            result = replace(result, tables=session.tables())
        users = users_table(result.jobs)
        if users.rows and all(table.name != users.name for table in result.tables):
            result = replace(result, tables=(*result.tables, users))
        known = {"protocol": session.dialect.name, "clock": header.clock, "requests": header.requests}
        decider = Decider(chosen.algorithm, session.options, session.explicit_options)
        origin = RunOrigin(inputs, decider, known, this_call())
        write_run(export, result, origin, decisions=spool, failure=found.partial)
    end = displayed(found.partial) or "the run has ended"
    say(f"wrote {export}: {counted(len(result.jobs), 'ended job')}; {end}")


@typed_command(limits=False)
@site_options
def close(place: SitePlace) -> None:
    """Close a live site: it takes no more requests, and ends when those that it has taken are done."""
    place.client().post("api", "close", body={})
    say("The site ends when all requests are done.")


@typed_command(limits=False)
@option(
    "--pace",
    "N|max",
    "Change the pace: simulated seconds per second; max: as fast as possible.",
    type=Pace(min=0, min_open=True),
)
@flag("--pause/--resume paused", "Pause or start the clock.", default=None)
@site_options
def clock(place: SitePlace, pace: float | None, *, paused: bool | None) -> None:
    """Show the clock of a live site, after changing it if an option is given."""
    client, change = place.client(), dict[str, Any]()
    if pace is not None:
        change["pace"] = "max" if math.isinf(pace) else pace
    if paused is not None:
        change["paused"] = paused
    found = client.put("api", "clock", body=change) if change else client.get("api", "clock")
    speed = "as fast as possible" if found["pace"] is None else f"{seconds(found['pace'])} simulated seconds per second"
    say(f"{seconds(found['now'])} s, {'paused' if found['paused'] else speed}")


for _part, _name in (
    (results, "results"),
    (clock, "clock"),
    (close, "close"),
    (users, "users"),
    (audit, "audit"),
    (caller, "caller"),
    (notice, "notice"),
):
    cast(click.Group, command).add_command(_part, _name)


def _settings(request: SiteRequest) -> SiteSettings:
    choice = Choice(request.choice.algorithm or DEFAULT, request.choice.options)
    return SiteSettings(
        name=request.platform.name,
        scheduler=load_from_here(choice.algorithm, choice.options),
        choice=choice,
        folder=request.data,
        pace=request.pace,
    )
