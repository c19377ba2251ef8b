"""The tests' own way to get files out of a container, on each Python that we support."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any, cast

import pytest
from docker.models.containers import Container

from tests.containers.compose import extracted


class FakeContainer:
    """The part of Docker's interface that is used here: a folder with one file, as a tar."""

    def get_archive(self, folder: str) -> tuple[list[bytes], dict[str, Any]]:
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w") as tar:
            member = tarfile.TarInfo(f"{folder.strip('/')}/jobs.csv")
            member.size = 5
            tar.addfile(member, io.BytesIO(b"1,2,3"))
        return [content.getvalue()], {}


@pytest.mark.parametrize("old", [False, True])
def test_files_are_extracted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, old: bool) -> None:
    """Debian's Python 3.11.2 has no filters, which came with 3.11.4."""
    if old:
        whole = tarfile.TarFile.extractall
        monkeypatch.setattr(tarfile.TarFile, "extractall", lambda tar, path: whole(tar, path))  # noqa: PLW0108  # takes no filter
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
    extracted(cast("Container", FakeContainer()), "/out", tmp_path)
    assert (tmp_path / "out" / "jobs.csv").read_bytes() == b"1,2,3"
