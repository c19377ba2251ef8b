"""Files of weights: numbers alone, and nothing that is run."""

from __future__ import annotations

import pickle
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from batsched_py.errors import WeightsError
from batsched_py.gym import read_weights, weights, write_weights


def test_weights_come_back(tmp_path: Path) -> None:
    """Names, shapes, types and numbers; the same arrays, the same bytes."""
    first = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4)
    given: dict[str, Any] = {"first": first, "last": np.arange(3), "bias": [0.5]}
    for name in ("a.npz", "b.npz"):
        write_weights(tmp_path / name, given)
    found = read_weights(tmp_path / "a.npz")
    assert list(found) == list(given)
    for name, array in given.items():
        np.testing.assert_array_equal(found[name], array)
    assert found["first"].dtype == np.float32
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


class Trap:
    """Leaves a trace when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.file,)


def test_objects_are_not_unpickled(tmp_path: Path) -> None:
    """Neither in an archive, nor as a pickle under another name."""
    file, trace = tmp_path / "weights.npz", tmp_path / "trace"
    np.savez(file, weights=np.array([Trap(trace)], dtype=object))
    with pytest.raises(
        WeightsError, match=r"weights.npz: must be arrays as `write_weights` writes them: Object arrays"
    ):
        read_weights(file)
    file.write_bytes(pickle.dumps(Trap(trace)))
    with pytest.raises(WeightsError, match="File is not a zip file"):
        read_weights(file)
    member = BytesIO()
    with zipfile.ZipFile(member, "w") as archive:
        archive.writestr("weights.npy", pickle.dumps(Trap(trace)))
    file.write_bytes(member.getvalue())
    with pytest.raises(WeightsError, match=r"weights: must be an array of numbers$"):
        read_weights(file)
    assert not trace.exists()


def test_what_is_no_file_of_weights_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with the file and the rule."""
    with pytest.raises(WeightsError, match=r"none.npz: cannot be read: No such file or directory$"):
        read_weights(tmp_path / "none.npz")
    with pytest.raises(WeightsError, match=r"words: must be an array of numbers, not of <U4$"):
        write_weights(tmp_path / "a.npz", {"words": np.array(["much"])})
    with pytest.raises(WeightsError, match=r"a.npz: cannot be written: No such file or directory$"):
        write_weights(tmp_path / "none" / "a.npz", {"bias": [1.0]})
    np.savez(tmp_path / "b.npz", words=np.array(["much"]))
    with pytest.raises(WeightsError, match=r"b.npz: words: must be an array of numbers$"):
        read_weights(tmp_path / "b.npz")
    write_weights(tmp_path / "c.npz", {"bias": np.zeros(100)})
    content = (tmp_path / "c.npz").read_bytes()
    (tmp_path / "d.npz").write_bytes(content.replace(b"descr", b"decsr"))
    with pytest.raises(WeightsError, match=r"d.npz: must be arrays"):
        read_weights(tmp_path / "d.npz")
    np.savez_compressed(tmp_path / "e.npz", bias=np.zeros(100))
    with pytest.raises(WeightsError, match=r"e.npz: must not be compressed$"):
        read_weights(tmp_path / "e.npz")
    huge = content.replace(b"(100,), }" + b" " * 12, b"(100000000000000,), }")
    assert len(huge) == len(content)
    assert huge != content
    (tmp_path / "f.npz").write_bytes(huge)
    with pytest.raises(WeightsError, match=r"f.npz: must be arrays"):
        read_weights(tmp_path / "f.npz")
    monkeypatch.setattr(weights, "MOST", 100)
    with pytest.raises(WeightsError, match=r"c.npz: must have at most 100 bytes of arrays, not 928$"):
        read_weights(tmp_path / "c.npz")
