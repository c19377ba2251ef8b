"""The command line of batsched 1.4, in the words of `serve`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from getopt import GetoptError, getopt
from typing import Final, NamedTuple

from batsched_py.errors import OptionError
from batsched_py.text.display import shown
from batsched_py.text.wording import did_you_mean

#: Option with a value -> its default. Short names are those of batsched.
_DEFAULTS: Final = {
    "variant": "filler",
    "queue_order": "fcfs",
    "policy": "basic",
    "rjms_delay": "5",
    "socket-endpoint": "tcp://127.0.0.1:28000",
    "variant_options": "{}",
    "variant_options_filepath": "",
    "call_make_decisions_on_single_nop": "true",
    "verbosity": "info",
}
_SHORT: Final = {
    "v": "variant",
    "o": "queue_order",
    "p": "policy",
    "d": "rjms_delay",
    "s": "socket-endpoint",
}
#: Order in batsched -> in this program. batsched serves by slowdown as it serves by arrival.
_ORDERS: Final = {
    "fcfs": "fcfs",
    "lcfs": "lcfs",
    "desc_bounded_slowdown": "fcfs",
    "desc_slowdown": "fcfs",
    "asc_size": "asc_size",
    "desc_size": "desc_size",
    "asc_walltime": "asc_walltime",
    "desc_walltime": "desc_walltime",
}
_POLICIES: Final = ("basic", "contiguous")
#: Verbosities that print only warnings and errors.
_QUIET: Final = ("quiet", "silent")
_VERBOSITIES: Final = ("debug", "info", *_QUIET)


class _Counterpart(NamedTuple):
    """The algorithm for a variant.

    Attributes:
        name: value of -s.
        options: values of -o.
        ordered, placed, delayed: whether batsched's variant uses the order, the policy and the delay.
    """

    name: str
    options: tuple[str, ...] = ()
    ordered: bool = False
    placed: bool = False
    delayed: bool = False


_VARIANTS: Final = {
    "conservative_bf": _Counterpart(
        "conservative", ("reserve=hosts", "promises=in_turn"), ordered=True, placed=True, delayed=True
    ),
    "crasher": _Counterpart("crasher", ("message=0",)),
    "easy_bf": _Counterpart("easy", ("reserve=hosts",), ordered=True, placed=True, delayed=True),
    "easy_bf_fast": _Counterpart("easy", ("promise=first",), delayed=True),
    "energy_watcher": _Counterpart("energy_watcher", ("at_once=one",)),
    "fcfs": _Counterpart("fcfs"),
    "fcfs_fast": _Counterpart("fcfs"),
    "filler": _Counterpart("filler", (), ordered=True, placed=True),
    "killer": _Counterpart("killer"),
    "killer2": _Counterpart("killer", ("rule=arrival",)),
    "random": _Counterpart("random", ("hosts=any",)),
    "rejecter": _Counterpart("rejecter"),
    "sequencer": _Counterpart("sequencer"),
    "waiting_time_estimator": _Counterpart("rejecter"),
}
#: Variants of batsched that have no counterpart with the same options -> the algorithm that comes near.
_NEAR: Final = {
    "easy_bf_plot_liquid_load_horizon": "easy",
    "energy_bf": "easy_idle_sleeper",
    "energy_bf_dicho": "easy_dvfs",
    "energy_bf_idle_sleeper": "easy_idle_sleeper",
    "energy_bf_monitoring": "easy_idle_sleeper",
    "energy_bf_monitoring_inertial": "easy_idle_sleeper",
    "energy_bf_subpart_sleeper": "easy_subpart_sleeper",
    "sleeper": "sleeper",
    "submitter": "submitter",
}
#: batsched's names of variants, served or not.
VARIANTS: Final = tuple(sorted([*_VARIANTS, *_NEAR]))

USAGE: Final = f"""\
usage: batsched [-v VARIANT] [-o ORDER] [-p POLICY] [-d SECONDS] [-s ADDRESS] [--verbosity LEVEL]

batsched-py with the options of batsched 1.4.

  -v --variant VARIANT          {", ".join(list(_VARIANTS)[:6])},
                                {", ".join(list(_VARIANTS)[6:12])},
                                {", ".join(list(_VARIANTS)[12:])}  [default: filler]
  -o --queue_order ORDER        {", ".join(list(_ORDERS)[:4])},
                                {", ".join(list(_ORDERS)[4:])}  [default: fcfs]
  -p --policy POLICY            {", ".join(_POLICIES)}  [default: basic]
  -d --rjms_delay SECONDS       added to walltimes  [default: 5]
  -s --socket-endpoint ADDRESS  [default: {_DEFAULTS["socket-endpoint"]}]
  --verbosity LEVEL             {", ".join(_VERBOSITIES)}; the last two: only warnings and errors
  -h --help, --version
"""


def serve_words(arguments: Sequence[str], note: Callable[[str], None] | None = None) -> list[str]:
    """Return the arguments of `batsched-py` that do what batsched does with these. OptionError, which names the option.

    The orders of conservative_bf, easy_bf and filler break ties by id, as in batsched. `note` gets a line for each
    option that has no effect on the variant, unless the verbosity is quiet or silent.
    """
    given = _parsed(arguments)
    variant, delay = given["variant"], _delay(given["rjms_delay"])
    counterpart = _counterpart(variant)
    order = _ORDERS[_one_of("queue_order", given["queue_order"], _ORDERS)]
    policy = _one_of("policy", given["policy"], _POLICIES)
    verbosity = _one_of("verbosity", given["verbosity"], _VERBOSITIES)
    _check_rest(given)
    options = list(counterpart.options)
    if counterpart.ordered:
        options += [f"order={order}", "ties=id"]
    if counterpart.delayed:
        options.append(f"slack={delay}")
    if counterpart.placed and policy == "contiguous":
        options.append("selection=contiguous")
    quiet = verbosity in _QUIET
    if note is not None and not quiet:
        for name, used in (("queue_order", counterpart.ordered), ("policy", counterpart.placed)):
            if not used and given[name] != _DEFAULTS[name]:
                note(f"--{name}: {given[name]} has no effect on {variant}, as in batsched")
    words = ["serve", "-s", counterpart.name, "-b", given["socket-endpoint"]]
    words += [word for one in options for word in ("-o", one)]
    return [*words, *(["--quiet"] if quiet else ["--debug"] if verbosity == "debug" else [])]


def _parsed(arguments: Sequence[str]) -> Mapping[str, str]:
    """Return the value of each option."""
    try:
        found, left = getopt(list(arguments), "".join(f"{one}:" for one in _SHORT), [f"{one}=" for one in _DEFAULTS])
    except GetoptError as error:
        raise OptionError(f"{error.msg} (see batsched --help)") from None
    if left:
        raise OptionError(f"takes no argument {shown(left[0])} (see batsched --help)")
    given: dict[str, str] = {}
    for word, value in found:
        name = word.lstrip("-")
        name = _SHORT.get(name, name)
        if name in given:
            raise OptionError(f"--{name}: is given twice")
        given[name] = value
    return {**_DEFAULTS, **given}


def _counterpart(variant: str) -> _Counterpart:
    if variant in _VARIANTS:
        return _VARIANTS[variant]
    if variant in _NEAR:
        near = f"batsched-py serve -s {_NEAR[variant]} is the nearest, with options of its own"
        raise OptionError(f"--variant: {variant} is not offered under this name; {near}")
    raise OptionError(_unknown("variant", variant, VARIANTS))


def _one_of(option: str, value: str, known: Sequence[str] | Mapping[str, str]) -> str:
    if value not in known:
        raise OptionError(_unknown(option, value, tuple(known)))
    return value


def _unknown(option: str, value: str, known: Sequence[str]) -> str:
    suggestion = did_you_mean(value, known)
    rule = f"--{option}: must be one of {', '.join(known)}, not {shown(value)}"
    return f"{rule}; {suggestion}" if suggestion else rule


def _delay(text: str) -> str:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise OptionError(f"--rjms_delay: must be a number of seconds from 0, not {shown(text)}")
    return text


def _check_rest(given: Mapping[str, str]) -> None:
    """Refuse options that batsched has, and that have no effect here."""
    nothing: Mapping[str, Callable[[str], bool]] = {
        "variant_options": lambda text: "".join(text.split()) in ("", "{}"),
        "variant_options_filepath": lambda text: not text,
        "call_make_decisions_on_single_nop": lambda text: text.lower() in ("true", "1"),
    }
    for name, does_nothing in nothing.items():
        if not does_nothing(given[name]):
            raise OptionError(f"--{name}: is not supported: use batsched-py serve, whose algorithms have -o KEY=VALUE")
