"""Image files (H65)."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.model.lease_terms import DiskImage
from batsched_py.reading.limits import Limits
from batsched_py.traces.image_file import ImageList, read_images


def read(tmp_path: Path, text: str, limits: Limits = Limits()) -> ImageList:  # noqa: B008  # frozen
    """The images of this text."""
    path = tmp_path / "images.txt"
    path.write_text(text)
    return read_images(path, limits=limits)


def test_images(tmp_path: Path) -> None:
    """Sizes stand above the line that begins with #, below it the image of each lease; blank lines are nothing."""
    images = read(tmp_path, "a.img 640\nb.img 1024\n\n# leases\nb.img\n  a.img\r\nb.img\n")
    assert images.images == (DiskImage("b.img", 1024), DiskImage("a.img", 640), DiskImage("b.img", 1024))


def test_number_of_leases(tmp_path: Path) -> None:
    """Too few are an error, those left over are counted."""
    images = read(tmp_path, "a 1\n#\na\na\n")
    assert [images.left_over(leases) for leases in (0, 2)] == [2, 0]
    with pytest.raises(WorkloadError, match=r"images\.txt: must name an image for each lease; it names 2 images for 3"):
        images.left_over(3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1\n#\na\nb\n", "line 4: must be one of the images above the #, not 'b'"),
        ("a 1\nb\n#\n", "line 2: must be the name of an image and its size, a whole number of MB from 1, not 'b'"),
        ("a 0\n#\n", "line 1: must be the name of an image and its size"),
        ("a 1.5\n#\n", "line 1: must be the name of an image and its size"),
        ("a 9999999999999999\n#\n", "line 1: must be the name of an image and its size"),
        ("a 1\na 2\n#\n", "line 2: names 'a' twice"),
        ("a,b 1\n#\n", "line 1: must have no comma"),
        ("a 1\n", "must have a line that begins with #"),
        ("", "must have a line that begins with #"),
    ],
)
def test_broken_rules(tmp_path: Path, text: str, message: str) -> None:
    """One line names the file, its line and the rule."""
    with pytest.raises(WorkloadError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'images.txt'}: {message}")


def test_limits(tmp_path: Path) -> None:
    """Leases, names and the file are limited."""
    for limits, message in (
        (Limits(jobs=1), r"line 4: must be at most 1 jobs"),
        (Limits(name_size=3), "line 1: must be at most 3 characters in a name"),
        (Limits(line_size=5), "line 1: must be at most 5 bytes in a line"),
    ):
        with pytest.raises(WorkloadError, match=message):
            read(tmp_path, "a.img 1\n#\na.img\na.img\n", limits)
