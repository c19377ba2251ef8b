"""Reader of commands of sacctmgr that set up accounts: `add account phys fairshare=40`, `modify qos high set ...`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from batsched_py.errors import ConfigurationError
from batsched_py.slurm.accounts import Accounts, Association, Qos, UsageBounds
from batsched_py.slurm.conf_values import duration, minutes, whole, words
from batsched_py.text.display import displayed

_NUMBERS: Final = {
    "grpjobs": "grp_jobs",
    "grpsubmit": "grp_submit",
    "grpsubmitjobs": "grp_submit",
    "maxjobs": "max_jobs",
    "maxsubmit": "max_submit",
    "maxsubmitjobs": "max_submit",
    "maxjobsperuser": "max_jobs_user",
    "maxjobspu": "max_jobs_user",
    "maxsubmitperuser": "max_submit_user",
    "maxsubmitjobsperuser": "max_submit_user",
}
_AMOUNTS: Final = {
    "grptres": "grp_tres",
    "grptresrunmins": "grp_tres_run_mins",
    "maxtres": "max_tres_job",
    "maxtresperjob": "max_tres_job",
    "maxtresperuser": "max_tres_user",
}


def read_accounts(commands: Iterable[str]) -> Accounts:
    """Return the accounts that these commands make.

    Raises:
        ConfigurationError: a command or a limit is not supported, with the number of the command.
    """
    accounts = Accounts()
    for number, command in enumerate(commands, 1):
        try:
            apply_command(accounts, command.split())
        except (ValueError, KeyError, IndexError) as error:
            rule = str(error) if isinstance(error, ValueError) else "must name what was added before"
            raise ConfigurationError("sacctmgr", f"command {number}: {displayed(command)}", rule) from error
    return accounts


def apply_command(accounts: Accounts, text: list[str]) -> None:
    """Carry out one command, given as words; `ValueError`, `KeyError` or `IndexError` if it is wrong."""
    if len(text) < 3:
        raise ValueError("must be add or modify of an account, a user or a qos")
    verb, kind, names, rest = text[0], text[1], text[2], text[3:]
    if verb == "modify" and (rest[:1] != ["set"] or "where" in rest):
        raise ValueError(f"must be modify {kind} NAME set OPTIONS; conditions are not supported")
    pairs = [_pair(word) for word in rest if word not in {"set", "where"}]
    options = {name: value for name, _, value in pairs}
    if verb == "add":
        pairs = [pair for pair in pairs if pair[0] not in {"account", "parent", "cluster"}]
    if verb == "add" and kind == "cluster":
        return
    if verb not in {"add", "modify"} or kind not in {"account", "user", "qos"}:
        raise ValueError("must be add or modify of an account, a user or a qos")
    for name in names.split(","):
        if kind == "qos":
            target = accounts.qos.setdefault(name, Qos(name)) if verb == "add" else accounts.qos[name]
            _set(pairs, target.bounds, lambda *pair, target=target: _set_qos(target, *pair))
            continue
        for found in _associations(accounts, verb, kind, name, options):
            _set(pairs, found.bounds, lambda *pair, found=found: _set_association(found, *pair))


def set_association(found: Association, pairs: list[tuple[str, str, str]]) -> None:
    """Set options of an association, each a name in small letters, a sign and a value; `ValueError` names the rule."""
    _set(pairs, found.bounds, lambda *pair: _set_association(found, *pair))


def _pair(word: str) -> tuple[str, str, str]:
    match = re.fullmatch(r"(\w+)([+-]?=)(.*)", word)
    if match is None:
        raise ValueError("must have options NAME=VALUE")
    return match[1].lower(), match[2], match[3]


def _associations(accounts: Accounts, verb: str, kind: str, name: str, options: dict[str, str]) -> list[Association]:
    if kind == "account":
        made = accounts.add_account(name, options.get("parent", "root")) if verb == "add" else accounts.by_account[name]
        return [made]
    if verb == "add":
        return [accounts.add_user(name, options["account"])]
    return accounts.by_user[name]


def _set(pairs: list[tuple[str, str, str]], bounds: UsageBounds, set_other: Callable[[str, str, str], bool]) -> None:
    for name, sign, value in pairs:
        if sign != "=" and name not in {"qos", "qoslevel"}:
            raise ValueError(f"{displayed(name)}{sign} is not supported: must be {displayed(name)}=VALUE")
        if name in _NUMBERS:
            setattr(bounds, _NUMBERS[name], None if value == "-1" else whole(value))
        elif name in _AMOUNTS:
            setattr(bounds, _AMOUNTS[name], _amounts(value))
        elif name in {"maxwall", "maxwalldurationperjob"}:
            bounds.max_wall = minutes(value)
        elif not set_other(name, sign, value):
            raise ValueError(f"{displayed(name)} is not supported")


def _amounts(text: str) -> dict[str, int]:
    return {name.lower(): whole(value) for name, _, value in (part.partition("=") for part in text.split(","))}


def _set_qos(qos: Qos, name: str, _sign: str, value: str) -> bool:
    if name == "priority":
        qos.priority = whole(value)
    elif name == "preempt":
        qos.preempts = frozenset(value.split(","))
    elif name == "preemptmode":
        qos.preempt_mode = value.upper()
    elif name == "preemptexempttime":
        qos.exempt = duration(value)
    elif name == "gracetime":
        qos.grace = whole(value)
    elif name == "flags":
        qos.flags = words(value)
        if unknown := qos.flags - {"denyonlimit", "noreserve"}:
            raise ValueError(f"flag {displayed(min(unknown))} is not supported")
    else:
        return False
    return True


def _set_association(found: Association, name: str, sign: str, value: str) -> bool:
    if name in {"fairshare", "shares"}:
        found.shares = whole(value)
    elif name == "priority":
        found.priority = whole(value)
    elif name in {"qos", "qoslevel"}:
        named = frozenset(value.split(","))
        found.qos = {"=": named, "+=": found.qos | named, "-=": found.qos - named}[sign]
    elif name == "defaultqos":
        found.default_qos = value
    else:
        return False
    return True
