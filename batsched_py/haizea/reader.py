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
    given = ConfigOptions(sections, refuse)
    simulated = given["simulation.clock"] == "simulated"
    minutes = given["simulation.status-message-interval"]
    return HaizeaConfig(
        file=path,
        log_level=given["general.loglevel"],
        on_failure=given["general.lease-failure-handling"],
        clock=given["simulation.clock"],
        start_time=given["simulation.starttime"] if simulated else None,
        site=_site(given, limits),
        settings=_settings(given),
        policies=PolicyNames(
            admission=given["scheduling.policy-admission"],
            preemption=given["scheduling.policy-preemption"],
            hosts=given["scheduling.policy-host-selection"],
            mapper=given["scheduling.mapper"],
        ),
        transfers=_transfers(given) if given["general.lease-preparation"] == "imagetransfer" else None,
        traces=_traces(given, path.parent) if simulated else None,
        stop_when=given["simulation.stop-when"],
        status_interval=None if minutes is None else 60.0 * minutes,
        wakeup_interval=given["scheduling.wakeup-interval"],
        non_schedulable_interval=given["scheduling.non-schedulable-interval"],
        accounting=AccountingSettings(
            datafile=_path(given["accounting.datafile"], path.parent),
            probes=given["accounting.probes"] or (),
            attributes=given["accounting.attributes"] or (),
            stats=given["accounting.stats"],
        ),
        notes=tuple(_warnings(given, simulated)),
    )


def _warnings(given: ConfigOptions, simulated: bool) -> list[str]:
    warnings = given.warnings()
    absent = [name for name in ("suspend-rate", "resume-rate") if not given.given(f"scheduling.{name}")]
    if absent and given["scheduling.suspension"] != "none":
        warnings.append(
            f"scheduling.{' and '.join(absent)}: not given, {given['scheduling.suspend-rate']:g} MB/s is assumed"
        )
    if not simulated and given.given("scheduling.non-schedulable-interval"):
        warnings.append(
            "scheduling.non-schedulable-interval: a lease of a live site may start as soon as it is requested"
        )
    if not simulated and given.given("tracefile.tracefile"):
        warnings.append("tracefile.tracefile: not read, because simulation.clock is real; requests come from users")
    return warnings


def _site(given: ConfigOptions, limits: Limits) -> LeaseSite | None:
    text = given["simulation.resources"]
    if text == IN_TRACEFILE:
        if given["simulation.clock"] == "real":
            raise given.error("simulation.resources", f"{IN_TRACEFILE} needs simulation.clock: simulated")
        return None
    try:
        return read_site(text, limits.hosts)
    except ValueError as error:
        raise given.error("simulation.resources", str(error)) from error


def _settings(given: ConfigOptions) -> LeaseSettings:
    backfilling = given["scheduling.backfilling"]
    ahead = {"off": 0, "aggressive": 1, "conservative": math.inf}
    return LeaseSettings(
        future_leases=ahead.get(backfilling, given["scheduling.backfilling-reservations"]),
        stop_at_first=backfilling == "off",
        suspension=given["scheduling.suspension"],
        suspend_rate=given["scheduling.suspend-rate"],
        resume_rate=given["scheduling.resume-rate"],
        override_suspend=given["scheduling.override-suspend-time"],
        override_resume=given["scheduling.override-resume-time"],
        exclusion=given["scheduling.suspendresume-exclusion"],
        threshold_factor=given["scheduling.scheduling-threshold-factor"],
        forced_threshold=given["scheduling.force-scheduling-threshold"],
        threshold_includes_preparation=given["scheduling.threshold-includes-preparation"],
        migration=given["scheduling.migration"],
        migration_bandwidth=given["scheduling.migration-bandwidth"],
        shutdown_time=given["scheduling.shutdown-time"],
        shutdown_inside=given["scheduling.ar-shutdown"] == "inside",
        enactment_overhead=given["scheduling.enactment-overhead"],
        estimates=_estimates(given),
        hold_cpu=given["scheduling.hold-cpu"],
        victim_order=given["scheduling.victim-order"],
        honour_preemptible=given["scheduling.honour-preemptible"],
        drop_unneeded_victims=given["scheduling.unneeded-victims"] == "spare",
        replan_after_each=given["scheduling.replan-after-each"],
        never_later=given["scheduling.never-later"],
        deadline_rules=given["scheduling.deadline-rules"],
    )


def _estimates(given: ConfigOptions) -> Any:
    """Return the file's value; else the behaviour of the version of Haizea that it is for: 1.1 has deadlines."""
    newer = given["scheduling.mapper"] == "deadline" and not given.given("scheduling.estimates")
    return "exact" if newer else given["scheduling.estimates"]


def _transfers(given: ConfigOptions) -> TransferSettings:
    caches = given["deploy-imagetransfer.diskimage-reuse"] == "image-caches"
    return TransferSettings(
        bandwidth=given["simulation.imagetransfer-bandwidth"],
        mechanism=given["deploy-imagetransfer.transfer-mechanism"],
        share=given["deploy-imagetransfer.avoid-redundant-transfers"],
        forced_time=given["deploy-imagetransfer.force-imagetransfer-time"],
        cache=given["deploy-imagetransfer.diskimage-cache-size"] if caches else None,
    )


def _traces(given: ConfigOptions, folder: Path) -> TraceFiles:
    trace, memory = _path(given["tracefile.tracefile"], folder), given["tracefile.override-memory"]
    assert trace is not None  # noqa: S101  # it is required
    return TraceFiles(
        trace=trace,
        images=_path(given["tracefile.imagefile"], folder),
        injection=_path(given["tracefile.injectionfile"], folder),
        slowdown=given["tracefile.runtime-slowdown-overhead"],
        boot=given["tracefile.bootshutdown-overhead"],
        overhead=given["tracefile.add-overhead"],
        memory=None if memory == math.inf else memory,
    )


def _path(text: Any, folder: Path) -> Path | None:
    return None if text is None else folder / Path(text).expanduser()
