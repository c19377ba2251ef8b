"""The reader of Haizea's configurations: what options mean, what is told, and what is refused with which line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path

import pytest

from batsched_py.errors import ConfigurationError
from batsched_py.haizea.config import TraceFiles
from batsched_py.haizea.reader import read_config
from batsched_py.leases.preparation.image_transfer import TransferSettings
from batsched_py.leases.settings import LeaseSettings
from batsched_py.model.lease_terms import NodeSet
from batsched_py.reading.limits import Limits
from batsched_py.traces.lease_request import LeaseSite
from tests.clone import below
from tests.unit.haizea.configurations import config, written

CASES = below("tests/data/haizea", "haizea.conf")
IMAGES = {"general.lease-preparation": "imagetransfer", "deploy-imagetransfer.transfer-mechanism": "multicast"}


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.parent.name)
def test_the_configuration_of_each_recorded_case_is_read_without_a_word(path: Path) -> None:
    """None of them has anything that is only told."""
    read = read_config(path)
    assert read.notes == ()
    assert read.traces is not None
    assert read.traces.trace == path.parent / "leases.lwf"


def test_there_are_all_recorded_cases() -> None:
    """The test above is not empty."""
    assert len(CASES) == 103


def test_absent_options_have_the_defaults_of_the_manual(tmp_path: Path) -> None:
    """Estimates are Haizea's, so that recorded figures hold; all else is as in the settings of the scheduler."""
    read = config(tmp_path)
    assert read.settings == LeaseSettings(estimates="original", never_later=False)
    assert (read.log_level, read.on_failure, read.stop_when) == ("INFO", "cancel", "all-leases-done")
    assert (read.policies.admission, read.policies.preemption, read.policies.hosts) == (
        "accept-all", "no-preemption", "greedy",
    )  # fmt: skip
    assert (read.wakeup_interval, read.non_schedulable_interval, read.status_interval) == (60, 10, None)
    assert (read.transfers, read.accounting.probes, read.accounting.datafile) == (None, (), None)
    assert read.start_time == datetime(2006, 11, 25, 13)
    assert read.traces == TraceFiles(tmp_path / "leases.lwf")


#: Options -> the settings of the scheduler that they change.
SETTINGS: list[tuple[Mapping[str, str], Mapping[str, object]]] = [
    ({"backfilling": "off"}, {"future_leases": 0, "stop_at_first": True}),
    ({"backfilling": "aggressive"}, {"future_leases": 1}),
    ({"backfilling": "conservative"}, {"future_leases": math.inf}),
    ({"backfilling": "intermediate", "backfilling-reservations": "4"}, {"future_leases": 4}),
    ({"suspension": "none"}, {"suspension": "none"}),
    ({"suspension": "serial-only"}, {"suspension": "serial-only"}),
    ({"suspend-rate": "64", "resume-rate": "12.5"}, {"suspend_rate": 64, "resume_rate": 12.5}),
    ({"suspendresume-exclusion": "global"}, {"exclusion": "global"}),
    ({"scheduling-threshold-factor": "0"}, {"threshold_factor": 0}),
    ({"force-scheduling-threshold": "00:01:30"}, {"forced_threshold": 90}),
    ({"threshold-includes-preparation": "TRUE"}, {"threshold_includes_preparation": True}),
    ({"override-suspend-time": "40", "override-resume-time": "0"}, {"override_suspend": 40, "override_resume": 0}),
    ({"migration": "yes-notransfer"}, {"migration": "yes-notransfer"}),
    ({"migration-bandwidth": "50"}, {"migration_bandwidth": 50}),
    ({"shutdown-time": "00:00:10.00"}, {"shutdown_time": 10}),
    ({"ar-shutdown": "after"}, {"shutdown_inside": False}),
    ({"enactment-overhead": "00:00:02.5"}, {"enactment_overhead": 2.5}),
    ({"estimates": "exact"}, {"estimates": "exact"}),
    ({"mapper": "deadline"}, {"estimates": "exact"}),
    ({"mapper": "deadline", "estimates": "original"}, {"estimates": "original"}),
    ({"hold-cpu": "False"}, {"hold_cpu": False}),
    ({"victim-order": "oldest"}, {"victim_order": "oldest"}),
    ({"honour-preemptible": "no"}, {"honour_preemptible": False}),
    ({"unneeded-victims": "stop"}, {"drop_unneeded_victims": False}),
    ({"replan-after-each": "1"}, {"replan_after_each": True}),
    ({"never-later": "True"}, {"never_later": True}),
    ({"deadline-rules": "original"}, {"deadline_rules": "original"}),
]


@pytest.mark.parametrize(("options", "changed"), SETTINGS, ids=" ".join)
def test_an_option_of_scheduling_changes_its_setting(
    tmp_path: Path, options: Mapping[str, str], changed: Mapping[str, object]
) -> None:
    """It changes nothing else."""
    read = config(tmp_path, {f"scheduling.{name}": text for name, text in options.items()})
    expected = LeaseSettings(estimates="original", never_later=False)
    for name, value in changed.items():
        expected = replace(expected, **{name: value})  # type: ignore[arg-type]  # names and values of the table
    assert read.settings == expected


def test_each_setting_of_the_scheduler_can_be_set() -> None:
    """A new setting needs an option, and a row above."""
    assert {name for _, changed in SETTINGS for name in changed} == {field.name for field in fields(LeaseSettings)}


def test_images_are_transferred_as_their_section_says(tmp_path: Path) -> None:
    """Caches count only where they are asked for; -1 is no limit."""
    more = {
        "simulation.imagetransfer-bandwidth": "1000",
        "deploy-imagetransfer.transfer-mechanism": "unicast",
        "deploy-imagetransfer.avoid-redundant-transfers": "False",
        "deploy-imagetransfer.force-imagetransfer-time": "30",
        "deploy-imagetransfer.diskimage-reuse": "image-caches",
        "deploy-imagetransfer.diskimage-cache-size": "-1",
    }
    assert config(tmp_path, IMAGES).transfers == TransferSettings(mechanism="multicast")
    assert config(tmp_path, {**IMAGES, **more}).transfers == TransferSettings(1000, "unicast", False, 30, math.inf)
    assert config(tmp_path, {**IMAGES, "deploy-imagetransfer.diskimage-cache-size": "600"}).transfers == (
        TransferSettings(mechanism="multicast")
    )


def test_paths_are_relative_to_the_folder_of_the_file(tmp_path: Path) -> None:
    """Absolute ones stay."""
    options = {
        "tracefile.imagefile": "images/list",
        "tracefile.injectionfile": "/far/inj.lwf",
        "tracefile.override-memory": "512",
        "tracefile.add-overhead": "besteffort",
        "tracefile.runtime-slowdown-overhead": "10",
        "tracefile.bootshutdown-overhead": "20",
        "accounting.datafile": "../data/run.dat",
    }
    read = config(tmp_path, options)
    assert read.traces == TraceFiles(
        tmp_path / "leases.lwf", tmp_path / "images/list", Path("/far/inj.lwf"), 10, 20, "besteffort", 512
    )
    assert read.accounting.datafile == tmp_path / "../data/run.dat"


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("4 CPU:100 Memory:1024", NodeSet(4, {"CPU": 100, "Memory": 1024})),
        ("4  CPU:100,Memory:1024", NodeSet(4, {"CPU": 100, "Memory": 1024})),
        ("1 Memory:512, CPU:200, Ponies:2", NodeSet(1, {"Memory": 512, "CPU": 200, "Ponies": 2})),
    ],
)
def test_resources_are_a_number_of_hosts_and_what_each_has(tmp_path: Path, text: str, hosts: NodeSet) -> None:
    """With blanks or commas between."""
    assert config(tmp_path, {"simulation.resources": text}).site == LeaseSite(tuple(hosts.resources), (hosts,))


def test_the_site_may_be_that_of_the_trace(tmp_path: Path) -> None:
    """Nobody has read it yet."""
    assert config(tmp_path, {"simulation.resources": "in-tracefile"}).site is None


@pytest.mark.parametrize(
    ("key", "text", "name"),
    [
        ("preemption", "haizea.pluggable.policies.preemption.ARPreemptsEverythingPolicy", "ar-preempts-everything"),
        ("preemption", "ar-preempts-be", "ar-preempts-everything"),
        ("admission", "haizea.policies.admission.NoARsPolicy", "no-ARs"),
        ("admission", "own_policies.NoticeOneHour", "own_policies.NoticeOneHour"),
        ("hosts", "mine/selection.py:LowestFirst", "mine/selection.py:LowestFirst"),
    ],
)
def test_a_policy_is_named_in_any_of_its_spellings(tmp_path: Path, key: str, text: str, name: str) -> None:
    """A class of the user's keeps its name."""
    option = {"hosts": "host-selection"}.get(key, key)
    assert getattr(config(tmp_path, {f"scheduling.policy-{option}": text}).policies, key) == name


def test_older_spellings_set_the_options_of_today(tmp_path: Path) -> None:
    """As the manual itself uses them."""
    older = {
        "simulation.suspendresume-rate": "64",
        "simulation.wakeup-interval": "10",
        "general.lease-deployment": "imagetransfer",
        "deploy-imagetransfer.transfer-mechanism": "unicast",
        "scheduling.suspend-rate": None,
        "scheduling.resume-rate": None,
    }
    read = config(tmp_path, older)
    assert (read.settings.suspend_rate, read.settings.resume_rate, read.wakeup_interval) == (64, 64, 10)
    assert read.transfers is not None
    assert read.notes == ()


def test_what_has_no_counterpart_is_told(tmp_path: Path) -> None:
    """Once each, in the order of the manual."""
    options = {
        "opennebula.host": "localhost",
        "general.logfile": "/var/log/haizea.log",
        "general.persistence-file": "~/.haizea/leases.dat",
        "scheduling.resume-rate": None,
    }
    assert config(tmp_path, options).notes == (
        "general.logfile: the log is written to standard output",
        "general.persistence-file: leases are kept in memory only",
        "opennebula.host: OpenNebula is not supported",
        "scheduling.resume-rate: not given, 32 MB/s is assumed",
    )


def test_with_the_real_clock_the_trace_is_not_read_and_that_is_told(tmp_path: Path) -> None:
    """The clock of the manual's default; a start time is of no use to it."""
    read = config(tmp_path, {"simulation.clock": None, "simulation.starttime": None})
    assert (read.clock, read.traces, read.start_time) == ("real", None, None)
    assert read.notes == ("tracefile.tracefile: not read, because simulation.clock is real; requests come from users",)


def test_accounting_is_read(tmp_path: Path) -> None:
    """Attributes as the tools for several configurations write them."""
    options = {
        "probes": "ar  best-effort mine.Probe ar",
        "attributes": "profile=a+b, tracefile=x.lwf",
        "stats": "original",
    }
    read = config(tmp_path, {f"accounting.{name}": text for name, text in options.items()}).accounting
    assert read.probes == ("ar", "best-effort", "mine.Probe")
    assert read.attributes == (("profile", "a+b"), ("tracefile", "x.lwf"))
    assert read.stats == "original"


#: Options, and the end of the line that refuses them.
WRONG: list[tuple[Mapping[str, str | None], str]] = [
    ({"general.mode": None, "general.loglevel": "INFO"}, "general.mode: is required"),
    ({"general.mode": None}, "[general]: is required"),
    ({"tracefile.tracefile": None}, "[tracefile]: is required when simulation.clock is simulated"),
    ({"simulation.starttime": None}, "simulation.starttime: is required when simulation.clock is simulated"),
    ({"scheduling.suspension": None}, "scheduling.suspension: is required"),
    ({"simulation.resources": None}, "simulation.resources: is required"),
    ({"simulation.imagetransfer-bandwidth": None}, "simulation.imagetransfer-bandwidth: is required"),
    (
        {"general.lease-preparation": "imagetransfer"},
        "[deploy-imagetransfer]: is required when general.lease-preparation is imagetransfer",
    ),
    (
        {**IMAGES, "deploy-imagetransfer.diskimage-reuse": "image-caches"},
        "diskimage-cache-size: is required when deploy-imagetransfer.diskimage-reuse is image-caches",
    ),
    (
        {"scheduling.backfilling": "intermediate"},
        "scheduling.backfilling-reservations: is required when scheduling.backfilling is intermediate",
    ),
    ({"general.mode": "opennebula"}, "general.mode: must be simulated: OpenNebula is not supported"),
    ({"general.loglevel": "info"}, "general.loglevel: must be STATUS, INFO, DEBUG or VDEBUG, not 'info'"),
    (
        {"scheduling.backfilling": "agressive"},
        "scheduling.backfilling: must be off, aggressive, conservative or intermediate, not 'agressive';"
        " did you mean aggressive?",
    ),
    ({"scheduling.suspention": "all"}, "scheduling.suspention: unknown option; did you mean suspension?"),
    ({"general.suspension": "all"}, "general.suspension: unknown option; did you mean scheduling.suspension?"),
    ({"simulation.nodes": "4"}, "simulation.nodes: unknown option; "),
    ({"schedulling.suspension": "all"}, "[schedulling]: unknown section; did you mean scheduling?"),
    ({"simulation.suspendresume-rate": "5"}, "scheduling.suspend-rate, which is also given"),
    ({"scheduling.suspend-rate": "0"}, "scheduling.suspend-rate: must be a number from 1e-06 to 1e+12, not '0'"),
    ({"scheduling.suspend-rate": "nan"}, "not 'nan'"),
    ({"scheduling.suspend-rate": ""}, "scheduling.suspend-rate: must not be empty"),
    ({"scheduling.shutdown-time": "-5"}, "scheduling.shutdown-time: must be HH:MM:SS or whole seconds, not '-5'"),
    ({"scheduling.shutdown-time": "1:99:00"}, "scheduling.shutdown-time: must be [DD:]HH:MM:SS[.ss], not '1:99:00'"),
    ({"scheduling.shutdown-time": "99999999999"}, "must be at most 60000000000 s"),
    (
        {"scheduling.backfilling": "intermediate", "scheduling.backfilling-reservations": "two"},
        "scheduling.backfilling-reservations: must be a whole number from 1 to 1000000, not 'two'",
    ),
    ({"scheduling.hold-cpu": "maybe"}, "scheduling.hold-cpu: must be True or False, not 'maybe'"),
    ({"scheduling.migration": "True"}, "scheduling.migration: must be no, yes or yes-notransfer, not 'True'"),
    (
        {"scheduling.policy-preemption": "ar-preempts-everyting"},
        "package.module.Class or file.py:Class, not 'ar-preempts-everyting'; did you mean ar-preempts-everything?",
    ),
    ({"scheduling.policy-admission": "haizea.policies.admission.No"}, "not 'haizea.policies.admission.No'"),
    ({"simulation.starttime": "2006-11-25"}, "simulation.starttime: must be a date and a time like"),
    ({"simulation.starttime": "2006-02-30 13:00:00"}, "simulation.starttime: must be a date and a time like"),
    ({"simulation.starttime": "9999-01-01 00:00:00"}, "before the year 8000"),
    ({"simulation.resources": "CPU:100 Memory:1024"}, "simulation.resources: must begin with a number of hosts"),
    ({"simulation.resources": "4 CPU:100"}, "simulation.resources: must have Memory"),
    ({"simulation.resources": "4 CPU:0 Memory:1024"}, "simulation.resources: CPU must be a number above 0"),
    ({"simulation.resources": "4 CPU:100 CPU:100 Memory:1"}, "simulation.resources: has CPU twice"),
    ({"simulation.resources": "in-tracefile", "simulation.clock": "real"}, "needs simulation.clock: simulated"),
    ({"simulation.stop-when": "never"}, "simulation.stop-when: must be all-leases-done"),
    ({"simulation.status-message-interval": "0"}, "simulation.status-message-interval: must be a whole number from 1"),
    ({"tracefile.tracefile": "leases.txt"}, "tracefile.tracefile: must end in .lwf, .xml or .swf"),
    ({"tracefile.override-memory": "-2"}, "tracefile.override-memory: must be a whole number from 1 to 1000000000000,"),
    ({"accounting.attributes": "profile"}, "accounting.attributes: must be name=value, separated by commas"),
    ({"accounting.attributes": "a=1,a=2"}, "accounting.attributes: must name each attribute once"),
    ({"accounting.datafile": "a\tb"}, "accounting.datafile: must be one line without control characters"),
]


@pytest.mark.parametrize(("options", "line"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_a_wrong_option_is_one_line_that_names_file_option_and_rule(
    tmp_path: Path, options: Mapping[str, str | None], line: str
) -> None:
    """The first of several is named."""
    path = written(tmp_path, options)
    with pytest.raises(ConfigurationError) as caught:
        read_config(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_site_has_no_more_hosts_than_may_be_read(tmp_path: Path) -> None:
    """The limit is the reader's."""
    with pytest.raises(ConfigurationError, match="from 1 to 3"):
        read_config(written(tmp_path, {}), Limits(hosts=3))


def test_options_of_haizea_1_1_and_of_what_was_made_of_haizea_are_ignored(tmp_path: Path) -> None:
    """With a sentence each; they are not in the table of options."""
    given = {"simulation.sanity-check": "true", "scheduling.policy-matchmaking": "greedy"}
    ignored = [line for line in read_config(written(tmp_path, given)).notes if "is ignored: " in line]
    assert [line.partition(":")[0] for line in ignored] == ["scheduling.policy-matchmaking", "simulation.sanity-check"]


def test_a_configuration_for_several_runs_says_how_it_is_run(tmp_path: Path) -> None:
    """Whichever of its sections comes first."""
    for text in ("[multi]\ntracedir: t\n", "[common:general]\nmode: simulated\n[multi]\ntracedir: t\n"):
        path = tmp_path / "multi.conf"
        path.write_text(text)
        with pytest.raises(ConfigurationError, match="several runs: batsched-py haizea multi -c FILE -d DIR"):
            read_config(path)
    path.write_text("[common:general]\nmode: simulated\n")
    with pytest.raises(ConfigurationError, match="unknown section"):
        read_config(path)
