"""Configurations for several runs, combined from profiles, traces and injections in one file (H86).

B. Sotomayor, "The Haizea manual", 2009, section "Running multiple unattended simulations".
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from batsched_py.errors import ConfigurationError
from batsched_py.haizea.config import HaizeaConfig
from batsched_py.haizea.config_options import Refuse
from batsched_py.haizea.ini import Sections, format_sections, read_sections
from batsched_py.haizea.options import SECTIONS
from batsched_py.haizea.reader import make_config
from batsched_py.haizea.values import TRACE
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import did_you_mean

#: The section of files and folders, and the prefix of sections that all profiles share.
MULTI: Final = "multi"
COMMON: Final = "common"
#: Option of [multi] -> whether it is required.
MULTI_OPTIONS: Final = {
    "tracedir": True,
    "tracefiles": True,
    "injectiondir": False,
    "injectionfiles": False,
    "datadir": True,
}
#: Options of Haizea 1.1 that have no effect.
_ANNOTATIONS: Final = ("annotationdir", "annotationfiles")
#: The manual's spelling of it.
_OLDER: Final = {"basedatadir": "datadir"}
#: Characters of names of profiles and traces: names of files and shell commands can have them without quotes.
_NAME: Final = re.compile(r"[\w+=@%,-][\w.+=@%,-]*", re.ASCII)
#: Section -> options that [multi] sets for all.
_SET_HERE: Final = {"tracefile": ("tracefile", "injectionfile"), "accounting": ("datafile",)}
#: Maximum number of configurations in one file.
_MOST: Final = 100_000


@dataclass(frozen=True, slots=True)
class SingleConfiguration:
    """One of the configurations.

    Attributes:
        name: profile_trace, or profile_trace+injection.
        profile: its name.
        trace, injection: files of requests, from the current folder; there may be no injection.
        datafile: the file that the run will write, from the current folder.
        sections: its options, with paths relative to its folder.
    """

    name: str
    profile: str
    trace: Path
    injection: Path | None
    datafile: Path
    sections: Sections

    @property
    def file_name(self) -> str:
        """The name of its file."""
        return f"{self.name}.conf"

    @property
    def text(self) -> str:
        """The content of its file."""
        return format_sections(self.sections)


@dataclass(frozen=True, slots=True)
class MultiConfiguration:
    """A configuration for several runs. Paths in it are from the folder of its file.

    Attributes:
        file: the file that was read.
        profiles: name -> its options, including the common ones.
        traces, injections: files of requests.
        data_folder: folder of the files that runs write.
        notes: sentences about ignored options.
    """

    file: Path
    profiles: Mapping[str, Sections]
    traces: tuple[Path, ...]
    injections: tuple[Path, ...]
    data_folder: Path
    notes: tuple[str, ...] = ()

    def singles(self, folder: Path) -> Iterator[SingleConfiguration]:
        """Iterate over the configurations for files in `folder`: for each profile, trace, and injection or none."""
        for profile, sections in self.profiles.items():
            for trace in self.traces:
                for injection in (None, *self.injections):
                    yield self._single(profile, sections, trace, injection, folder)

    def configs(self, limits: Limits = LIMITS) -> Iterator[tuple[SingleConfiguration, HaizeaConfig]]:
        """Iterate over the configurations and their parsed forms, in the folder of this file. ConfigurationError."""
        folder = self.file.parent
        for single in self.singles(folder):
            refuse = _in_profile(self.file, single.profile, {})
            yield single, make_config(folder / single.file_name, single.sections, refuse, limits)

    def _single(
        self, profile: str, shared: Sections, trace: Path, injection: Path | None, folder: Path
    ) -> SingleConfiguration:
        name = f"{profile}_{_base(trace)}" + (f"+{_base(injection)}" if injection is not None else "")
        datafile, here = self.data_folder / f"{name}.dat", self.file.parent
        sections = {
            section: {name: text for name, text in options.items() if name not in _SET_HERE.get(section, ())}
            for section, options in shared.items()
        }
        traces = sections.setdefault("tracefile", {})
        traces["tracefile"] = self._from(trace, folder)
        if injection is not None:
            traces["injectionfile"] = self._from(injection, folder)
        attributes = {
            "profile": profile,
            "tracefile": trace.name,
            "injectfile": injection.name if injection is not None else "none",
        }
        accounting = sections.setdefault("accounting", {})
        accounting["datafile"] = self._from(datafile, folder)
        given_attributes = [accounting["attributes"]] if accounting.get("attributes") else []
        accounting["attributes"] = ",".join(
            [*(f"{key}={value}" for key, value in attributes.items()), *given_attributes]
        )
        injected = None if injection is None else here / injection
        return SingleConfiguration(name, profile, here / trace, injected, here / datafile, sections)

    def _from(self, file: Path, folder: Path) -> str:
        """Return a path relative to a folder; absolute paths do not change."""
        return str(file) if file.is_absolute() else os.path.relpath(self.file.parent / file, folder)


def read_multi(path: Path, limits: Limits = LIMITS) -> MultiConfiguration:
    """Read a configuration for several runs, and check each profile. ConfigurationError names file, option and rule.

    Its paths are relative to its folder; profiles keep the order in which they first appear.
    """
    sections = read_sections(path, limits)
    options = _multi_options(path, sections)
    profiles = _profiles(path, sections)
    traces = _files(path, options, "tracefiles", options["tracedir"])
    injections = tuple[Path, ...]()
    if options.get("injectionfiles", "").strip():
        if "injectiondir" not in options:
            raise _error(path, MULTI, "injectiondir", "is required with injectionfiles")
        injections = _files(path, options, "injectionfiles", options["injectiondir"])
    notes = [
        f"[{section}] {name}: is ignored, because [{MULTI}] sets it"
        for section, given in sections.items()
        for name in _SET_HERE.get(section.partition(":")[2], ())
        if name in given
    ]
    notes += [
        f"[{MULTI}] {name}: is ignored: annotations of leases are not read"
        for name in _ANNOTATIONS
        if name in sections[MULTI]
    ]
    found = MultiConfiguration(path, profiles, traces, injections, Path(options["datadir"]).expanduser(), tuple(notes))
    if len(profiles) * len(traces) * (1 + len(injections)) > _MOST:
        raise _error(path, MULTI, "tracefiles", f"must make at most {_MOST} configurations")
    _check(found, sections, limits)
    return found


def _check(multi: MultiConfiguration, sections: Sections, limits: Limits) -> None:
    """Check names, which must differ, and one configuration of each profile."""
    names, checked = set[str](), set[str]()
    for single in multi.singles(multi.file.parent):
        if single.name in names:
            rule = f"makes two configurations named {displayed(single.name)}"
            raise _error(multi.file, MULTI, "tracefiles", rule)
        names.add(single.name)
        if single.profile not in checked:
            checked.add(single.profile)
            refuse = _in_profile(multi.file, single.profile, sections)
            make_config(multi.file.parent / single.file_name, single.sections, refuse, limits)


def _multi_options(path: Path, sections: Sections) -> dict[str, str]:
    """Return the options of [multi] by their current names."""
    if MULTI not in sections:
        raise _error(path, MULTI, "", "is required")
    options = dict[str, str]()
    for given, text in sections[MULTI].items():
        if given in _ANNOTATIONS:
            continue
        name = _OLDER.get(given, given)
        if name not in MULTI_OPTIONS:
            suggestion = did_you_mean(name, MULTI_OPTIONS) or f"there are: {', '.join(MULTI_OPTIONS)}"
            raise _error(path, MULTI, given, f"unknown option; {suggestion}")
        if name in options:
            raise _error(path, MULTI, given, "is another spelling of datadir, which is also given")
        options[name] = text
    for name, required in MULTI_OPTIONS.items():
        if required and not options.get(name, "").strip():
            raise _error(path, MULTI, name, "is required")
    return options


def _profiles(path: Path, sections: Sections) -> dict[str, Sections]:
    """Return the options of each profile, including the common ones."""
    common = dict[str, dict[str, str]]()
    own = dict[str, dict[str, dict[str, str]]]()
    for title, options in sections.items():
        if title == MULTI:
            continue
        profile, colon, section = title.partition(":")
        if not colon or section not in SECTIONS:
            suggestion = did_you_mean(section, SECTIONS) if colon else ""
            rule = f"must be [{MULTI}], [{COMMON}:SECTION] or [PROFILE:SECTION] with a section of a configuration"
            raise _error(path, title, "", f"{rule}; {suggestion}" if suggestion else rule)
        if _NAME.fullmatch(profile) is None:
            rule = f"must name a profile that consists of letters, digits and + - _ . = @ %, not {shown(profile)}"
            raise _error(path, title, "", rule)
        if profile == COMMON:
            common[section] = dict(options)
        else:
            own.setdefault(profile, {})[section] = dict(options)
    if not own:
        raise _error(path, "PROFILE:SECTION", "", "is required: there is no profile")
    return {
        profile: {
            section: {**common.get(section, {}), **given.get(section, {})}
            for section in SECTIONS
            if section in common or section in given
        }
        for profile, given in own.items()
    }


def _files(path: Path, options: Mapping[str, str], name: str, folder: str) -> tuple[Path, ...]:
    files = tuple(Path(folder).expanduser() / file for file in options[name].split())
    for file in files:
        if _NAME.fullmatch(file.name) is None:
            rule = f"must be files whose names consist of letters, digits and + - _ . = @ %, not {shown(file.name)}"
            raise _error(path, MULTI, name, rule)
        try:
            TRACE.read(file.name)
        except ValueError as error:
            raise _error(path, MULTI, name, str(error)) from error
    return files


def _base(file: Path) -> str:
    """Return the name of a file without its extension; .gz does not count as one."""
    return Path(file.name.removesuffix(".gz")).stem


def _in_profile(path: Path, profile: str, sections: Sections) -> Refuse:
    """Return the function that creates errors of a profile; its other options are in the common sections."""

    def refuse(section: str, name: str, rule: str) -> ConfigurationError:
        title, common = f"{profile}:{section}", f"{COMMON}:{section}"
        shared = name not in sections.get(title, {}) and name in sections.get(common, {})
        return _error(path, common if shared else title, name, rule)

    return refuse


def _error(path: Path, section: str, name: str, rule: str) -> ConfigurationError:
    place = f"[{section}] {name}".rstrip()
    return ConfigurationError(str(path), displayed(place), rule)
