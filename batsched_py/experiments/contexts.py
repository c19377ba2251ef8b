"""Contexts of computes in their timelines: in the text of an entry, `${ctx.KEY}` represents a context (M38)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

_CONTEXT: Final = re.compile(r"\$\{ctx\.([^{}]*)\}")


def context_keys(entries: Any) -> Iterator[str]:
    """Yield the keys referenced in texts of entries, at any depth, in order."""
    if isinstance(entries, str):
        yield from _CONTEXT.findall(entries)
    elif isinstance(entries, Mapping):
        for value in entries.values():
            yield from context_keys(value)
    elif isinstance(entries, Sequence):
        for value in entries:
            yield from context_keys(value)


def with_contexts(entries: Any, contexts: Mapping[str, str]) -> Any:
    """Return the entries with keys replaced by contexts; KeyError for an unknown key."""
    if isinstance(entries, str):
        return _CONTEXT.sub(lambda found: contexts[found[1]], entries)
    if isinstance(entries, Mapping):
        return {member: with_contexts(value, contexts) for member, value in entries.items()}
    if isinstance(entries, list | tuple):
        return [with_contexts(value, contexts) for value in entries]
    return entries
