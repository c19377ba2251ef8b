"""The command line of Batsim 4.2.1, in the words of `simulate`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from getopt import GetoptError, gnu_getopt
from pathlib import Path
from typing import Final, NamedTuple

from batsched_py.errors import OptionError
from batsched_py.files.bounded_file import read_content
from batsched_py.reading.limits import LIMITS
from batsched_py.text.display import shown

#: Option of Batsim with a value -> its default, which `simulate` need not be given. The platform must be given.
_VALUES: Final = {
    "platform": "",
    "master-host": "master_host",
    "socket-endpoint": "tcp://localhost:28000",
    "redis-hostname": "127.0.0.1",
    "redis-port": "6379",
    "redis-prefix": "default",
    "export": "out",
    "mmax": "0",
    "verbosity": "information",
    "workflow-jobs-limit": "0",
    "sched-cfg": "",
    "sched-cfg-file": "",
}
#: Options that may be given several times; a workflow with a start has two values.
_REPEATED: Final = ("workload", "workflow", "events", "add-role-to-hosts", "sg-cfg", "sg-log")
_WITH_START: Final = ("--WS", "--workflow-start")
#: Option without a value -> the words of `simulate`.
_FLAGS: Final[Mapping[str, tuple[str, ...]]] = {
    "energy": ("-E",),
    "enable-redis": ("--enable-redis",),
    "disable-schedule-tracing": (),  # Pajé's format, which is not written
    "disable-machine-state-tracing": ("--disable-machine-state-tracing",),
    "mmax-workload": (),
    "forward-profiles-on-submission": ("--forward-profiles-on-submission",),
    "enable-dynamic-jobs": ("--enable-dynamic-jobs",),
    "acknowledge-dynamic-jobs": ("--acknowledge-dynamic-jobs",),
    "enable-profile-reuse": ("--enable-profile-reuse",),
    "forward-unknown-events": ("--forward-unknown-events",),
    "enable-compute-sharing": ("--enable-compute-sharing",),
    "disable-storage-sharing": ("--disable-storage-sharing",),
    "quiet": ("--quiet",),
    "dump-execution-context": (),
}
_SHORT: Final = {
    "p": "platform", "w": "workload", "W": "workflow", "m": "master-host", "r": "add-role-to-hosts", "E": "energy",
    "s": "socket-endpoint", "e": "export", "v": "verbosity", "q": "quiet",
}  # fmt: skip
#: Options of Batsim that are refused -> the reason, or what to do instead.
_REFUSED: Final[Mapping[str, str]] = {
    "no-sched": "'batsched-py simulate -s sequencer' runs jobs one after the other",
    "ignore-beyond-last-workflow": "all jobs of workloads are submitted",
    "sg-log": "SimGrid, which writes these logs, is not used",
    "unittest": "the tests are those of batsched-py",
    "simgrid-version": "SimGrid is not used",
}
_VERBOSITIES: Final[Mapping[str, tuple[str, ...]]] = {
    "quiet": ("--quiet",), "network-only": ("--quiet",), "information": (), "debug": ("--debug",),
}  # fmt: skip
#: Batsim waits for its scheduler without a limit.
_PATIENCE: Final = ("--connect-timeout", "6e10")
#: Option with a file -> the bit of Batsim's exit code if it cannot be read.
FILES: Final = {"platform": 0x01, "workload": 0x02, "workflow": 0x04, "events": 0x02, "workflow-start": 0x10}

USAGE: Final = """\
usage: batsim -p PLATFORM [-w WORKLOAD]... [-W WORKFLOW]... [--WS WORKFLOW START]... [OPTIONS]

The simulator of batsched-py with the options of Batsim 4.2.1: -p -w -W --WS --events -m -r -E -s -e -q -v --mmax
--mmax-workload --enable-redis --redis-hostname --redis-port --redis-prefix --sched-cfg --sched-cfg-file --sg-cfg
--enable-dynamic-jobs --acknowledge-dynamic-jobs --enable-profile-reuse --forward-profiles-on-submission
--forward-unknown-events --enable-compute-sharing --disable-storage-sharing --disable-machine-state-tracing
--disable-schedule-tracing --workflow-jobs-limit --dump-execution-context --help --version
"""


class BatsimCall(NamedTuple):
    """A call of Batsim.

    Attributes:
        values: option -> its value, for those with one, including defaults.
        repeated: option -> its values.
        starts: the workflows that are given with a start, and these.
        flags: the options without a value that were given.
    """

    values: Mapping[str, str]
    repeated: Mapping[str, Sequence[str]]
    starts: Sequence[tuple[str, str]]
    flags: frozenset[str]

    @property
    def files(self) -> list[tuple[str, str]]:
        """The options with files that must exist, and these."""
        named = [("platform", self.values["platform"])]
        named += [(option, file) for option in ("workload", "workflow", "events") for file in self.repeated[option]]
        return [*named, *(("workflow-start", file) for file, _ in self.starts)]

    @property
    def missing(self) -> list[tuple[str, str]]:
        """The files that cannot be read, with their options."""
        return [(option, file) for option, file in self.files if not os.access(file, os.R_OK)]

    def context(self) -> dict[str, str | int | bool]:
        """Return what `--dump-execution-context` shows to programs such as robin."""
        values = self.values
        return {
            "socket_endpoint": values["socket-endpoint"],
            "redis_enabled": "enable-redis" in self.flags,
            "redis_hostname": values["redis-hostname"],
            "redis_port": int(values["redis-port"]),
            "redis_prefix": values["redis-prefix"],
            "export_prefix": values["export"],
            "external_scheduler": True,
        }


def read_call(arguments: Sequence[str]) -> BatsimCall:
    """Read the command line of Batsim. OptionError, which names the option."""
    rest, starts = _without_starts(arguments)
    short = "".join(letter if name in _FLAGS else f"{letter}:" for letter, name in _SHORT.items())
    with_values, refused = [*_VALUES, *_REPEATED], [name for name in _REFUSED if name not in _REPEATED]
    try:
        found, left = gnu_getopt(rest, short, [*(f"{name}=" for name in with_values), *_FLAGS, *refused])
    except GetoptError as error:
        raise OptionError(f"{error.msg} (see batsim --help)") from None
    if left:
        raise OptionError(f"takes no argument {shown(left[0])} (see batsim --help)")
    values, repeated = dict[str, str](), {name: list[str]() for name in _REPEATED}
    flags = set[str]()
    for word, value in found:
        name = word[2:] if word.startswith("--") else _SHORT[word[1:]]
        if name in _REFUSED:
            raise OptionError(f"--{name}: is not supported: {_REFUSED[name]}")
        if name in repeated:
            repeated[name].append(value)
        elif name in values:
            raise OptionError(f"--{name}: is given twice")
        elif name in _FLAGS:
            flags.add(name)
        else:
            values[name] = value
    if "platform" not in values:
        raise OptionError("--platform: is missing")
    return _checked(BatsimCall({**_VALUES, **values}, repeated, starts, frozenset(flags)))


def simulate_words(call: BatsimCall, largest: int | None = None) -> list[str]:
    """Return the arguments of `batsched-py` that do what Batsim does in this call.

    `largest` is the greatest number of hosts in the workloads, for `--mmax-workload`. OptionError, InputError.
    """
    values, flags = call.values, call.flags
    words = ["simulate", "-p", values["platform"], "-e", values["export"]]
    names = {"workload": "-w", "workflow": "-W", "events": "--events", "add-role-to-hosts": "-r", "sg-cfg": "--sg-cfg"}
    words += [word for option, name in names.items() for value in call.repeated[option] for word in (name, value)]
    words += [word for start in call.starts for word in ("--WS", *start)]
    words += ["--socket", values["socket-endpoint"], *_PATIENCE, "-m", values["master-host"]]
    if call.repeated["workflow"] or call.starts:
        words += ["--workflow-jobs-limit", values["workflow-jobs-limit"]]
    words += [word for flag in _FLAGS if flag in flags for word in _FLAGS[flag]]
    words += _redis(call) if "enable-redis" in flags else []
    words += [word for word in _VERBOSITIES[values["verbosity"]] if word not in words]
    limits = [int(values["mmax"]), *([largest] if largest is not None else [])]
    limit = min((limit for limit in limits if limit > 0), default=0)
    words += ["--mmax", f"{limit}"] if limit else []
    return [*words, *_configuration(call)]


def _redis(call: BatsimCall) -> list[str]:
    options = ("redis-hostname", "redis-port", "redis-prefix")
    return [word for option in options for word in (f"--{option}", call.values[option])]


def _configuration(call: BatsimCall) -> list[str]:
    """Return the words for the text that Batsim sends to the scheduler. InputError if its file cannot be read."""
    text, file = call.values["sched-cfg"], call.values["sched-cfg-file"]
    if text and file:
        raise OptionError("--sched-cfg: and --sched-cfg-file do not go together")
    if file:
        text = read_content(Path(file), LIMITS).decode(errors="replace")
    return ["--sched-cfg", text] if text else []


def _checked(call: BatsimCall) -> BatsimCall:
    """Refuse values that are not of their kind."""
    values = call.values
    if values["verbosity"] not in _VERBOSITIES:
        rule = f"must be one of {', '.join(_VERBOSITIES)}"
        raise OptionError(f"--verbosity: {rule}, not {shown(values['verbosity'])}")
    for option in ("mmax", "redis-port", "workflow-jobs-limit"):
        text = values[option]
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise OptionError(f"--{option}: must be a whole number from 0, not {shown(text)}")
    return call


def _without_starts(arguments: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Take out the workflows with a start, the only option with two values."""
    rest, starts = list[str](), list[tuple[str, str]]()
    words = iter(arguments)
    for word in words:
        if word in _WITH_START:
            pair = next(words, None), next(words, None)
            if pair[0] is None or pair[1] is None:
                raise OptionError(f"{word}: must have a file and a start in seconds")
            starts.append((pair[0], pair[1]))
        else:
            rest.append(word)
    return rest, starts
