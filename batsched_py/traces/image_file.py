"""Reader of Haizea's image files: sizes of images, then a line that begins with #, then the image of each lease."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_lines, reported
from batsched_py.model.lease_terms import DiskImage
from batsched_py.reading.limits import LIMITS, NAME_RULE, Limits, breaks_csv
from batsched_py.text.display import shown
from batsched_py.text.representation import Brief
from batsched_py.text.wording import counted

#: Maximum number of digits of a size in MB.
_MOST_DIGITS: Final = 15


class ImageList(Brief, frozen=True):
    """The images of leases, in submission order of the leases.

    Attributes:
        source: its file, for messages.
        images: one for each lease.
    """

    source: str
    images: tuple[DiskImage, ...]

    def left_over(self, leases: int) -> int:
        """Return the number of images for which there is no lease; WorkloadError if there are too few."""
        if len(self.images) < leases:
            named = counted(len(self.images), "image")
            raise WorkloadError(self.source, "", f"must name an image for each lease; it names {named} for {leases}")
        return len(self.images) - leases


def read_images(path: Path, *, limits: Limits = LIMITS) -> ImageList:
    """Read an image file; WorkloadError names the file, the line and the rule that is broken."""
    sizes: dict[str, int] = {}
    images: list[DiskImage] | None = None
    for number, text in _read_lines(path, limits):
        try:
            if text.startswith("#"):
                images = [] if images is None else images
            elif images is None:
                name, size = _read_size(text, limits)
                if name in sizes:
                    raise ValueError(f"names {shown(name)} twice")
                sizes[name] = size
            else:
                if text not in sizes:
                    raise ValueError(f"must be one of the images above the #, not {shown(text)}")
                images.append(DiskImage(text, sizes[text]))
                limits.check("jobs", len(images))
        except ValueError as error:
            raise WorkloadError(str(path), f"line {number}", str(error)) from None
    if images is None:
        raise WorkloadError(str(path), "", "must have a line that begins with #, below which each lease has its image")
    return ImageList(str(path), tuple(images))


def _read_lines(path: Path, limits: Limits) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, and their numbers, from 1."""
    number = 0
    with reported(path, WorkloadError, lambda: f"line {number + 1}"):
        for line in read_lines(path, limits):
            number += 1
            text = line.decode(errors="replace").strip()
            if text:
                yield number, text


def _read_size(text: str, limits: Limits) -> tuple[str, int]:
    """Read "image size"; ValueError names the rule."""
    name, _, size = (part.strip() for part in text.rpartition(" "))
    if not (name and size.isascii() and size.isdecimal() and len(size) <= _MOST_DIGITS and int(size) > 0):
        raise ValueError(f"must be the name of an image and its size, a whole number of MB from 1, not {shown(text)}")
    if breaks_csv(name):
        raise ValueError(f"{NAME_RULE}, not {shown(name)}")
    limits.check("name_size", len(name))
    return name, int(size)
