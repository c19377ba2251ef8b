"""Reader of commands of sacctmgr that set up accounts: `add account phys fairshare=40`, `modify qos high set ...`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from batsched_py.errors import ConfigurationError
from batsched_py.slurm.accounts import Accounts, Association, Qos, UsageBounds
from batsched_py.slurm.conf_values import at_least, duration, megabytes, minutes, one_of, whole, words
from batsched_py.slurm.job_amounts import is_counted
from batsched_py.text.display import displayed

#: Numbers of jobs: options -> fields of `UsageBounds`, of both, of associations, and of QOS.
_NUMBERS: Final = {"grpjobs": "grp_jobs", "grpsubmit": "grp_submit", "grpsubmitjobs": "grp_submit"}
_ASSOCIATION_NUMBERS: Final = {"maxjobs": "max_jobs", "maxsubmit": "max_submit", "maxsubmitjobs": "max_submit"}
_QOS_NUMBERS: Final = {
    **dict.fromkeys(("maxjobs", "maxjobsperuser", "maxjobspu"), "max_jobs_user"),
    **dict.fromkeys(
        ("maxsubmit", "maxsubmitjobs", "maxsubmitperuser", "maxsubmitjobsperuser", "maxsubmitpu", "maxsubmitjobspu"),
        "max_submit_user",
    ),
}
#: Amounts of resources, of both; and of QOS.
_AMOUNTS: Final = {
    "grptres": "grp_tres",
    "grptresrunmins": "grp_tres_run_mins",
    **dict.fromkeys(("maxtres", "maxtresperjob", "maxtrespj"), "max_tres_job"),
}
_QOS_AMOUNTS: Final = {"maxtresperuser": "max_tres_user", "maxtrespu": "max_tres_user"}
#: Options with several names -> one name for each, also of those that QOS and associations do not share.
_SAME: Final = {
    **_NUMBERS,
    **_ASSOCIATION_NUMBERS,
    **_QOS_NUMBERS,
    **_AMOUNTS,
    **_QOS_AMOUNTS,
    **dict.fromkeys(("maxwall", "maxwalldurationperjob"), "maxwall"),
    **dict.fromkeys(("fairshare", "shares"), "fairshare"),
    **dict.fromkeys(("qos", "qoslevel"), "qos"),
}
#: Options of `add` that say where the new entry belongs.
_PLACES: Final = {"account": {"parent", "cluster"}, "user": {"account", "cluster"}, "qos": frozenset[str]()}
#: Flags of a QOS that are obeyed.
_FLAGS: Final = frozenset(
    {"denyonlimit", "noreserve", "overpartqos", "partitiontimelimit", "partitionmaxnodes", "partitionminnodes"}
)
_EXISTS: Final = "is there already: change it with modify"
_FROM_0: Final = at_least(0)


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
    check_distinct(pairs)
    if verb == "add" and kind == "cluster":
        return
    if verb not in {"add", "modify"} or kind not in {"account", "user", "qos"}:
        raise ValueError("must be add or modify of an account, a user or a qos")
    options = {name: value for name, _, value in pairs}
    if verb == "add":
        pairs = [pair for pair in pairs if pair[0] not in _PLACES[kind]]
    for name in names.split(","):
        if kind == "qos":
            target = _add_qos(accounts, name) if verb == "add" else accounts.qos[name]
            _set(pairs, target.bounds, lambda *pair, target=target: _set_qos(target, *pair), is_qos=True)
            continue
        for found in _associations(accounts, verb, kind, name, options):
            _set(pairs, found.bounds, lambda *pair, found=found: _set_association(found, *pair), is_qos=False)


def set_association(found: Association, pairs: list[tuple[str, str, str]]) -> None:
    """Set options of an association, each a name in small letters, a sign and a value; `ValueError` names the rule."""
    _set(pairs, found.bounds, lambda *pair: _set_association(found, *pair), is_qos=False)


def check_distinct(pairs: Iterable[tuple[str, str, str]]) -> None:
    """Raise ValueError if an option is there twice, also by another name; `qos+=` and `qos-=` may be."""
    signs: dict[str, str] = {}
    for name, sign, _ in pairs:
        same = _SAME.get(name, name)
        if same in signs and "=" in {sign, signs[same]}:
            raise ValueError(f"{displayed(name)} is given twice")
        signs[same] = sign


def _add_qos(accounts: Accounts, name: str) -> Qos:
    if name in accounts.qos:
        raise ValueError(f"QOS {displayed(name)} {_EXISTS}")
    return accounts.qos.setdefault(name, Qos(name))


def _pair(word: str) -> tuple[str, str, str]:
    match = re.fullmatch(r"(\w+)([+-]?=)(.*)", word)
    if match is None:
        raise ValueError("must have options NAME=VALUE")
    return match[1].lower(), match[2], match[3]


def _associations(accounts: Accounts, verb: str, kind: str, name: str, options: dict[str, str]) -> list[Association]:
    if verb == "modify":
        return [accounts.by_account[name]] if kind == "account" else accounts.by_user[name]
    if kind == "account":
        if name in accounts.by_account:
            raise ValueError(f"account {displayed(name)} {_EXISTS}")
        return [accounts.add_account(name, options.get("parent", "root"))]
    if "account" not in options:
        raise ValueError("must have account=NAME")
    if any(one.account == options["account"] for one in accounts.by_user.get(name, [])):
        raise ValueError(f"user {displayed(name)} of account {displayed(options['account'])} {_EXISTS}")
    return [accounts.add_user(name, options["account"])]


def _set(
    pairs: list[tuple[str, str, str]], bounds: UsageBounds, set_other: Callable[[str, str, str], bool], *, is_qos: bool
) -> None:
    numbers = {**_NUMBERS, **(_QOS_NUMBERS if is_qos else _ASSOCIATION_NUMBERS)}
    amounts = {**_AMOUNTS, **(_QOS_AMOUNTS if is_qos else {})}
    for name, sign, value in pairs:
        if sign != "=" and name not in {"qos", "qoslevel"}:
            raise ValueError(f"{displayed(name)}{sign} is not supported: must be {displayed(name)}=VALUE")
        if name in numbers:
            setattr(bounds, numbers[name], _bound(value))
        elif name in amounts:
            _set_amounts(getattr(bounds, amounts[name]), value)
        elif name in {"maxwall", "maxwalldurationperjob"}:
            bounds.max_wall = None if value == "-1" else minutes(value)
        elif not set_other(name, sign, value):
            raise ValueError(f"{displayed(name)} is not supported")


def _bound(text: str) -> int | None:
    """Return a limit; None, which is no limit, for -1."""
    number = whole(text)
    if number < -1:
        raise ValueError("must be a number from 0, or -1 for no limit")
    return None if number == -1 else number


def _set_amounts(amounts: dict[str, int], text: str) -> None:
    """Set limits on resources, `cpu=300,mem=400G`; those that are not named stay, -1 is no limit."""
    named = set[str]()
    for part in text.split(","):
        written, _, value = part.partition("=")
        name = written.lower()
        if name in named:
            raise ValueError(f"{displayed(written)} is given twice")
        named.add(name)
        if not is_counted(name):
            rule = "must be of cpu, mem, node, gres/NAME, license/NAME"
            raise ValueError(f"{displayed(written)} is not supported: {rule}")
        most = megabytes(value) if name == "mem" and value != "-1" else _bound(value)
        if most is None:
            amounts.pop(name, None)
        else:
            amounts[name] = most


def _set_qos(qos: Qos, name: str, _sign: str, value: str) -> bool:
    if name == "priority":
        qos.priority = _FROM_0(value)
    elif name == "preempt":
        qos.preempts = frozenset(value.split(","))
    elif name == "preemptmode":
        mode = one_of("CLUSTER", "CANCEL", "REQUEUE", "SUSPEND")(value)
        qos.preempt_mode = None if mode == "CLUSTER" else mode
    elif name == "preemptexempttime":
        qos.exempt = duration(value)
    elif name == "gracetime":
        qos.grace = _FROM_0(value)
    elif name == "flags":
        qos.flags = words(value)
        if unknown := qos.flags - _FLAGS:
            raise ValueError(f"flag {displayed(min(unknown))} is not supported")
    else:
        return False
    return True


def _set_association(found: Association, name: str, sign: str, value: str) -> bool:
    if name in {"fairshare", "shares"}:
        found.shares = _FROM_0(value)
    elif name == "priority":
        found.priority = _FROM_0(value)
    elif name in {"qos", "qoslevel"}:
        named = frozenset(value.split(","))
        found.qos = {"=": named, "+=": found.qos | named, "-=": found.qos - named}[sign]
    elif name == "defaultqos":
        found.default_qos = value
    else:
        return False
    return True
