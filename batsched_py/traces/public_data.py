"""A catalogue of public data on jobs: where it is, who is to be cited, and the command that converts it.

The entries are in `public_data.json`, which states only facts that the pages of the data state; nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

from batsched_py.errors import OptionError
from batsched_py.text.display import shown
from batsched_py.text.wording import unknown

_FILE: Final = Path(__file__).with_name("public_data.json")


class Citation(Struct, frozen=True, forbid_unknown_fields=True):
    """A publication.

    Attributes:
        key: its key in a bibliography.
        type: its type in BibTeX.
        fields: field of BibTeX -> its text.
    """

    key: str
    type: Literal["article", "inproceedings", "misc"]
    fields: Mapping[str, str]

    @property
    def bibtex(self) -> str:
        """The entry for a bibliography."""
        lines = [f"  {name} = {{{text}}}," for name, text in self.fields.items()]
        return "\n".join([f"@{self.type}{{{self.key},", *lines, "}"])


class PublicData(Struct, frozen=True, forbid_unknown_fields=True):
    """Data on jobs that is published.

    Attributes:
        name: name in options.
        title: the data.
        system: the machine.
        period: the time of its jobs; "" if unknown.
        jobs: number of jobs; None if unknown.
        address: the page of the data.
        file: name of the file that the command reads; "" without a command for one.
        terms: licence, or what the page asks for.
        citations: keys of publications.
        command: what follows `batsched-py` to convert it; "" for formats that are not read.
        sha256: SHA-256 of the file; "" if unknown.
    """

    name: str
    title: str
    system: str
    period: str
    jobs: int | None
    address: str
    file: str
    terms: str
    citations: tuple[str, ...]
    command: str
    sha256: str = ""


class _Catalogue(Struct, frozen=True, forbid_unknown_fields=True):
    datasets: tuple[PublicData, ...]
    citations: tuple[Citation, ...]


@cache
def _catalogue() -> _Catalogue:
    return msgspec.json.decode(_FILE.read_bytes(), type=_Catalogue)


def public_data() -> Mapping[str, PublicData]:
    """Return name -> data, in the order of the catalogue."""
    return {data.name: data for data in _catalogue().datasets}


def find_data(name: str) -> PublicData:
    """Return the data of this name. OptionError for a name that there is not."""
    found = public_data().get(name)
    if found is None:
        raise OptionError(f"{shown(name)} is {unknown(name, public_data())}")
    return found


def citations_of(*chosen: PublicData) -> tuple[Citation, ...]:
    """Return the publications to cite for these data, each once."""
    wanted = {key for data in chosen for key in data.citations}
    return tuple(citation for citation in _catalogue().citations if citation.key in wanted)
