"""Names of input files in texts for others."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.campaigns.methods.path_names import PathNames


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/me/study/logs/a.swf", "logs/a.swf"),
        ("/home/me/study/../a.swf", "../a.swf"),
        ("/data/a.swf", "a.swf"),
        ("/data/mine.py:Mine", "mine.py:Mine"),
        ("platforms/cluster32.xml", "platforms/cluster32.xml"),
        ("lublin:jobs=3", "lublin:jobs=3"),
    ],
)
def test_a_file_has_no_absolute_path(path: str, name: str) -> None:
    """Below the folder it has the path from there."""
    assert PathNames("/home/me/study").of(path) == name


def test_a_relative_folder_is_not_shown_either() -> None:
    """As if the study was named from its own folder."""
    assert PathNames("study").of("study/a.swf") == "a.swf"
    assert PathNames("study").of(str(Path("study/a.swf").absolute())) == "a.swf"
    assert PathNames("").of("study/a.swf") == "study/a.swf"
    for text in ("", "a//b", "study"):
        assert PathNames(".").of(text) == text


def test_errors_name_files_likewise() -> None:
    """Known ones, the longest first, and others in the folder."""
    names = PathNames.below(Path("/home/me/study"), [Path("/data/p.xml"), Path("/data/p.xml.gz"), "site.swf"])
    assert names.text("/data/p.xml.gz: and /data/p.xml: faulty") == "p.xml.gz: and p.xml: faulty"
    assert names.text("in /home/me/study/mine.py, site.swf") == "in mine.py, site.swf"
