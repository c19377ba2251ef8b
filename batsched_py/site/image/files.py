"""The file of an image: a header with hashes of all that the state follows from, and the state."""

from __future__ import annotations

import hashlib
import os
import platform
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
import orjson
from msgspec import Struct

import batsched_py
from batsched_py.builds import code_digest, describe_build
from batsched_py.files.atomic_file import write_pieces_atomically
from batsched_py.site.image.columns import StateColumns

#: The version of the format.
FORM: Final = 1
#: The largest file that is read, in bytes.
_LARGEST: Final = 1 << 31


class Past(Struct, frozen=True):
    """The past that a state follows from.

    Attributes:
        requests: the number of requests in the journal that have been taken.
        journal: the chained hash of the last of them, in hexadecimal digits.
        exchanges: the number of exchanges in the transcript.
        size: the bytes of the transcript up to the end of the last one.
        transcript: the SHA-256 of these bytes.
    """

    requests: int
    journal: str
    exchanges: int
    size: int
    transcript: str


class ImageHeader(Struct, frozen=True, forbid_unknown_fields=True):
    """The first line of an image.

    Attributes:
        form: the version of the format.
        program: a hash of version, code and build of batsched-py, and the version of Python.
        site: a hash of the properties of the site.
        made: a hash of the objects that a start makes.
        past: what the state follows from.
        content: the SHA-256 of the second line.
    """

    form: int
    program: str
    site: str
    made: str
    past: Past
    content: str


class ImageContent(Struct, frozen=True):
    """The second line of an image.

    Attributes:
        state: the state.
        notes: what the site knows besides.
    """

    state: StateColumns
    notes: dict[str, Any]


class UnusableImageError(Exception):
    """An image that cannot be used; the message says why."""


def is_as_loaded(since: float) -> bool:
    """Return whether no file of batsched-py was changed after a time: what runs is what is on disk."""
    root = os.path.dirname(batsched_py.__file__)
    paths = (os.path.join(folder, name) for folder, _, names in os.walk(root, followlinks=True) for name in names)
    try:
        return all(os.stat(path).st_mtime <= since for path in paths if path.endswith((".py", ".so")))
    except OSError:
        return False


@cache
def program() -> str:
    """Return a hash of all code that may affect the state of a site, as it is on disk."""
    digest = hashlib.sha256(code_digest().encode())
    root = Path(batsched_py.__file__).parent / "site"
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    digest.update(f"{batsched_py.__version__} {describe_build()} {platform.python_version()}".encode())
    return digest.hexdigest()


def remove_halves(path: Path) -> None:
    """Remove what processes that were killed have left of images."""
    for half in path.parent.glob(f".{path.name}.*"):
        half.unlink(missing_ok=True)


def write_image(path: Path, header: ImageHeader, content: bytes) -> None:
    """Replace the file of an image, as a whole or not at all; only its owner may read it. OSError."""
    first = orjson.dumps(msgspec.to_builtins(header))
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))  # the new file gets its permissions
    write_pieces_atomically(path, (first, b"\n", content, b"\n"), synced=True)


def read_image(path: Path, site: str, made: str) -> tuple[ImageHeader, ImageContent] | None:
    """Return header and state of an image; None if there is none. UnusableImageError.

    Args:
        path: the file.
        site: a hash of the properties of the site.
        made: a hash of the objects that the start of this site has made.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise UnusableImageError("is too large")
        with path.open("rb") as file:
            first, rest = file.readline(), file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnusableImageError(f"cannot be read: {error.strerror or error}") from error
    if not first and not rest:
        return None  # the site was killed when it wrote the first one
    try:
        header = msgspec.json.decode(first, type=ImageHeader)
    except msgspec.DecodeError as error:
        raise UnusableImageError("is damaged, or of another version of batsched-py") from error
    if header.form != FORM or header.program != program():
        raise UnusableImageError("was written by another version of batsched-py")
    if header.site != site or header.made != made:
        raise UnusableImageError("is of another site")
    if not rest.endswith(b"\n") or hashlib.sha256(memoryview(rest)[:-1]).hexdigest() != header.content:
        raise UnusableImageError("is damaged")
    return header, _content(rest)


def _content(line: bytes) -> ImageContent:
    """Return the content of the second line. UnusableImageError."""
    try:
        content = msgspec.json.decode(line, type=ImageContent)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UnusableImageError("is damaged") from error
    state = content.state
    if sum(abs(group.count) for group in (*state.made, *state.new, *state.fixed)) > len(line):
        raise UnusableImageError("is damaged")  # nearly each object has a value in a column, of a byte at least
    return content
