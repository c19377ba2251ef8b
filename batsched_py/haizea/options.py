"""Options of Haizea's configuration files: the table that reader, samples and documentation are made of (H68 to H74).

Names, types and defaults are those of B. Sotomayor, "The Haizea manual", 2009, appendix B. Options of our own, for what
Haizea leaves no choice in, stand among them and are marked.
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
    """Condition under which something is required: an option has this value; always, if none is named."""

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
        section, name: where it stands.
        type: of its values.
        help: its meaning, for samples and documentation.
        default: text that stands for an absent one; None if there is none.
        required: when it must be given; None if never.
        sample: text that samples give it; "" for its default, or none.
        told: sentence that is told where it is given, since nothing here is like it; "" for one that is honoured.
        ours: True for one that Haizea does not have.
    """

    section: str
    name: str
    type: ValueType
    help: str
    default: str | None = None
    required: When | None = None
    sample: str = ""
    told: str = ""
    ours: bool = False

    @property
    def key(self) -> str:
        """Its name in messages."""
        return f"{self.section}.{self.name}"


#: MB/s, Mb/s: nothing is so slow or so fast.
_RATE: Final = number(1e-6, 1e12)
_NO_OPENNEBULA: Final = "must be simulated: OpenNebula is not driven from here"
_TOLD_OPENNEBULA: Final = "OpenNebula is not driven from here"

_GENERAL: Final = (
    Option(
        "general", "loglevel", choice("STATUS", "INFO", "DEBUG", "VDEBUG"),
        "How much is logged: STATUS the clock and the summary, INFO what becomes of each lease, DEBUG and VDEBUG more.",
        default="INFO",
    ),
    Option(
        "general", "logfile", PATH, "The file of the log.",
        default="/var/tmp/haizea.log",  # noqa: S108  # the manual's, in words
        told="the log is written to standard output",
    ),
    Option(
        "general", "mode", choice("simulated", refused={"opennebula": _NO_OPENNEBULA}),
        "What serves the leases: a simulation. Haizea's opennebula is an error: OpenNebula is not driven from here.",
        required=ALWAYS, sample="simulated",
    ),
    Option(
        "general", "lease-preparation", choice("unmanaged", "imagetransfer"),
        "What precedes a lease: nothing, or a transfer of its disk image from a repository.", default="unmanaged",
    ),
    Option(
        "general", "lease-failure-handling", choice("cancel", "exit", "exit-raise"),
        "What a failed lease does: it is cancelled; it ends the run; it ends the run with a traceback.",
        default="cancel",
    ),
    Option(
        "general", "persistence-file", PATH, "The file that keeps leases between runs; none for no such file.",
        default="none", sample="none", told="leases are kept in memory only",
    ),
)  # fmt: skip

_SCHEDULING: Final = (
    Option(
        "scheduling", "mapper", choice("greedy", "deadline"),
        "How nodes are put on hosts: deadline is that of Haizea 1.1, for deadline leases.", default="greedy",
    ),
    Option(
        "scheduling", "policy-admission", named_class(ADMISSION.spellings),
        "Which leases may be scheduled at all; no-ARs refuses advance reservations.", default="accept-all",
    ),
    Option(
        "scheduling", "policy-preemption", named_class(PREEMPTION.spellings),
        "Which leases give way: none, best-effort leases to advance reservations, or as Haizea 1.1 does for deadlines.",
        default="no-preemption", sample="ar-preempts-everything",
    ),
    Option(
        "scheduling", "policy-host-selection", named_class(HOSTS.spellings),
        "Which hosts are taken first: those with few leases and a quiet future, or those with the lowest numbers.",
        default="greedy",
    ),
    Option(
        "scheduling", "wakeup-interval", DURATION, "With the real clock: how often the scheduler is called at least.",
        default="60",
    ),
    Option(
        "scheduling", "non-schedulable-interval", DURATION,
        "With the real clock of Haizea: how soon after a request a lease may start; at a live site it may at once.",
        default="10",
    ),
    Option(
        "scheduling", "backfilling", choice("off", "aggressive", "conservative", "intermediate"),
        "How many best-effort leases may hold a start in the future: none, one, all, or a number of them.",
        default="aggressive", sample="aggressive",
    ),
    Option(
        "scheduling", "backfilling-reservations", whole(1, 1_000_000), "That number, with intermediate.",
        required=When("scheduling.backfilling", "intermediate"),
    ),
    Option(
        "scheduling", "suspension", choice("none", "serial-only", "all"),
        "Which leases may be suspended: none, those of one node, all.", required=ALWAYS, sample="all",
    ),
    Option("scheduling", "suspend-rate", _RATE, "MB of memory that are saved in a second.", default="32", sample="32"),
    Option(
        "scheduling", "resume-rate", _RATE, "MB of memory that are loaded in a second.", default="32", sample="32"
    ),
    Option(
        "scheduling", "suspendresume-exclusion", choice("local", "global"),
        "Which suspensions and resumptions of a lease come one after the other: those on one host, or all.",
        default="local",
    ),
    Option(
        "scheduling", "scheduling-threshold-factor", number(0, 1_000_000),
        "A lease that will be suspended must run at least so many times what its overheads take.", default="1",
    ),
    Option(
        "scheduling", "force-scheduling-threshold", DURATION,
        "How long such a lease must hold its hosts instead, whatever its overheads take.",
    ),
    Option(
        "scheduling", "threshold-includes-preparation", FLAG,
        "Whether those overheads count the transfer of the image, as the manual says and Haizea does not.",
        default="False", ours=True,
    ),
    Option(
        "scheduling", "override-suspend-time", DURATION, "How long a machine is suspended, whatever its memory.",
    ),
    Option(
        "scheduling", "override-resume-time", DURATION, "How long a machine is resumed, whatever its memory.",
    ),
    Option(
        "scheduling", "estimates", choice("original", "exact"),
        "What a suspension is expected to take before the hosts are known: Haizea's formula, which grows with the"
        " square of the nodes and by which its published figures were made; or what it will take, which is the default"
        " with the deadline mapper, as in Haizea 1.1.",
        default="original", ours=True,
    ),
    Option(
        "scheduling", "victim-order", choice("youngest", "oldest"),
        "Who gives way first: the lease that the policy scores highest, with the built-in ones the youngest, as the"
        " manual says; or the one it scores lowest, as Haizea does.",
        default="youngest", ours=True,
    ),
    Option(
        "scheduling", "honour-preemptible", FLAG,
        "Whether a lease that is not preemptible is left alone; Haizea does not look at that.",
        default="True", ours=True,
    ),
    Option(
        "scheduling", "unneeded-victims", choice("spare", "stop"),
        "What becomes of leases whose hosts turn out not to be needed: they go on, or give way as in Haizea.",
        default="spare", ours=True,
    ),
    Option(
        "scheduling", "hold-cpu", FLAG,
        "Whether machines hold their CPUs while they are suspended or resumed; in Haizea 1.0 they do not.",
        default="True", ours=True,
    ),
    Option(
        "scheduling", "replan-after-each", FLAG,
        "Whether leases are planned anew after each of several early ends at one instant, as Haizea does.",
        default="False", ours=True,
    ),
    Option(
        "scheduling", "never-later", FLAG,
        "Whether a best-effort lease that is planned anew keeps its place if the new one is later; Haizea's may lose"
        " seconds, or have its image transferred again.",
        default="False", ours=True,
    ),
    Option(
        "scheduling", "deadline-rules", choice("feasible", "original"),
        "When a deadline lease is refused: after a second order was tried, the earliest deadline first, or as in Haizea"
        " 1.1; and whether all those that could begin earlier are moved when anything ends early.",
        default="feasible", ours=True,
    ),
    Option(
        "scheduling", "migration", choice("no", "yes", "yes-notransfer"),
        "Whether a suspended lease may resume on other hosts: no; after its files were moved; without moving them.",
        default="no", sample="no",
    ),
    Option(
        "scheduling", "migration-bandwidth", _RATE, "Mb/s between hosts, which Haizea 1.0 has as 100.",
        default="100", ours=True,
    ),
    Option("scheduling", "shutdown-time", DURATION, "How long a machine takes to shut down.", default="0"),
    Option(
        "scheduling", "ar-shutdown", choice("inside", "after"),
        "When an advance reservation shuts down: within its interval, as in Haizea 1.0, or after it, as in 1.1.",
        default="inside", ours=True,
    ),
    Option(
        "scheduling", "enactment-overhead", DURATION, "How long each command to a machine takes.", default="0",
    ),
)  # fmt: skip

_SIMULATION: Final = (
    Option(
        "simulation", "clock", choice("real", "simulated"),
        "Whether time is simulated, with requests from a file, or passes at a live site, with requests from users.",
        default="real", sample="simulated",
    ),
    Option(
        "simulation", "starttime", TIMESTAMP, "When the simulated clock starts.", required=_SIMULATED,
        sample="2006-11-25 13:00:00",
    ),
    Option(
        "simulation", "resources", RESOURCES, "The hosts: their number and what each has; or those of the tracefile.",
        required=ALWAYS, sample="4 CPU:100 Memory:1024",
    ),
    Option(
        "simulation", "imagetransfer-bandwidth", _RATE, "Mb/s from the repository of images.", required=ALWAYS,
        sample="100",
    ),
    Option(
        "simulation", "stop-when", choice("all-leases-done", "besteffort-submitted", "besteffort-done"),
        "When the simulation stops: all leases are done; all best-effort leases are submitted, or done.",
        default="all-leases-done",
    ),
    Option(
        "simulation", "status-message-interval", whole(1, 1_000_000),
        "After how many simulated minutes the summary is printed again.",
    ),
)  # fmt: skip

_ACCOUNTING: Final = (
    Option("accounting", "datafile", PATH, "The file of all that is counted, in JSON."),
    Option(
        "accounting", "probes", WORDS,
        "What is counted: ar, best-effort, immediate, deadline, cpu-utilization, disk-usage, and classes of your own.",
        sample="ar best-effort immediate cpu-utilization",
    ),
    Option(
        "accounting", "attributes", ATTRIBUTES,
        "What tells the data of this run from others': a configuration for several runs sets it.",
    ),
    Option(
        "accounting", "stats", choice("corrected", "original"),
        "How figures are computed in which Haizea is mistaken: as the manual says, or as Haizea does.",
        default="corrected", ours=True,
    ),
)  # fmt: skip

_IMAGE_TRANSFER: Final = (
    Option(
        "deploy-imagetransfer", "transfer-mechanism", choice("unicast", "multicast"),
        "Whether an image is sent to each node, one after the other, or to all at once.", required=_IMAGES,
        sample="multicast",
    ),
    Option(
        "deploy-imagetransfer", "avoid-redundant-transfers", FLAG,
        "Whether a lease shares the transfer of another that has not begun.", default="True",
    ),
    Option(
        "deploy-imagetransfer", "force-imagetransfer-time", DURATION, "How long a transfer takes, whatever the size."
    ),
    Option(
        "deploy-imagetransfer", "diskimage-reuse", choice("none", "image-caches"),
        "Whether hosts keep images that were transferred to them.", default="none",
    ),
    Option(
        "deploy-imagetransfer", "diskimage-cache-size", whole(0, 10**12, unlimited=True),
        "MB of images that a host keeps; -1 for no limit.",
        required=When("deploy-imagetransfer.diskimage-reuse", "image-caches"),
    ),
)  # fmt: skip

_TRACEFILE: Final = (
    Option(
        "tracefile", "tracefile", TRACE, "The requests: a lease workload (.lwf, .xml) or a log (.swf).",
        required=_SIMULATED, sample="sample.lwf",
    ),
    Option("tracefile", "imagefile", PATH, "Images for the requests, in place of those that they name."),
    Option("tracefile", "injectionfile", TRACE, "More requests, which are added to those of the tracefile."),
    Option(
        "tracefile", "runtime-slowdown-overhead", number(0, 1_000_000), "Percent that are added to durations.",
        default="0",
    ),
    Option(
        "tracefile", "add-overhead", choice("none", "all", "besteffort"), "Whose durations these are.", default="none"
    ),
    Option(
        "tracefile", "bootshutdown-overhead", DURATION, "What is added to them for booting and shutting down.",
        default="0",
    ),
    Option(
        "tracefile", "override-memory", whole(1, 10**12, unlimited=True),
        "MB of memory of each node, in place of those asked for; -1 for what is asked for.", default="-1",
    ),
)  # fmt: skip

_OPENNEBULA: Final = (
    Option("opennebula", "host", TEXT, "The machine of OpenNebula.", told=_TOLD_OPENNEBULA),
    Option("opennebula", "port", whole(1, 65535), "The port of OpenNebula.", default="2633", told=_TOLD_OPENNEBULA),
    Option(
        "opennebula", "stop-when-no-more-leases", FLAG, "Whether to stop when nothing is left to do.",
        default="False", told=_TOLD_OPENNEBULA,
    ),
    Option(
        "opennebula", "dry-run", FLAG, "Whether to go through time at once.", default="False", told=_TOLD_OPENNEBULA
    ),
)  # fmt: skip

#: All options, section by section, in the order of the manual.
OPTIONS: Final[tuple[Option, ...]] = (
    *_GENERAL, *_SCHEDULING, *_SIMULATION, *_ACCOUNTING, *_IMAGE_TRANSFER, *_TRACEFILE, *_OPENNEBULA
)  # fmt: skip

#: Older spellings that the manual itself uses -> the options that they set (H96).
OLDER: Final[dict[str, tuple[str, ...]]] = {
    "simulation.suspendresume-rate": ("scheduling.suspend-rate", "scheduling.resume-rate"),
    "simulation.wakeup-interval": ("scheduling.wakeup-interval",),
    "general.lease-deployment": ("general.lease-preparation",),
}
