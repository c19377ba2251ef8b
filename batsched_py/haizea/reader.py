"""Reader of Haizea's configuration files (H64, H68 to H75, H96 to H99)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

from batsched_py.haizea.config import AccountingSettings, HaizeaConfig, PolicyNames, TraceFiles
from batsched_py.haizea.config_options import ConfigOptions, Refuse, in_file
from batsched_py.haizea.ini import Sections, read_sections
from batsched_py.leases.preparation.image_transfer import TransferSettings
from batsched_py.leases.settings import LeaseSettings
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.traces.lease_request import LeaseSite, read_site

#: The value of `resources` for the site of the trace.
IN_TRACEFILE: Final = "in-tracefile"


def read_config(path: Path, limits: Limits = LIMITS) -> HaizeaConfig:
    """Read a configuration. ConfigurationError names the file, `section.option` and the rule.

    Paths in it are relative to its folder. `notes` lists options without a counterpart.
    """
    return make_config(path, read_sections(path, limits), in_file(str(path)), limits)


def make_config(path: Path, sections: Sections, refuse: Refuse, limits: Limits = LIMITS) -> HaizeaConfig:
    """Create the configuration from the sections of a real or generated file. ConfigurationError."""
    options = ConfigOptions(sections, refuse)
    simulated = options["simulation.clock"] == "simulated"
    minutes = options["simulation.status-message-interval"]
    return HaizeaConfig(
        file=path,
        log_level=options["general.loglevel"],
        on_failure=options["general.lease-failure-handling"],
        clock=options["simulation.clock"],
        start_time=options["simulation.starttime"] if simulated else None,
        site=_site(options, limits),
        settings=_settings(options),
        policies=PolicyNames(
            admission=options["scheduling.policy-admission"],
            preemption=options["scheduling.policy-preemption"],
            hosts=options["scheduling.policy-host-selection"],
            mapper=options["scheduling.mapper"],
        ),
        transfers=_transfers(options) if options["general.lease-preparation"] == "imagetransfer" else None,
        traces=_traces(options, path.parent) if simulated else None,
        stop_when=options["simulation.stop-when"],
        status_interval=None if minutes is None else 60.0 * minutes,
        wakeup_interval=options["scheduling.wakeup-interval"],
        non_schedulable_interval=options["scheduling.non-schedulable-interval"],
        accounting=AccountingSettings(
            datafile=_path(options["accounting.datafile"], path.parent),
            probes=options["accounting.probes"] or (),
            attributes=options["accounting.attributes"] or (),
            stats=options["accounting.stats"],
        ),
        notes=tuple(_warnings(options, simulated)),
    )


def _warnings(options: ConfigOptions, simulated: bool) -> list[str]:
    warnings = options.warnings()
    absent = [name for name in ("suspend-rate", "resume-rate") if not options.has(f"scheduling.{name}")]
    if absent and options["scheduling.suspension"] != "none":
        warnings.append(
            f"scheduling.{' and '.join(absent)}: not given, {options['scheduling.suspend-rate']:g} MB/s is assumed"
        )
    if not simulated and options.has("scheduling.non-schedulable-interval"):
        warnings.append(
            "scheduling.non-schedulable-interval: a lease of a live site may start as soon as it is requested"
        )
    if not simulated and options.has("tracefile.tracefile"):
        warnings.append("tracefile.tracefile: not read, because simulation.clock is real; requests come from users")
    return warnings


def _site(options: ConfigOptions, limits: Limits) -> LeaseSite | None:
    text = options["simulation.resources"]
    if text == IN_TRACEFILE:
        if options["simulation.clock"] == "real":
            raise options.error("simulation.resources", f"{IN_TRACEFILE} needs simulation.clock: simulated")
        return None
    try:
        return read_site(text, limits.hosts)
    except ValueError as error:
        raise options.error("simulation.resources", str(error)) from error


def _settings(options: ConfigOptions) -> LeaseSettings:
    backfilling = options["scheduling.backfilling"]
    ahead = {"off": 0, "aggressive": 1, "conservative": math.inf}
    return LeaseSettings(
        future_leases=ahead.get(backfilling, options["scheduling.backfilling-reservations"]),
        stop_at_first=backfilling == "off",
        suspension=options["scheduling.suspension"],
        suspend_rate=options["scheduling.suspend-rate"],
        resume_rate=options["scheduling.resume-rate"],
        override_suspend=options["scheduling.override-suspend-time"],
        override_resume=options["scheduling.override-resume-time"],
        exclusion=options["scheduling.suspendresume-exclusion"],
        threshold_factor=options["scheduling.scheduling-threshold-factor"],
        forced_threshold=options["scheduling.force-scheduling-threshold"],
        threshold_includes_preparation=options["scheduling.threshold-includes-preparation"],
        migration=options["scheduling.migration"],
        migration_bandwidth=options["scheduling.migration-bandwidth"],
        shutdown_time=options["scheduling.shutdown-time"],
        shutdown_inside=options["scheduling.ar-shutdown"] == "inside",
        enactment_overhead=options["scheduling.enactment-overhead"],
        estimates=_estimates(options),
        hold_cpu=options["scheduling.hold-cpu"],
        victim_order=options["scheduling.victim-order"],
        honour_preemptible=options["scheduling.honour-preemptible"],
        drop_unneeded_victims=options["scheduling.unneeded-victims"] == "spare",
        replan_after_each=options["scheduling.replan-after-each"],
        never_later=options["scheduling.never-later"],
        deadline_rules=options["scheduling.deadline-rules"],
    )


def _estimates(options: ConfigOptions) -> Any:
    """Return the file's value; else the behaviour of the version of Haizea that it is for: 1.1 has deadlines."""
    newer = options["scheduling.mapper"] == "deadline" and not options.has("scheduling.estimates")
    return "exact" if newer else options["scheduling.estimates"]


def _transfers(options: ConfigOptions) -> TransferSettings:
    caches = options["deploy-imagetransfer.diskimage-reuse"] == "image-caches"
    return TransferSettings(
        bandwidth=options["simulation.imagetransfer-bandwidth"],
        mechanism=options["deploy-imagetransfer.transfer-mechanism"],
        share=options["deploy-imagetransfer.avoid-redundant-transfers"],
        forced_time=options["deploy-imagetransfer.force-imagetransfer-time"],
        cache=options["deploy-imagetransfer.diskimage-cache-size"] if caches else None,
    )


def _traces(options: ConfigOptions, folder: Path) -> TraceFiles:
    trace, memory = _path(options["tracefile.tracefile"], folder), options["tracefile.override-memory"]
    assert trace is not None  # noqa: S101  # it is required
    return TraceFiles(
        trace=trace,
        images=_path(options["tracefile.imagefile"], folder),
        injection=_path(options["tracefile.injectionfile"], folder),
        slowdown=options["tracefile.runtime-slowdown-overhead"],
        boot=options["tracefile.bootshutdown-overhead"],
        overhead=options["tracefile.add-overhead"],
        memory=None if memory == math.inf else memory,
    )


def _path(text: Any, folder: Path) -> Path | None:
    return None if text is None else folder / Path(text).expanduser()
