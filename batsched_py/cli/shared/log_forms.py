"""The format of a log or a trace on the command line: detected from the content, or from the name of a pipe."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from batsched_py.cli.shared.command import current_limits
from batsched_py.traces.log_format import LogFormat, format_of

SWF, SACCT, JSON, LWF = "swf", "sacct", "json", "lwf"
_FORMS: Final = {LogFormat.SACCT: SACCT, LogFormat.JSON: JSON, LogFormat.XML: LWF}
#: Endings of lease traces read from a pipe, which cannot be read twice.
_LWF_ENDINGS: Final = (".lwf", ".xml", ".lwf.gz", ".xml.gz")


def form_of_log(path: Path) -> str:
    """Return SWF, SACCT, JSON or LWF; SWF for other content. WorkloadError if the file cannot be read."""
    if path.is_file():
        found = format_of(path, current_limits())
        return SWF if found is None else _FORMS.get(found, SWF)
    return JSON if path.name.endswith(".json") else LWF if path.name.endswith(_LWF_ENDINGS) else SWF
