"""Syntax of Haizea's configuration files: sections in brackets, and options with a colon or an equals sign."""

from __future__ import annotations

from collections.abc import Mapping
from configparser import (
    DuplicateOptionError,
    DuplicateSectionError,
    MissingSectionHeaderError,
    ParsingError,
    RawConfigParser,
)
from io import StringIO
from pathlib import Path
from typing import Final

from batsched_py.errors import ConfigurationError
from batsched_py.files.bounded_file import read_file, reported
from batsched_py.reading.limits import Limits
from batsched_py.text.display import shown

#: Section -> option -> its text, as in the file.
Sections = Mapping[str, Mapping[str, str]]

#: Maximum size of a file in bytes, more than enough for files written by hand.
_MOST: Final = 1_000_000


def read_sections(path: Path, limits: Limits) -> Sections:
    """Read a file. ConfigurationError names an invalid line."""
    with reported(path, ConfigurationError):
        content = read_file(path, limits)
    if len(content) > _MOST:
        raise ConfigurationError(str(path), "", f"must be at most {_MOST} bytes, not {len(content)}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(str(path), "", f"must be text in UTF-8; byte {error.start} is not") from error
    return parse_sections(text, str(path))


def parse_sections(text: str, file: str) -> Sections:
    """Read the text of a file; `file` is its name in errors.

    Names of options are case-insensitive. [DEFAULT] is an ordinary section, without an effect on others.
    """
    parser = RawConfigParser(inline_comment_prefixes=(";",), default_section="", empty_lines_in_values=False)
    try:
        parser.read_file(StringIO(text.replace("\0", "\N{REPLACEMENT CHARACTER}")))
    except MissingSectionHeaderError as error:
        rule = "must begin with a section, like [general]"
        raise ConfigurationError(file, f"line {error.lineno}", rule) from error
    except DuplicateSectionError as error:
        rule = "is given twice"
        raise ConfigurationError(file, f"line {error.lineno}: section {shown(error.section)}", rule) from error
    except DuplicateOptionError as error:
        field = f"line {error.lineno}: {error.section}.{error.option}"
        raise ConfigurationError(file, field, "is given twice") from error
    except ParsingError as error:
        line, _ = error.errors[0]
        rule = "must be a section like [general], or an option like mode: simulated"
        raise ConfigurationError(file, f"line {line}", rule) from error
    return {section: dict(parser.items(section)) for section in parser.sections()}


def format_sections(sections: Sections) -> str:
    """Return the text of these sections for `parse_sections`."""
    return "\n".join(
        "".join((f"[{section}]\n", *(f"{name}: {text}\n" for name, text in options.items())))
        for section, options in sections.items()
    )
