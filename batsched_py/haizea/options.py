"""Options of Haizea's configuration files: the table for reader, samples and documentation (H68 to H74).

Names, types and defaults are those of B. Sotomayor, "The Haizea manual", 2009, appendix B. Options that only
batsched-py has, for behaviour that is fixed in Haizea, are included and marked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from batsched_py.haizea.values import (
    ATTRIBUTES,
    DURATION,
    FLAG,
    PATH,
    RESOURCES,
    TEXT,
    TIMESTAMP,
    TRACE,
    WORDS,
    ValueType,
    choice,
    named_class,
    number,
    whole,
)
from batsched_py.leases.policies.catalogue import ADMISSION, HOSTS, PREEMPTION


class When(NamedTuple):
    """A condition under which an option or section is required: an option has this value; always, if none is named."""

    option: str = ""
    value: str = ""

    def __str__(self) -> str:
        return f"{self.option} is {self.value}" if self.option else "always"


ALWAYS: Final = When()
_SIMULATED: Final = When("simulation.clock", "simulated")
_IMAGES: Final = When("general.lease-preparation", "imagetransfer")

#: Section -> when it is required. An absent [accounting] is an empty one, although the manual asks for it.
SECTIONS: Final[dict[str, When | None]] = {
    "general": ALWAYS,
    "scheduling": ALWAYS,
    "simulation": ALWAYS,
    "accounting": None,
    "deploy-imagetransfer": _IMAGES,
    "tracefile": _SIMULATED,
    "opennebula": None,
}


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    Attributes:
        section, name: its section and its name.
        type: of its values.
        help: its meaning, for samples and documentation.
        default: default text; None if there is none.
        required: when it must be given; None if never.
        sample: its text in samples; "" for its default, or none.
        warning: warning for an option without a counterpart; "" for one that is obeyed.
        extension: True for an option that Haizea does not have.
    """

    section: str
    name: str
    type: ValueType
    help: str
    default: str | None = None
    required: When | None = None
    sample: str = ""
    warning: str = ""
    extension: bool = False

    @property
    def key(self) -> str:
        """Its name in messages."""
        return f"{self.section}.{self.name}"


#: Bounds of rates in MB/s, Mb/s.
_RATE: Final = number(1e-6, 1e12)
_NO_OPENNEBULA: Final = "must be simulated: OpenNebula is not supported"
_UNSUPPORTED: Final = "OpenNebula is not supported"

_GENERAL: Final = (
    Option(
        "general", "loglevel", choice("STATUS", "INFO", "DEBUG", "VDEBUG"),
        "STATUS: the clock and the summary; INFO: also events of each lease; DEBUG, VDEBUG: more.",
        default="INFO",
    ),
    Option(
        "general", "logfile", PATH, "The log file.",
        default="/var/tmp/haizea.log",  # noqa: S108  # the manual's, in words
        warning="the log is written to standard output",
    ),
    Option(
        "general", "mode", choice("simulated", refused={"opennebula": _NO_OPENNEBULA}),
        "OpenNebula is not supported.",
        required=ALWAYS, sample="simulated",
    ),
    Option(
        "general", "lease-preparation", choice("unmanaged", "imagetransfer"),
        "Preparation of a lease: none, or a transfer of its disk image.", default="unmanaged",
    ),
    Option(
        "general", "lease-failure-handling", choice("cancel", "exit", "exit-raise"),
        "Effect of a failed lease: it is cancelled, or the run ends, without or with a traceback.",
        default="cancel",
    ),
    Option(
        "general", "persistence-file", PATH, "The file in which leases are kept between runs, or none.",
        default="none", sample="none", warning="leases are kept in memory only",
    ),
)  # fmt: skip

_SCHEDULING: Final = (
    Option(
        "scheduling", "mapper", choice("greedy", "deadline"),
        "How nodes are mapped to hosts: deadline is the method of Haizea 1.1 for deadline leases.", default="greedy",
    ),
    Option(
        "scheduling", "policy-admission", named_class(ADMISSION.spellings),
        "Which leases may be scheduled; no-ARs rejects advance reservations.", default="accept-all",
    ),
    Option(
        "scheduling", "policy-preemption", named_class(PREEMPTION.spellings),
        "Which leases are suspended for others: none, best-effort for advance reservations, or as in Haizea 1.1 for"
        " deadlines.",
        default="no-preemption", sample="ar-preempts-everything",
    ),
    Option(
        "scheduling", "policy-host-selection", named_class(HOSTS.spellings),
        "Which hosts are used first: those with few leases and no upcoming ones, or the lowest numbers.",
        default="greedy",
    ),
    Option(
        "scheduling", "wakeup-interval", DURATION, "Real clock: maximum time between calls of the scheduler.",
        default="60",
    ),
    Option(
        "scheduling", "non-schedulable-interval", DURATION,
        "Haizea's real clock: minimum time between a request and its start; none at a live site.",
        default="10",
    ),
    Option(
        "scheduling", "backfilling", choice("off", "aggressive", "conservative", "intermediate"),
        "How many best-effort leases may have a planned start: none, one, all, or some.",
        default="aggressive", sample="aggressive",
    ),
    Option(
        "scheduling", "backfilling-reservations", whole(1, 1_000_000),
        "The number of planned starts with intermediate.",
        required=When("scheduling.backfilling", "intermediate"),
    ),
    Option(
        "scheduling", "suspension", choice("none", "serial-only", "all"),
        "Which leases may be suspended: none, those of one node, all.", required=ALWAYS, sample="all",
    ),
    Option("scheduling", "suspend-rate", _RATE, "Rate of saving memory in MB/s.", default="32", sample="32"),
    Option(
        "scheduling", "resume-rate", _RATE, "Rate of loading memory in MB/s.", default="32", sample="32"
    ),
    Option(
        "scheduling", "suspendresume-exclusion", choice("local", "global"),
        "Which suspensions and resumptions of a lease are sequential: those on one host, or all.",
        default="local",
    ),
    Option(
        "scheduling", "scheduling-threshold-factor", number(0, 1_000_000),
        "Minimum run time of a lease that will be suspended, as a multiple of its overheads.", default="1",
    ),
    Option(
        "scheduling", "force-scheduling-threshold", DURATION,
        "The same, as a duration.",
    ),
    Option(
        "scheduling", "threshold-includes-preparation", FLAG,
        "Whether these overheads include the image transfer, as in Haizea's manual.",
        default="False", extension=True,
    ),
    Option(
        "scheduling", "override-suspend-time", DURATION, "Duration of a suspension, regardless of the memory.",
    ),
    Option(
        "scheduling", "override-resume-time", DURATION, "Duration of a resumption, regardless of the memory.",
    ),
    Option(
        "scheduling", "estimates", choice("original", "exact"),
        "Estimate of the time of a suspension before the hosts are known: Haizea's formula, which grows with the square"
        " of the nodes; or the exact time, the default with the deadline mapper, as in Haizea 1.1.",
        default="original", extension=True,
    ),
    Option(
        "scheduling", "victim-order", choice("youngest", "oldest"),
        "Which lease is suspended first: the one with the highest score of the policy, as in the manual; or with the"
        " lowest, as in Haizea.",
        default="youngest", extension=True,
    ),
    Option(
        "scheduling", "honour-preemptible", FLAG,
        "Whether leases that are not preemptible are never suspended, nor for existing reservations; Haizea ignores"
        " this.",
        default="True", extension=True,
    ),
    Option(
        "scheduling", "unneeded-victims", choice("spare", "stop"),
        "Whether leases whose hosts turn out not to be needed continue, or are suspended as in Haizea.",
        default="spare", extension=True,
    ),
    Option(
        "scheduling", "hold-cpu", FLAG,
        "Whether machines occupy CPUs during suspension and resumption; in Haizea 1.0 they do not.",
        default="True", extension=True,
    ),
    Option(
        "scheduling", "replan-after-each", FLAG,
        "Whether leases are planned again after each of several early ends at one instant, as in Haizea.",
        default="False", extension=True,
    ),
    Option(
        "scheduling", "never-later", FLAG,
        "Whether a best-effort lease keeps its planned start if a new plan would be later, as it may be in Haizea.",
        default="False", extension=True,
    ),
    Option(
        "scheduling", "deadline-rules", choice("feasible", "original"),
        "When a deadline lease is rejected: after a second attempt with the earliest deadline first, or as in Haizea"
        " 1.1; and whether all leases that could start earlier are moved when another ends early.",
        default="feasible", extension=True,
    ),
    Option(
        "scheduling", "migration", choice("no", "yes", "yes-notransfer"),
        "Whether a suspended lease may resume on other hosts: no, after a transfer of its files, or without one.",
        default="no", sample="no",
    ),
    Option(
        "scheduling", "migration-bandwidth", _RATE, "Bandwidth between hosts in Mb/s; always 100 in Haizea 1.0.",
        default="100", extension=True,
    ),
    Option("scheduling", "shutdown-time", DURATION, "Time to shut down a machine.", default="0"),
    Option(
        "scheduling", "ar-shutdown", choice("inside", "after"),
        "When an advance reservation shuts down: within its interval, as in Haizea 1.0, or after it, as in 1.1.",
        default="inside", extension=True,
    ),
    Option(
        "scheduling", "enactment-overhead", DURATION, "Time of each command to a machine.", default="0",
    ),
)  # fmt: skip

_SIMULATION: Final = (
    Option(
        "simulation", "clock", choice("real", "simulated"),
        "Simulated time with requests from a file, or real time at a live site.",
        default="real", sample="simulated",
    ),
    Option(
        "simulation", "starttime", TIMESTAMP, "Start of the simulated clock.", required=_SIMULATED,
        sample="2006-11-25 13:00:00",
    ),
    Option(
        "simulation", "resources", RESOURCES, "The hosts and their resources, or those of the tracefile.",
        required=ALWAYS, sample="4 CPU:100 Memory:1024",
    ),
    Option(
        "simulation", "imagetransfer-bandwidth", _RATE, "Bandwidth of the image repository in Mb/s.", required=ALWAYS,
        sample="100",
    ),
    Option(
        "simulation", "stop-when", choice("all-leases-done", "besteffort-submitted", "besteffort-done"),
        "End of the simulation: all leases are done, or all best-effort leases are submitted or done.",
        default="all-leases-done",
    ),
    Option(
        "simulation", "status-message-interval", whole(1, 1_000_000),
        "Simulated minutes between summaries.",
    ),
)  # fmt: skip

_ACCOUNTING: Final = (
    Option("accounting", "datafile", PATH, "The file for accounting data, in JSON."),
    Option(
        "accounting", "probes", WORDS,
        "Probes: ar, best-effort, immediate, deadline, cpu-utilization, disk-usage, and your own classes.",
        sample="ar best-effort immediate cpu-utilization",
    ),
    Option(
        "accounting", "attributes", ATTRIBUTES,
        "Attributes that identify the data of this run.",
    ),
    Option(
        "accounting", "stats", choice("corrected", "original"),
        "Values for which Haizea has errors: as in the manual, or as in Haizea.",
        default="corrected", extension=True,
    ),
)  # fmt: skip

_IMAGE_TRANSFER: Final = (
    Option(
        "deploy-imagetransfer", "transfer-mechanism", choice("unicast", "multicast"),
        "Whether an image is sent to one node after the other, or to all at once.", required=_IMAGES,
        sample="multicast",
    ),
    Option(
        "deploy-imagetransfer", "avoid-redundant-transfers", FLAG,
        "Whether a lease shares a transfer of another that has not started.", default="True",
    ),
    Option(
        "deploy-imagetransfer", "force-imagetransfer-time", DURATION, "Duration of a transfer, regardless of the size."
    ),
    Option(
        "deploy-imagetransfer", "diskimage-reuse", choice("none", "image-caches"),
        "Whether hosts keep transferred images.", default="none",
    ),
    Option(
        "deploy-imagetransfer", "diskimage-cache-size", whole(0, 10**12, unlimited=True),
        "Maximum size of images kept on a host, in MB; -1 for no limit.",
        required=When("deploy-imagetransfer.diskimage-reuse", "image-caches"),
    ),
)  # fmt: skip

_TRACEFILE: Final = (
    Option(
        "tracefile", "tracefile", TRACE, "The requests: a lease workload (.lwf, .xml) or a log (.swf).",
        required=_SIMULATED, sample="sample.lwf",
    ),
    Option("tracefile", "imagefile", PATH, "Images for the requests, instead of those in the requests."),
    Option("tracefile", "injectionfile", TRACE, "Additional requests."),
    Option(
        "tracefile", "runtime-slowdown-overhead", number(0, 1_000_000), "Percentage added to durations.",
        default="0",
    ),
    Option(
        "tracefile", "add-overhead", choice("none", "all", "besteffort"), "The leases whose durations are extended.",
        default="none",
    ),
    Option(
        "tracefile", "bootshutdown-overhead", DURATION, "Time added to them for booting and shutting down.",
        default="0",
    ),
    Option(
        "tracefile", "override-memory", whole(1, 10**12, unlimited=True),
        "Memory of each node in MB; -1 for the requested memory.", default="-1",
    ),
)  # fmt: skip

_OPENNEBULA: Final = (
    Option("opennebula", "host", TEXT, "The machine of OpenNebula.", warning=_UNSUPPORTED),
    Option("opennebula", "port", whole(1, 65535), "The port of OpenNebula.", default="2633", warning=_UNSUPPORTED),
    Option(
        "opennebula", "stop-when-no-more-leases", FLAG, "Whether to stop when all leases are done.",
        default="False", warning=_UNSUPPORTED,
    ),
    Option(
        "opennebula", "dry-run", FLAG, "Whether to simulate the time.", default="False", warning=_UNSUPPORTED
    ),
)  # fmt: skip

#: All options, section by section, in the order of the manual.
OPTIONS: Final[tuple[Option, ...]] = (
    *_GENERAL, *_SCHEDULING, *_SIMULATION, *_ACCOUNTING, *_IMAGE_TRANSFER, *_TRACEFILE, *_OPENNEBULA
)  # fmt: skip

#: Options of Haizea 1.1, of programs based on Haizea, and of other versions of its manual -> why they have no effect.
FOREIGN: Final[dict[str, str]] = {
    "simulation.sanity-check": "leases are always checked",
    "scheduling.policy-matchmaking": "any host with the resources may be used, in the order of policy-host-selection",
    "tracefile.annotationfile": "annotations of leases are not read",
}

#: Older names that the manual itself uses -> the options that they set (H96).
OLDER: Final[dict[str, tuple[str, ...]]] = {
    "simulation.suspendresume-rate": ("scheduling.suspend-rate", "scheduling.resume-rate"),
    "simulation.wakeup-interval": ("scheduling.wakeup-interval",),
    "general.lease-deployment": ("general.lease-preparation",),
}
