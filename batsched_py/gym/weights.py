"""Files with weights of policies: named arrays of numbers, in NumPy's format without pickled objects."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from batsched_py.errors import WeightsError
from batsched_py.files.atomic_file import write_atomically
from batsched_py.text.display import displayed

#: Maximum size in bytes of a file's arrays; policies of schedulers have some kilobytes.
MOST: Final = 1 << 28
#: Errors raised in reading a broken archive; MemoryError for an array that claims a huge size.
_BROKEN: Final = (ValueError, EOFError, KeyError, MemoryError, RuntimeError, zipfile.BadZipFile)


def write_weights(path: str | PathLike[str], weights: Mapping[str, ArrayLike]) -> None:
    """Write arrays of numbers; the same arrays give the same bytes. WeightsError."""
    arrays = {name: np.asarray(array) for name, array in weights.items()}
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise WeightsError(str(path), displayed(name), f"must be an array of numbers, not of {array.dtype}")
    content = BytesIO()
    np.savez(content, allow_pickle=False, **dict[str, Any](arrays))
    try:
        write_atomically(Path(path), content.getvalue())
    except OSError as error:
        raise WeightsError(str(path), "", f"cannot be written: {error.strerror}") from error


def read_weights(path: str | PathLike[str]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file by name. Objects are not unpickled: no code in the file is run. WeightsError."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
        if (size := sum(member.file_size for member in members)) > MOST:
            raise WeightsError(str(path), "", f"must have at most {MOST} bytes of arrays, not {size}")
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise WeightsError(str(path), "", "must not be compressed")
        with np.load(path, allow_pickle=False) as file:
            weights = {name: file[name] for name in file.files}
    except OSError as error:
        raise WeightsError(str(path), "", f"cannot be read: {error.strerror or error}") from error
    except _BROKEN as error:
        why = displayed(" ".join(str(error).split()))
        raise WeightsError(str(path), "", f"must be arrays as `write_weights` writes them: {why}") from error
    for name, array in weights.items():
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
            raise WeightsError(str(path), displayed(name), "must be an array of numbers")
    return weights
