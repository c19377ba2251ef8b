"""Scripts that run several configurations, rendered from Haizea's templates (H86, H107).

Templates use a subset of Mako (https://www.makotemplates.org), which Haizea used: a loop over `configs`, and names in
`${...}`. Python code in them is not executed, so an untrusted template can only generate text.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from batsched_py.errors import ConfigurationError
from batsched_py.files.bounded_file import read_file, reported
from batsched_py.reading.limits import Limits
from batsched_py.text.display import shown

_FOR: Final = re.compile(r"for\s+\(?\s*(\w+)\s*,\s*(\w+)\s*\)?\s+in\s+configs\s*:")
_NAME: Final = re.compile(r"\$\{([^}]*)\}")
_VALUE: Final = re.compile(r"\s*(\w+)\s*(\|\s*sh\s*)?")

#: Numbered lines of a template.
_Lines = list[tuple[int, str]]


def read_template(path: Path, limits: Limits) -> str:
    """Read a template. ConfigurationError."""
    with reported(path, ConfigurationError):
        content = read_file(path, limits)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(str(path), "", f"must be text in UTF-8; byte {error.start} is not") from error


def render_script(template: str, file: str, configs: Sequence[tuple[str, Path]], folder: Path) -> str:
    """Return the script of these configurations, each a name and a file.

    Lines between `% for name, file in configs:` and `% endfor` are written for each configuration, `${name}` and
    `${file}` with its own; `${etcdir}` is the folder of the configurations; `${file | sh}` is quoted for a shell; lines
    that begin with `##` are left out. ConfigurationError names the file of the template, the line and the rule.
    """
    written = list[str]()
    loop: tuple[int, str, str] | None = None
    inside: _Lines = []
    for number, line in enumerate(template.splitlines(keepends=True), start=1):
        text = line.strip()
        if text.startswith("##"):
            continue
        if text.startswith("<%") or (text.startswith("%") and not text.startswith("%%")):
            statement = text[1:].strip()
            found = _FOR.fullmatch(statement)
            if found is not None and loop is None:
                loop, inside = (number, found[1], found[2]), []
            elif statement == "endfor" and loop is not None:
                written += _repeated(inside, file, loop[1:], configs, folder)
                loop = None
            else:
                raise _error(file, number, f"must be % for name, file in configs: or its % endfor, not {shown(text)}")
        elif loop is not None:
            inside.append((number, line))
        else:
            written.append(_filled(file, number, line, {"etcdir": str(folder)}))
    if loop is not None:
        raise _error(file, loop[0], "has no % endfor")
    return "".join(written)


def _repeated(
    lines: _Lines, file: str, names: tuple[str, str], configs: Sequence[tuple[str, Path]], folder: Path
) -> list[str]:
    return [
        _filled(file, number, line, {"etcdir": str(folder), names[0]: name, names[1]: str(config)})
        for name, config in configs or [("", Path())]
        for number, line in lines
    ][: len(lines) * len(configs)]  # without configurations, the lines are still checked


def _filled(file: str, number: int, line: str, values: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        inner = _VALUE.fullmatch(found[1])
        if inner is None or inner[1] not in values:
            raise _error(file, number, f"must be one of {', '.join(values)} (| sh quotes it), not {shown(found[0])}")
        text = values[inner[1]]
        return shlex.quote(text) if inner[2] else text

    stripped = line.lstrip()
    if stripped.startswith("%%"):  # an escaped percent sign
        line = line[: len(line) - len(stripped)] + stripped[1:]
    return _NAME.sub(value, line)


def _error(file: str, number: int, rule: str) -> ConfigurationError:
    return ConfigurationError(file, f"line {number}", rule)
