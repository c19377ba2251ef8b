"""Reader of accounts in a file: the lines of `sacctmgr dump`, and commands of sacctmgr.

A dump has a line for each cluster, account and user, and `Parent` lines for the account below which the following are
(sacctmgr(1), FLAT FILE DUMP AND LOAD). It names QOS and does not describe them: commands such as `add qos high
priority=100` do, and may be in the same file, before or after.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

from batsched_py.errors import ConfigurationError
from batsched_py.slurm.accounts import Accounts, Association, Qos
from batsched_py.slurm.sacctmgr import apply_command, check_distinct, set_association
from batsched_py.text.display import displayed

_ENTRY: Final = re.compile(r"(Cluster|Parent|Account|User) - '([^']+)'(?::(.*))?")
_OPTION: Final = re.compile(r"(\w+)=('[^']*'|[^:]*)(?::|$)")
#: Options of a dump without effect on decisions.
_IGNORED: Final = frozenset(
    {"description", "organization", "adminlevel", "coordinator", "defaultwckey", "classification"}
)


class DumpReader:
    """Reader of one file; each fault is a `ConfigurationError` with file, line and rule."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._accounts = Accounts()
        self._parent = "root"
        #: Entries that were read: kind and name; for users, also the account.
        self._known: set[tuple[str, ...]] = set()

    def read(self, text: str) -> Accounts:
        """Return the accounts in this text."""
        for number, raw in enumerate(text.splitlines(), 1):
            line = raw.strip()
            if not line or line.startswith("#"):
                continue
            try:
                self._apply(line)
            except (ValueError, KeyError, IndexError) as error:
                rule = str(error) if isinstance(error, ValueError) else "must name what was added before"
                raise ConfigurationError(self._name, f"line {number}: {displayed(line)}", rule) from error
        self._add_named_qos()
        return self._accounts

    def _apply(self, line: str) -> None:
        entry = _ENTRY.fullmatch(line)
        if entry is None:
            apply_command(self._accounts, _command(line))
            return
        kind, name, options = entry[1], entry[2], _options(entry[3] or "")
        self._check_new(kind, name)
        if kind == "Parent":
            if name not in self._accounts.by_account:
                raise ValueError("must name an account that was described before")
            self._parent = name
        elif kind == "Account":
            set_association(self._account(name), options)
        elif kind == "User":
            self._add_user(name, options)
        else:
            set_association(self._accounts.root, [one for one in options if one[0] != "fairshare"])

    def _check_new(self, kind: str, name: str) -> None:
        """Refuse an entry that is there twice, and a second cluster."""
        if kind == "Parent":
            return
        entry = {"Account": (kind, name), "User": (kind, name, self._parent), "Cluster": (kind,)}[kind]
        if entry in self._known:
            raise ValueError("must be the only cluster" if kind == "Cluster" else "is there twice")
        self._known.add(entry)

    def _account(self, name: str) -> Association:
        """Return an account below the present one."""
        found = self._accounts.by_account.get(name) or self._accounts.add_account(name, self._parent)
        above = found.parent
        if above is not None and above.account != self._parent:
            raise ValueError(f"is below {displayed(above.account)}, and cannot be below {displayed(self._parent)}")
        return found

    def _add_user(self, name: str, options: list[tuple[str, str, str]]) -> None:
        accounts = self._accounts
        default = next((value for key, _, value in options if key == "defaultaccount"), None)
        known = accounts.by_user.get(name, [])
        found = next((one for one in known if one.account == self._parent), None) or accounts.add_user(
            name, self._parent
        )
        set_association(found, [one for one in options if one[0] != "defaultaccount"])
        if default == self._parent:  # the first is the default
            accounts.by_user[name].remove(found)
            accounts.by_user[name].insert(0, found)

    def _add_named_qos(self) -> None:
        """Add the QOS that a dump names and no command describes: they have no limits and no priority."""
        accounts = self._accounts
        for one in (*accounts.by_account.values(), *accounts.users()):
            for name in sorted({*one.qos, one.default_qos}):
                accounts.qos.setdefault(name, Qos(name))


def read_dump(name: str, text: str) -> Accounts:
    """Return the accounts in the text of a file of this name.

    Raises:
        ConfigurationError: a line is neither an entry nor a command, or its value breaks a rule, with file and line.
    """
    return DumpReader(name).read(text)


def _command(line: str) -> list[str]:
    words = [word for word in shlex.split(line) if word != "-i"]
    return words[1:] if words[:1] == ["sacctmgr"] else words


def _options(text: str) -> list[tuple[str, str, str]]:
    """Return the options of an entry: name in small letters, sign and value."""
    found, position = [], 0
    while position < len(text):
        match = _OPTION.match(text, position)
        if match is None:
            raise ValueError("must have options NAME=VALUE, separated by colons")
        position = match.end()
        found.append((match[1].lower(), "=", match[2].strip("'")))
    check_distinct(found)
    return [one for one in found if one[0] not in _IGNORED]
