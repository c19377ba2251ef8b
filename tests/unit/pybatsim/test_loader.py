"""Schedulers of pybatsim are loaded with the modules next to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.plugins import load

SCHEDULER = """\
from batsim.batsim import BatsimScheduler
{imports}


class Mine(BatsimScheduler):
    pass
"""


@pytest.mark.parametrize(
    ("helper", "imports"),
    [
        ("whole", "import whole"),
        ("function", "from function import again"),
        ("base", "from base import Base"),
        ("inside", "from .inside import again"),
    ],
)
def test_a_module_beside_it_that_registers_jobs_counts_each_time(helper: str, imports: str, tmp_path: Path) -> None:
    """Also if an earlier scheduler of this process has imported it."""
    (tmp_path / f"{helper}.py").write_text("class Base: pass\ndef again(bs, job): bs.resubmit_job(job)\n")
    (tmp_path / "mine.py").write_text(SCHEDULER.format(imports=imports))
    assert [load(f"pybatsim:{tmp_path / 'mine.py'}").uses_dynamic_jobs for _ in range(2)] == [True, True]


def test_a_module_beside_it_that_it_does_not_use_does_not_count(tmp_path: Path) -> None:
    """Only what the scheduler imports."""
    (tmp_path / "other.py").write_text("def again(bs, job): bs.resubmit_job(job)\n")
    (tmp_path / "mine.py").write_text(SCHEDULER.format(imports=""))
    assert not load(f"pybatsim:{tmp_path / 'mine.py'}").uses_dynamic_jobs
