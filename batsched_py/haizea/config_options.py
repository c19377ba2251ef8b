"""Options of a configuration file, checked against the table, with defaults for missing ones (H75, H96)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from batsched_py.errors import ConfigurationError
from batsched_py.haizea.ini import Sections
from batsched_py.haizea.options import FOREIGN, OLDER, OPTIONS, SECTIONS, Option, When
from batsched_py.text.display import displayed
from batsched_py.text.wording import did_you_mean

_BY_KEY: Final[Mapping[str, Option]] = {option.key: option for option in OPTIONS}

#: Creates an error from the section, the option and the broken rule; "" as option for a whole section.
Refuse = Callable[[str, str, str], ConfigurationError]


class ConfigOptions:
    """Values of all options by their keys, like "scheduling.backfilling".

    Args:
        sections: sections of the file.
        refuse: creates errors; not the default if the sections have other names in the file.

    Raises ConfigurationError for the first section or option that is unknown, missing or invalid.
    """

    def __init__(self, sections: Sections, refuse: Refuse) -> None:
        self._refuse = refuse
        self._texts: dict[str, str] = {}
        #: Option -> section and name by which it is given.
        self._spelled: dict[str, tuple[str, str]] = {}
        self._foreign: list[str] = []
        for section, options in sections.items():
            if section not in SECTIONS:
                raise refuse(section, "", _several(section, sections) or _unknown("section", section, SECTIONS))
            for name, text in options.items():
                self._take(section, name, text)
        self._values = {option.key: self._read(option) for option in OPTIONS}
        self._check_required(sections)

    def __getitem__(self, key: str) -> Any:
        """Return a value; None for an option that is absent and has no default."""
        return self._values[key]

    def has(self, key: str) -> bool:
        """Return whether the file gives an option."""
        return key in self._texts

    def error(self, key: str, rule: str) -> ConfigurationError:
        """Return the error of an option that breaks a rule."""
        section, _, name = key.partition(".")
        return self._refuse(*self._spelled.get(key, (section, name)), rule)

    def warnings(self) -> list[str]:
        """Return a sentence for each given option without a counterpart."""
        warnings = [
            f"{option.key}: {option.warning}"
            for option in OPTIONS
            if option.warning and self.has(option.key) and self._texts[option.key] != option.sample
        ]
        return [*warnings, *(f"{key}: is ignored: {FOREIGN[key]}" for key in self._foreign)]

    def _take(self, section: str, name: str, text: str) -> None:
        if f"{section}.{name}" in FOREIGN:
            self._foreign.append(f"{section}.{name}")
            return
        for key in OLDER.get(f"{section}.{name}", (f"{section}.{name}",)):
            if key not in _BY_KEY:
                raise self._refuse(section, name, _unknown_option(section, name))
            if key in self._texts:
                other = ".".join(self._spelled[key])
                raise self._refuse(section, name, f"is another spelling of {other}, which is also given")
            self._texts[key], self._spelled[key] = text, (section, name)

    def _read(self, option: Option) -> Any:
        text = self._texts.get(option.key, option.default)
        if text is None:
            return None
        try:
            if not text and option.key not in _MAY_BE_EMPTY:
                raise ValueError("must not be empty")
            return option.type.read(text)
        except ValueError as error:
            raise self.error(option.key, str(error)) from error

    def _check_required(self, sections: Sections) -> None:
        for section, when in SECTIONS.items():
            if when is not None and self._holds(when) and section not in sections:
                raise self._refuse(section, "", _missing(when))
        for option in OPTIONS:
            if option.required is not None and self._holds(option.required) and not self.has(option.key):
                raise self.error(option.key, _missing(option.required))

    def _holds(self, when: When) -> bool:
        return not when.option or self._values[when.option] == when.value


_MAY_BE_EMPTY: Final = frozenset({"accounting.probes", "accounting.attributes"})


def _missing(when: When) -> str:
    return f"is required when {when}" if when.option else "is required"


def _several(section: str, sections: Sections) -> str:
    """Explain how to run a file with the sections of a configuration for several runs; "" for other files."""
    if section != "multi" and ("multi" not in sections or ":" not in section):
        return ""
    return (
        "is a section of a configuration for several runs: batsched-py haizea multi -c FILE -d DIR writes their files"
    )


def _unknown(what: str, name: str, known: Mapping[str, object]) -> str:
    suggestion = did_you_mean(name, known)
    return f"unknown {what}; {suggestion or 'there are: ' + ', '.join(known)}"


def _unknown_option(section: str, name: str) -> str:
    """Return the rule for an unknown option; it may be one of another section."""
    keys = [*_BY_KEY, *OLDER]
    other_sections = [key for key in keys if key.partition(".")[2] == name]
    if other_sections:
        return f"unknown option; did you mean {other_sections[0]}?"
    here = [key.partition(".")[2] for key in keys if key.partition(".")[0] == section]
    suggestion = did_you_mean(name, here) or did_you_mean(name, [key.partition(".")[2] for key in keys])
    return f"unknown option; {suggestion or 'there are: ' + ', '.join(sorted(here))}"


def in_file(file: str) -> Refuse:
    """Return the function that creates errors for a file with the usual names of sections."""

    def refuse(section: str, name: str, rule: str) -> ConfigurationError:
        place = f"{section}.{name}" if name else f"[{section}]"
        return ConfigurationError(file, displayed(place), rule)

    return refuse
