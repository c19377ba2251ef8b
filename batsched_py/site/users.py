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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

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
#: The largest number of users, and the largest size of their file in bytes.
MOST_USERS: Final = 1000
_LARGEST: Final = 1 << 20
#: Random bytes of a token.
_TOKEN_BYTES: Final = 32
_HASH_DIGITS: Final = 64
_DIGITS: Final = frozenset("0123456789abcdef")


class SiteUser(Struct, frozen=True, forbid_unknown_fields=True):
    """A user of a site.

    Attributes:
        name: unique in the file.
        sha256: the hash of the user's token, in lower-case hexadecimal digits.
        group: the group whose members may read the user's requests; "" for none.
        role: user or operator.
    """

    name: str
    sha256: str
    group: str = ""
    role: Role = "user"


class _Content(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a file of users."""

    users: tuple[SiteUser, ...] = ()


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
        self.refresh()

    def refresh(self) -> None:
        """Read the file if it has changed. OptionError if it cannot be used; then there are no users until it can."""
        try:
            found = _version(self._path.stat())
            if found == self._seen:
                return
            self._seen, self._users = (), ()
            with _opened(self._path) as descriptor:
                found, users = _version(os.fstat(descriptor)), _read(self._path, descriptor)
        except OSError as error:
            self._seen, self._users = (), ()
            raise OptionError(f"{self._path}: cannot be read: {error.strerror or error}") from None
        self._seen, self._users = found, tuple((bytes.fromhex(one.sha256), one) for one in users)

    def find(self, token: str) -> SiteUser | None:
        """Return the user of a token, or None.

        The time does not depend on which user it is, nor on how much of a hash agrees.
        """
        asked, found = _hash(token), None
        for known, user in self._users:
            if hmac.compare_digest(known, asked):
                found = user
        return found


def list_users(path: Path) -> tuple[SiteUser, ...]:
    """Return the users in a file, ordered by name. OptionError."""
    try:
        with _opened(path) as descriptor:
            return tuple(sorted(_read(path, descriptor), key=lambda one: one.name))
    except OSError as error:
        raise OptionError(f"{path}: cannot be read: {error.strerror or error}") from None


def add_user(path: Path, name: str, group: str, role: Role) -> str:
    """Add a user to a file, which is created if it is missing, and return the user's new token. OptionError."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    user = SiteUser(name, _hash(token).hex(), group, role)

    def add(users: Sequence[SiteUser]) -> Sequence[SiteUser]:
        if any(one.name == name for one in users):
            raise OptionError(f"{path}: user {shown(name)} exists already: remove it first for a new token")
        return (*users, user)

    _check_user(user, "")
    _change(path, add, create=True)
    return token


def remove_user(path: Path, name: str) -> None:
    """Remove a user, whose token is refused from then on. OptionError if there is none."""

    def remove(users: Sequence[SiteUser]) -> Sequence[SiteUser]:
        left = [one for one in users if one.name != name]
        if len(left) == len(users):
            raise OptionError(f"{path}: there is no user {shown(name)}")
        return left

    _change(path, remove, create=False)


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


def _read(path: Path, descriptor: int) -> tuple[SiteUser, ...]:
    """Return the users in an open file, checked. OSError, OptionError."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise OptionError(f"{path}: must be a regular file")
    if found.st_uid not in (os.geteuid(), 0) or stat.S_IMODE(found.st_mode) & 0o077:
        raise OptionError(f"{path}: must belong to you, and only its owner may have access (chmod 600)")
    if found.st_size > _LARGEST:
        raise OptionError(f"{path}: has more than {_LARGEST} bytes")
    content = os.pread(descriptor, _LARGEST, 0)
    if not content:
        return ()  # just created
    try:
        users = msgspec.json.decode(content, type=_Content).users
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise OptionError(f"{path}: {displayed_line(str(error))}") from None
    if len(users) > MOST_USERS:
        raise OptionError(f"{path}: has more than {MOST_USERS} users")
    _check(path, users)
    return users


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


def _check_user(user: SiteUser, place: str) -> None:
    faults: dict[str, str] = {
        "name": f"must not be {LOCAL}, which is reserved" if user.name == LOCAL else name_fault(user.name),
        "group": name_fault(user.group, required=False),
        "sha256": "" if _is_hash(user.sha256) else f"must be {_HASH_DIGITS} hexadecimal digits in lower case",
    }
    for member, fault in faults.items():
        if fault:
            raise OptionError(f"{place}{member}: {fault}")


def _change(path: Path, change: Callable[[Sequence[SiteUser]], Sequence[SiteUser]], *, create: bool) -> None:
    """Replace the users in a file. OptionError."""
    try:
        with _locked(path, create=create) as descriptor:
            users = _Content(tuple(change(_read(path, descriptor))))
            if len(users.users) > MOST_USERS:
                raise OptionError(f"{path}: can have {MOST_USERS} users")
            write_atomically(path, msgspec.json.format(msgspec.json.encode(users), indent=1) + b"\n")
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
