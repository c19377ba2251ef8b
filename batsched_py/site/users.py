"""The users of a site: their names, groups, roles and tokens, of which a file keeps only hashes.

Tokens are made here, from 256 random bits, so that a fast hash (SHA-256) suffices: no list of likely tokens exists, and
a slow hash would let wrong tokens keep the site busy.
"""

from __future__ import annotations

import fcntl
import hmac
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import OptionError
from batsched_py.files.atomic_file import write_atomically
from batsched_py.text.display import displayed, displayed_line, shown

# The file is replaced as a whole, and only under its lock: a site that reads it at any moment sees all users or those
# of before, and of two commands at the same moment neither loses what the other wrote. A lock belongs to a file, not to
# its name, so that a command that waited for the lock of a replaced file opens the file again.
#
# A site reads the file anew when it has changed, and refuses all requests while it cannot be read: a user that was
# removed must not stay because of a mistake elsewhere in the file.

#: The role that may read and cancel what belongs to others, and control the site.
OPERATOR: Final = "operator"
Role = Literal["user", "operator"]
ROLES: Final[tuple[Role, ...]] = ("user", "operator")
#: The user of requests that name no user; the name is reserved.
LOCAL: Final = "local"
#: The longest name, in characters.
LONGEST_NAME: Final = 100
#: The largest quota.
MOST: Final = 10**9
#: The largest number of users, and the largest size of their file in bytes.
MOST_USERS: Final = 1000
_LARGEST: Final = 1 << 20
#: Random bytes of a token.
_TOKEN_BYTES: Final = 32
_HASH_DIGITS: Final = 64
_DIGITS: Final = frozenset("0123456789abcdef")


class UserQuotas(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The quotas of a user, or of all users of a group together; None for no quota.

    Attributes:
        hosts: machines of leases and jobs that have not ended.
        leases: leases and jobs that have not ended.
        experiments: experiments and reservations that were not deleted.
    """

    hosts: int | None = None
    leases: int | None = None
    experiments: int | None = None


#: No quotas.
UNLIMITED: Final = UserQuotas()


class SiteGroup(Struct, frozen=True, forbid_unknown_fields=True):
    """A group with quotas.

    Attributes:
        name: unique in the file.
        quotas: what its users may have together.
    """

    name: str
    quotas: UserQuotas


class SiteUser(Struct, frozen=True, forbid_unknown_fields=True):
    """A user of a site.

    Attributes:
        name: unique in the file.
        sha256: the hash of the user's token, in lower-case hexadecimal digits.
        group: the group whose members may read the user's requests; "" for none.
        role: user or operator.
        quotas: what the user may have.
    """

    name: str
    sha256: str
    group: str = ""
    role: Role = "user"
    quotas: UserQuotas = UNLIMITED


class UsersFile(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The content of a file of users: the users, and groups with quotas."""

    users: tuple[SiteUser, ...] = ()
    groups: tuple[SiteGroup, ...] = ()


class SiteUsers:
    """The users in a file, read anew when the file has changed. OptionError if it cannot be used.

    Args:
        path: the file; only its owner may have access.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        #: What identifies the content that was read: device, inode, size and times of the file.
        self._seen: tuple[int, ...] = ()
        self._users: tuple[tuple[bytes, SiteUser], ...] = ()
        self._groups: dict[str, UserQuotas] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read the file if it has changed. OptionError if it cannot be used; then there are no users until it can."""
        try:
            found = _version(self._path.stat())
            if found == self._seen:
                return
            self._seen, self._users = (), ()
            with _opened(self._path) as descriptor:
                found, content = _version(os.fstat(descriptor)), _read(self._path, descriptor)
        except OSError as error:
            self._seen, self._users = (), ()
            raise OptionError(f"{self._path}: cannot be read: {error.strerror or error}") from None
        self._seen, self._users = found, tuple((bytes.fromhex(one.sha256), one) for one in content.users)
        self._groups = {one.name: one.quotas for one in content.groups}

    def group_quotas(self, group: str) -> UserQuotas:
        """Return the quotas of a group."""
        return self._groups.get(group, UNLIMITED)

    def find(self, token: str) -> SiteUser | None:
        """Return the user of a token, or None.

        The time does not depend on which user it is, nor on how much of a hash agrees.
        """
        asked, found = _hash(token), None
        for known, user in self._users:
            if hmac.compare_digest(known, asked):
                found = user
        return found


def list_users(path: Path) -> UsersFile:
    """Return the users in a file and the groups with quotas, both ordered by name. OptionError."""
    try:
        with _opened(path) as descriptor:
            found = _read(path, descriptor)
        users = sorted(found.users, key=lambda one: one.name)
        return UsersFile(tuple(users), tuple(sorted(found.groups, key=lambda one: one.name)))
    except OSError as error:
        raise OptionError(f"{path}: cannot be read: {error.strerror or error}") from None


def add_user(path: Path, name: str, group: str, role: Role) -> str:
    """Add a user to a file, which is created if it is missing, and return the user's new token. OptionError."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    user = SiteUser(name, _hash(token).hex(), group, role)

    def add(content: UsersFile) -> UsersFile:
        if any(one.name == name for one in content.users):
            raise OptionError(f"{path}: user {shown(name)} exists already: remove it first for a new token")
        return replace(content, users=(*content.users, user))

    _check_user(user, "")
    _change(path, add, create=True)
    return token


def remove_user(path: Path, name: str) -> None:
    """Remove a user, whose token is refused from then on. OptionError if there is none."""

    def remove(content: UsersFile) -> UsersFile:
        left = [one for one in content.users if one.name != name]
        if len(left) == len(content.users):
            raise OptionError(f"{path}: there is no user {shown(name)}")
        return replace(content, users=tuple(left))

    _change(path, remove, create=False)


def set_user_quotas(path: Path, name: str, quotas: Mapping[str, int | None]) -> None:
    """Change quotas of a user, by name; None ends one. OptionError if there is no such user."""

    def change(content: UsersFile) -> UsersFile:
        if all(one.name != name for one in content.users):
            raise OptionError(f"{path}: there is no user {shown(name)}")
        users = (
            replace(one, quotas=replace(one.quotas, **quotas)) if one.name == name else one for one in content.users
        )
        return replace(content, users=tuple(users))

    _change(path, change, create=False)


def set_group_quotas(path: Path, name: str, quotas: Mapping[str, int | None]) -> None:
    """Change quotas of a group, by name; None ends one. OptionError if no user has this group."""

    def change(content: UsersFile) -> UsersFile:
        if all(one.group != name for one in content.users):
            raise OptionError(f"{path}: no user has the group {shown(name)}")
        known = {one.name: one.quotas for one in content.groups}
        known[name] = replace(known.get(name, UNLIMITED), **quotas)
        groups = (SiteGroup(group, some) for group, some in known.items() if some != UNLIMITED)
        return replace(content, groups=tuple(groups))

    _change(path, change, create=False)


def name_fault(name: str, *, required: bool = True) -> str:
    """Return the rule that the name of a user or a group violates; "" for none."""
    if required and not name:
        return "must not be empty"
    if len(name) > LONGEST_NAME or not name.isprintable() or "," in name or '"' in name:
        return f'must be printable text of at most {LONGEST_NAME} characters without , and "'
    return "must not begin or end with a blank" if name != name.strip() else ""


def _hash(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogateescape")).digest()


def _is_hash(text: str) -> bool:
    return len(text) == _HASH_DIGITS and _DIGITS.issuperset(text)


def _version(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _read(path: Path, descriptor: int) -> UsersFile:
    """Return the content of an open file, checked. OSError, OptionError."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise OptionError(f"{path}: must be a regular file")
    if status.st_uid not in (os.geteuid(), 0) or stat.S_IMODE(status.st_mode) & 0o077:
        raise OptionError(f"{path}: must belong to you, and only its owner may have access (chmod 600)")
    if status.st_size > _LARGEST:
        raise OptionError(f"{path}: has more than {_LARGEST} bytes")
    content = os.pread(descriptor, _LARGEST, 0)
    if not content:
        return UsersFile()  # just created
    try:
        found = msgspec.json.decode(content, type=UsersFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise OptionError(f"{path}: {displayed_line(str(error))}") from None
    if max(len(found.users), len(found.groups)) > MOST_USERS:
        raise OptionError(f"{path}: has more than {MOST_USERS} users or groups")
    _check(path, found.users)
    _check_groups(path, found.groups)
    return found


def _check(path: Path, users: Sequence[SiteUser]) -> None:
    names, hashes = set[str](), set[str]()
    for number, user in enumerate(users):
        place = f"{path}: users[{number}]."
        _check_user(user, place)
        if user.name in names:
            raise OptionError(f"{place}name: {displayed(user.name)} appears twice")
        if user.sha256 in hashes:
            raise OptionError(f"{place}sha256: two users have the same token")
        names.add(user.name)
        hashes.add(user.sha256)


def _check_groups(path: Path, groups: Sequence[SiteGroup]) -> None:
    names = set[str]()
    for number, group in enumerate(groups):
        place = f"{path}: groups[{number}]."
        fault = name_fault(group.name) or ("appears twice" if group.name in names else "")
        if fault:
            raise OptionError(f"{place}name: {fault}")
        _check_quotas(group.quotas, place)
        names.add(group.name)


def _check_quotas(quotas: UserQuotas, place: str) -> None:
    for member in quotas.__struct_fields__:
        value = getattr(quotas, member)
        if value is not None and not 0 <= value <= MOST:
            raise OptionError(f"{place}quotas.{member}: must be a whole number from 0 to {MOST}")


def _check_user(user: SiteUser, place: str) -> None:
    faults: dict[str, str] = {
        "name": f"must not be {LOCAL}, which is reserved" if user.name == LOCAL else name_fault(user.name),
        "group": name_fault(user.group, required=False),
        "sha256": "" if _is_hash(user.sha256) else f"must be {_HASH_DIGITS} hexadecimal digits in lower case",
    }
    for member, fault in faults.items():
        if fault:
            raise OptionError(f"{place}{member}: {fault}")
    _check_quotas(user.quotas, place)


def _change(path: Path, change: Callable[[UsersFile], UsersFile], *, create: bool) -> None:
    """Replace the users in a file. OptionError."""
    try:
        with _locked(path, create=create) as descriptor:
            content = change(_read(path, descriptor))
            if len(content.users) > MOST_USERS:
                raise OptionError(f"{path}: can have {MOST_USERS} users")
            write_atomically(path, msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n")
    except OSError as error:
        raise OptionError(f"{path}: {error.strerror or error}") from None


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe must not block the site
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _locked(path: Path, *, create: bool) -> Iterator[int]:
    """Open and lock the file that has this name once the lock is held; a new file is for its owner only."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0), 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            try:
                now = path.stat()
            except FileNotFoundError:
                continue
            if now.st_ino == os.fstat(descriptor).st_ino:
                yield descriptor
                return
        finally:
            os.close(descriptor)
