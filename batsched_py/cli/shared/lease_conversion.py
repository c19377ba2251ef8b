"""Leases from a log, a workload or a lease workload: written as a workload of leases or a lease trace."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import click
from msgspec.structs import replace

from batsched_py.cli.shared.command import current_limits
from batsched_py.cli.shared.conversion_report import Conversion, counts_reported
from batsched_py.cli.shared.convert_request import (
    ConvertRequest,
    description,
    read_content,
    read_log,
    read_workload,
    refuse_rules,
    written_line,
)
from batsched_py.cli.shared.terminal import say, say_all, warn_all
from batsched_py.files.output_file import make_folder
from batsched_py.model.workload import Workload
from batsched_py.reading.limits import Limits
from batsched_py.text.wording import counted
from batsched_py.traces.cleaning import clean_jobs
from batsched_py.traces.cleaning_report import CleaningReport
from batsched_py.traces.formats import LWF, ReadOptions, WriteOptions
from batsched_py.traces.image_file import read_images
from batsched_py.traces.lease_log import log_requests
from batsched_py.traces.lease_request import LeaseRequest, LeaseSite, LeaseTrace, kinds_of, uniform_site
from batsched_py.traces.lease_workload import lease_workload, site_platform
from batsched_py.traces.platform_writer import write_flat_platform
from batsched_py.traces.swf_log import SwfLog
from batsched_py.traces.workload_leases import workload_requests


class _Requests(NamedTuple):
    """Requests from a file, the hosts in the same file, its content and counts, and lines for the user."""

    requests: tuple[LeaseRequest, ...]
    site: LeaseSite | None
    content: SwfLog | Workload | LeaseTrace
    counts: CleaningReport
    lines: tuple[str, ...] = ()


def convert_leases(request: ConvertRequest) -> Conversion:
    """Create a workload of leases, or a lease trace."""
    options, limits = request.leases_wanted, current_limits()
    site, changes = options.site(), options.changes()
    read = _read_requests(request, limits)
    requests, own_site, lines = read.requests, read.site, read.lines
    site = site or own_site
    if request.platform is not None and site is None:
        raise click.UsageError(f"'--platform' needs '--resources': {request.log} does not say what the hosts have")
    if options.injection is not None:
        injected = _warned(LWF.read(options.injection, ReadOptions(limits, starttime=options.starttime))).requests
        lines = (*lines, f"{counted(len(injected), 'request')} injected")
        requests = (*requests, *injected)
    if options.images is not None:
        images = read_images(options.images, limits=limits)
        left_over = images.left_over(len(requests))
        lines = (*lines, f"{counted(left_over, 'image')} left over") if left_over else lines
        changes = replace(changes, images=images)
    requests = changes.apply(str(request.log), requests)
    _write(request, requests, site)
    say_all((*lines, *kinds_of(requests)))
    if request.platform is not None and site is not None:
        say(written_line(request.platform, site.size))
    say(written_line(request.output, 0 if site is None else site.size))
    return Conversion(read.content, read.counts, [*filter(None, [request.output, request.platform])])


def _read_requests(request: ConvertRequest, limits: Limits) -> _Requests:
    """Read a trace, a log or a workload."""
    log = request.log
    if request.content is SwfLog:
        read, rules = read_log(request, limits)
        with counts_reported(request, read):
            cleaned = clean_jobs(read, dataclasses.replace(rules, leases=True))
        site = uniform_site(cleaned.machine_size) if cleaned.machine_size else None
        return _Requests(log_requests(cleaned.jobs), site, read, cleaned.report, cleaned.report.lines())
    refuse_rules(request)
    if not request.window.whole:
        raise click.UsageError(f"'--from', '--to' and '--skip' cut logs and workloads of jobs; {log} is none")
    if request.content is Workload:
        workload = read_workload(request, limits)
        return _whole(workload_requests(workload), None, workload)
    trace = _warned(read_content(request, limits))
    return _whole(trace.requests, trace.site, trace)


def _whole(requests: Sequence[LeaseRequest], site: LeaseSite | None, content: Workload | LeaseTrace) -> _Requests:
    """Return all requests of a file."""
    return _Requests(tuple(requests), site, content, CleaningReport(len(requests), len(requests)))


def _warned(trace: object) -> LeaseTrace:
    """Return a lease workload, and warn of its parts without effect."""
    assert isinstance(trace, LeaseTrace)  # noqa: S101 - the content of its format
    warn_all(trace.notes)
    return trace


def _write(request: ConvertRequest, requests: Sequence[LeaseRequest], site: LeaseSite | None) -> None:
    log, output, platform = request.log, request.output, request.platform
    if platform is not None and site is not None:
        make_folder(platform)
        write_flat_platform(platform, site_platform(str(log), site, requests))
    make_folder(output)
    content: Workload | LeaseTrace
    if request.written.content is LeaseTrace:
        content = LeaseTrace(str(log), tuple(requests), site, output.stem, description(log))
    else:
        content = lease_workload(str(log), requests, 0 if site is None else site.size)
    request.written.write(output, content, WriteOptions(description(log)))
