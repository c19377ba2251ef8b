"""Detection of the encoding of a text by its first bytes."""

from __future__ import annotations

import codecs
from typing import Final

#: Byte order mark -> encoding; longer ones first, because a shorter one is a prefix of a longer one.
_MARKS: Final = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
#: Pattern of zeros in the first four bytes of Latin text without a byte order mark -> encoding.
_ZEROS: Final = {
    (False, True, False, True): "UTF-16LE",
    (True, False, True, False): "UTF-16BE",
    (False, True, True, True): "UTF-32LE",
    (True, True, True, False): "UTF-32BE",
}


class EncodingError(ValueError):
    """A text is not in the required encoding; the message has the details."""


def marked_encoding(head: bytes) -> tuple[str, int]:
    """Return the encoding of a text from its first bytes, and the size of its byte order marks; ("utf-8", 0) without.

    EncodingError for UTF-16 or UTF-32 without a mark, detected by zeros in each letter.
    """
    for mark, encoding in _MARKS.items():
        marks = 0  # programs that do not recognise a mark add another one
        while head.startswith(mark, marks):
            marks += len(mark)
        if marks:
            return encoding, marks
    found = _ZEROS.get(tuple(byte == 0 for byte in head[:4]))  # type: ignore[arg-type]
    if found is not None:
        rule = f"is text in {found} without a byte order mark: iconv -f {found} -t UTF-8 makes UTF-8 of it"
        raise EncodingError(rule)
    return "utf-8", 0
