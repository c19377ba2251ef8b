"""Uses of the parameters in configuration files: what a reader does with each one, at which place, and faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from batsched_py.errors import ConfigurationError
from batsched_py.slurm.conf_lines import ConfPair
from batsched_py.slurm.conf_review import Effect, ParameterUse
from batsched_py.text.display import displayed

# Every parameter becomes a `ParameterUse`, so that a review says what the reader does, and nothing else. For decisions
# the first one that is refused is an error; a review goes on, and leaves the parameter out.

#: Parameters without a value that is read: without effect, with another one, at some values only.
EffectTables = tuple[Mapping[str, str], Mapping[str, str], Mapping[str, tuple[str, ...]]]
#: Names and values of a line.
NamedTexts = Sequence[tuple[str, str]]


class ParameterUses:
    """The uses of parameters in the order in which they were looked at; each fault is a `ConfigurationError`.

    With `goes_on` a fault is a use that is refused, and does not end reading.
    """

    def __init__(self, file: str, *, goes_on: bool) -> None:
        self.all: list[ParameterUse] = []
        #: The place in the files.
        self.file, self.line = file, 0
        self._goes_on = goes_on

    def say(self, effect: Effect, name: str, text: str, reason: str) -> None:
        """Note the effect of a parameter in the present line."""
        self.all.append(ParameterUse(self.file, self.line, name, text, effect, reason))

    def refuse(self, name: str, text: str, rule: str) -> None:
        """Note a fault. ConfigurationError unless reading goes on."""
        if not self._goes_on:
            self.fail(name, rule)
        self.say("refused", name, text, rule)

    def fail(self, field: str, rule: str) -> NoReturn:
        """Raise ConfigurationError with the place and the rule."""
        place = f"line {self.line}: {displayed(field)}" if self.line else displayed(field)
        raise ConfigurationError(self.file, place, rule)

    def overrule(self, number: int) -> None:
        """Say that the use of this number has no effect, since the present line has the parameter again."""
        earlier = self.all[number]
        place = "" if earlier.file == self.file else f" of {self.file}"
        rule = f"{earlier.name} is given again in line {self.line}{place}"
        self.all[number] = ParameterUse(earlier.file, earlier.line, earlier.name, earlier.value, "ignored", rule)

    def refused_since(self, number: int) -> set[str]:
        """Return the names, in small letters, of the parameters that were refused from the use of this number on."""
        return {use.name.lower() for use in self.all[number:] if use.effect == "refused"}

    def take(self, name: str, text: str, reader: Callable[[str], Any], meaning: str) -> tuple[Any, ...]:
        """Return the value as the only element; nothing if it is refused. Without a meaning it is not noted."""
        try:
            value = reader(text)
        except ValueError as error:
            self.refuse(name, text, f"{error}, not {displayed(text)}")
            return ()
        if meaning:
            self.say("obeyed", name, text, meaning)
        return (value,)

    def look_up(self, name: str, text: str, tables: EffectTables, rule: str) -> None:
        """Note the effect of a parameter without a value for decisions; `rule` is for one that is in no table."""
        ignored, approximated, neutral = tables
        key = name.lower()
        if key in ignored:
            self.say("ignored", name, text, ignored[key])
        elif key in approximated:
            self.say("approximated", name, text, approximated[key])
        elif text.lower() in neutral.get(key, ()):
            self.say("ignored", name, text, "this value changes nothing")
        else:
            values = " or ".join(filter(None, neutral.get(key, ())))
            self.refuse(name, text, f"is supported only as {values}" if values else rule)

    def fields(
        self,
        pairs: NamedTexts,
        known: Mapping[str, tuple[str, Callable[[str], Any]]],
        meanings: Mapping[str, str],
    ) -> dict[str, Any]:
        """Return the values of those parameters that are known, by field."""
        found: dict[str, Any] = {}
        for name, text in pairs:
            if (key := name.lower()) in known:
                field, reader = known[key]
                if field in found:  # by another name
                    self.refuse(name, text, "is given twice")
                    continue
                for value in self.take(name, text, reader, meanings[key]):
                    found[field] = value
        return found

    def distinct(self, pairs: Iterable[ConfPair]) -> Iterator[tuple[str, str]]:
        """Yield the names and values of a line; refuse names without a value, and those that come twice."""
        seen = set[str]()
        for pair in pairs:
            if pair.value is None:
                self.refuse(pair.name, "", "must be NAME=VALUE")
            elif pair.name.lower() in seen:
                self.refuse(pair.name, pair.value, "is given twice in one line")
            else:
                seen.add(pair.name.lower())
                yield pair.name, pair.value
