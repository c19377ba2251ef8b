"""The encoding of a text, told by its first bytes."""

from __future__ import annotations

import codecs
from typing import Final

#: Byte order mark -> encoding; the longer ones first, since one begins like another.
_MARKS: Final = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
#: Which of the first four bytes are 0 in a text of Latin letters without a byte order mark -> encoding.
_ZEROS: Final = {
    (False, True, False, True): "UTF-16LE",
    (True, False, True, False): "UTF-16BE",
    (False, True, True, True): "UTF-32LE",
    (True, True, True, False): "UTF-32BE",
}


class EncodingError(ValueError):
    """A text is not in the encoding in which it must be; the text says which."""


def marked_encoding(head: bytes) -> tuple[str, int]:
    """Return the encoding of a text that begins so, and the bytes of its byte order marks: ("utf-8", 0) without one.

    EncodingError for one that has no mark and cannot be UTF-8, because there are zeros in every letter.
    """
    for mark, encoding in _MARKS.items():
        marks = 0  # programs that do not see one write another before it
        while head.startswith(mark, marks):
            marks += len(mark)
        if marks:
            return encoding, marks
    found = _ZEROS.get(tuple(byte == 0 for byte in head[:4]))  # type: ignore[arg-type]
    if found is not None:
        rule = f"is text in {found} without a byte order mark: iconv -f {found} -t UTF-8 makes UTF-8 of it"
        raise EncodingError(rule)
    return "utf-8", 0
