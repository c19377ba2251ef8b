"""The sizes of the pages of a file in Parquet, checked before pyarrow decompresses them."""

from __future__ import annotations

from typing import Any, BinaryIO, Final

# pyarrow allocates a page as large as its header says, up to 2 GB, and the parts of the file's description that it
# could be compared with are claims, too. A small file can so ask for any amount of memory in three ways: a page that
# decompresses to gigabytes, or many that a batch of rows needs at once; an encoding by differences, in which each
# text repeats the beginning of the one before; and a type of a fixed length of megabytes. So the headers of all pages
# that will be read are checked first: they are in Thrift's compact form, one before each page, and batches have fewer
# rows if these need many pages. Texts are then read as dictionaries, in which a value that occurs often is kept once
# (`parquet_table`).
#
# Source of the forms: Apache Parquet, parquet.thrift and Encodings.md; Apache Thrift, "Thrift Compact protocol".

#: Bytes of a page: writers aim at 1 MB, and at 100 MB at most.
LARGEST_PAGE: Final = 128_000_000
#: Bytes of a value of fixed length: a decimal number has at most 32.
_LONGEST_VALUE: Final = 64
#: Bytes of a header; it may have two values as statistics.
_LARGEST_HEADER: Final = 4_000_000
#: Depth to which structures of a header are nested; those of the format have three levels.
_DEEPEST: Final = 8
#: Number of an encoding that repeats the beginnings of texts (DELTA_BYTE_ARRAY).
_DIFFERENCES: Final = 7
#: Members of a header: the sizes of the page, and the structures that have its encoding, with the number it has there.
_UNCOMPRESSED: Final = 2
_COMPRESSED: Final = 3
_ENCODINGS: Final = ((5, 2), (8, 4))
#: Member of these structures that has the number of cells.
_VALUES: Final = 1

#: Thrift's types of members.
_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY = range(9)
_STRUCT: Final = 12


class PageRuleError(ValueError):
    """A page would take memory out of proportion, as may its column's type, or is damaged; the text is the rule."""


def check_pages(source: BinaryIO, metadata: Any, name: str) -> float:
    """Check all pages of a column, by the name of the column, and return the most bytes that a page has for each row.

    PageRuleError.

    Args:
        source: the file, which is read at other places.
        metadata: its description, as pyarrow read it.
        name: a column of the table; of a nested one, nothing is checked.
    """
    most = 0.0
    for index in range(metadata.num_columns):
        if metadata.schema.column(index).path == name:
            _check_type(metadata.schema.column(index))
            for number in range(metadata.num_row_groups):
                group = metadata.row_group(number)
                most = max(most, _check_chunk(source, group.column(index), group.num_rows))
    return most


def _check_type(column: Any) -> None:
    if column.physical_type == "FIXED_LEN_BYTE_ARRAY" and column.length > _LONGEST_VALUE:
        raise PageRuleError(f"must have values of at most {_LONGEST_VALUE} bytes, not {column.length}")
    if column.physical_type == "BYTE_ARRAY" and column.logical_type.type == "DECIMAL":
        raise PageRuleError("must have decimal numbers of a fixed length; write the file anew with pyarrow")


def _check_chunk(source: BinaryIO, chunk: Any, rows: int) -> float:
    most = 0.0
    place = chunk.data_page_offset
    if chunk.dictionary_page_offset:
        place = min(place, chunk.dictionary_page_offset)
    end = place + chunk.total_compressed_size
    while place < end:
        source.seek(place)
        header = PageHeader(source)
        size, compressed = header.whole(_UNCOMPRESSED), header.whole(_COMPRESSED)
        if size > LARGEST_PAGE:
            rule = f"must have pages of at most {LARGEST_PAGE} bytes, not {size}; write the file anew with pyarrow"
            raise PageRuleError(rule)
        if header.encoding() == _DIFFERENCES:
            rule = "must not have the encoding DELTA_BYTE_ARRAY, whose texts may be of any length; write the file anew"
            raise PageRuleError(f"{rule} with pyarrow")
        most = max(most, size / max(header.values() or rows, 1))
        place += header.length + compressed
    return most


class PageHeader:
    """The header of a page, which is read from where the source stands. PageRuleError if it is damaged."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        #: Bytes read.
        self.length = 0
        #: The members by number; of nested structures, their members.
        self._members = self._structure(0)

    def whole(self, number: int) -> int:
        """Return a size. PageRuleError if there is none."""
        value = self._members.get(number)
        if not isinstance(value, int) or value < 0:
            raise PageRuleError("cannot be read: the header of a page has no size")
        return value

    def encoding(self) -> int | None:
        """Return the number of the page's encoding; None for a page of a dictionary, whose values are plain."""
        return next((self._nested(number, place) for number, place in _ENCODINGS if number in self._members), None)

    def values(self) -> int | None:
        """Return the number of the page's cells; None for a dictionary, which serves all rows of its group."""
        return next((self._nested(number, _VALUES) for number, _ in _ENCODINGS if number in self._members), None)

    def _nested(self, number: int, place: int) -> int | None:
        members = self._members[number]
        value = members.get(place) if isinstance(members, dict) else None
        return value if isinstance(value, int) else None

    def _read(self, count: int) -> bytes:
        self.length += count
        if self.length > _LARGEST_HEADER:
            raise PageRuleError(f"cannot be read: the header of a page has more than {_LARGEST_HEADER} bytes")
        found = self._source.read(count)
        if len(found) < count:
            raise PageRuleError("cannot be read: the file ends within the header of a page")
        return found

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._read(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise PageRuleError("cannot be read: a number of the header of a page has more than 64 bits")

    def _signed(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _structure(self, depth: int) -> dict[int, object]:
        if depth > _DEEPEST:
            raise PageRuleError(f"cannot be read: the header of a page is nested more than {_DEEPEST} levels deep")
        members = dict[int, object]()
        number = 0
        while True:
            byte = self._read(1)[0]
            kind = byte & 15
            if kind == _STOP:
                return members
            number = number + (byte >> 4) if byte >> 4 else self._signed()
            members[number] = self._value(kind, depth)

    def _value(self, kind: int, depth: int) -> object:
        if kind in (_TRUE, _FALSE):
            return None
        if kind == _BYTE:
            return self._read(1)
        if kind in (_I16, _I32, _I64):
            return self._signed()
        if kind == _DOUBLE:
            return self._read(8)
        if kind == _BINARY:
            return self._read(self._varint())
        if kind == _STRUCT:
            return self._structure(depth + 1)
        raise PageRuleError(f"cannot be read: the header of a page has a member of the unknown type {kind}")
