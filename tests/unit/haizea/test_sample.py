"""Samples to begin with: the parser takes them all, and they have every option."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from batsched_py.haizea.config import HaizeaConfig
from batsched_py.haizea.multi import read_multi
from batsched_py.haizea.options import OPTIONS
from batsched_py.haizea.reader import read_config
from batsched_py.haizea.sample import KINDS, sample_files
from batsched_py.traces.lwf import read_lwf


def write(folder: Path, kind: str) -> dict[str, str]:
    files = sample_files(kind)
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return files


def configuration(folder: Path, kind: str) -> HaizeaConfig:
    """Read the configuration of a sample, without the name of its file."""
    [name] = [name for name in write(folder, kind) if name.endswith(".conf")]
    return replace(read_config(folder / name), file=Path())


def test_the_configuration_is_that_of_the_quickstart(tmp_path: Path) -> None:
    """Four hosts, reservations before best-effort leases, suspension; nothing in it is only told."""
    read = configuration(tmp_path, "trace")
    assert read.notes == ()
    assert read.policies.preemption == "ar-preempts-everything"
    assert read.settings.suspension == "all"
    assert read.site is not None
    assert read.site.size == 4
    assert configuration(tmp_path, "barebones") == read


def test_the_commented_configuration_has_every_option_with_values_default_and_meaning() -> None:
    """As the table has them; those that are not given stand behind a mark of a comment."""
    text = sample_files("trace")["sample_trace.conf"]
    plain = " ".join(text.replace("\n# ", " ").split())
    for option in OPTIONS:
        assert f"\n{option.name}:" in text or f"\n#{option.name}:" in text
        assert f"{option.name}: {option.type.label}" in plain
        assert option.help in plain
        assert option.default is None or f"default {option.default}" in plain


def test_the_bare_configuration_has_no_comments() -> None:
    """For those who know them."""
    assert "#" not in sample_files("barebones")["sample_trace_barebones.conf"]


def test_the_requests_of_the_quickstart_are_there_in_comments(tmp_path: Path) -> None:
    """Without the marks of the comments there are two."""
    text = write(tmp_path, "trace")["sample.lwf"]
    assert read_lwf(tmp_path / "sample.lwf").requests == ()
    lines = [line for line in text.splitlines() if not line.strip().startswith(("<!--", "-->"))]
    (tmp_path / "both.lwf").write_text("\n".join(lines))
    first, second = read_lwf(tmp_path / "both.lwf").requests
    assert (first.arrival, first.start, first.duration, first.size, first.preemptible) == (0, None, 3600, 1, True)
    assert (second.arrival, second.start, second.duration, second.size, second.preemptible) == (
        900,
        1800,
        1800,
        4,
        False,
    )


def test_the_configuration_for_several_runs_makes_twenty_four(tmp_path: Path) -> None:
    """HA-38: four profiles, two traces, two injections."""
    write(tmp_path, "multi")
    read = read_multi(tmp_path / "sample_multi.conf")
    names = [single.name for single, _ in read.configs()]
    assert len(names) == len(set(names)) == 24
    assert "backfilling+SR_withprematureend+inj1" in names
    assert read.notes == ()


@pytest.mark.parametrize("kind", KINDS)
def test_samples_are_the_same_each_time(kind: str) -> None:
    """They end with a line end."""
    files = sample_files(kind)
    assert files == sample_files(kind)
    assert all(text.endswith("\n") and not text.endswith("\n\n") for text in files.values())


def test_the_traces_of_the_sample_for_several_runs_are_there(tmp_path: Path) -> None:
    """Each that the configuration names; of two the leases differ only in their real durations."""
    write(tmp_path, "multi")
    read = read_multi(tmp_path / "sample_multi.conf")
    found = {path: read_lwf(tmp_path / path) for path in (*read.traces, *read.injections)}
    assert all(trace.requests and not trace.notes for trace in found.values())
    early, full = (found[path].requests for path in read.traces)
    assert [request._replace(real=None) for request in early] == list(full)
    assert any(request.real != request.duration for request in early)
    assert all(request.best_effort for request in full)
    assert not any(request.best_effort for path in read.injections for request in found[path].requests)
