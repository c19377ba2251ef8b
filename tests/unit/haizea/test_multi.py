"""Configurations for several runs: what they make, and what is refused with which line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from batsched_py.errors import ConfigurationError
from batsched_py.haizea.ini import format_sections
from batsched_py.haizea.multi import MultiConfiguration, read_multi
from batsched_py.haizea.reader import read_config
from tests.unit.haizea.configurations import LEAST, sections

MULTI = {
    "multi.tracedir": "traces",
    "multi.tracefiles": "early.lwf full.lwf",
    "multi.injectiondir": "injections",
    "multi.injectionfiles": "inj1.lwf  inj2.lwf",
    "multi.datadir": "data",
    **{f"common:{key}": text for key, text in LEAST.items() if not key.startswith("tracefile.")},
    "slow:scheduling.backfilling": "off",
    "fast+SR:scheduling.backfilling": "conservative",
}


def written(folder: Path, options: Mapping[str, str | None]) -> Path:
    """A file with the options above and these; None leaves one out."""
    path = folder / "multi.conf"
    path.write_text(format_sections(sections({**MULTI, **options})))
    return path


def multi(folder: Path, options: Mapping[str, str | None] | None = None) -> MultiConfiguration:
    """Read a configuration of the options above and these."""
    return read_multi(written(folder, options or {}))


def test_there_is_one_for_each_profile_trace_and_injection_or_none(tmp_path: Path) -> None:
    """HA-38 in small: two profiles, two traces, two injections."""
    names = [single.name for single in multi(tmp_path).singles(tmp_path)]
    assert names == [
        f"{profile}_{trace}{injection}"
        for profile in ("slow", "fast+SR")
        for trace in ("early", "full")
        for injection in ("", "+inj1", "+inj2")
    ]


def test_without_injections_there_is_one_for_each_profile_and_trace(tmp_path: Path) -> None:
    """HA-58: two of each make four."""
    none = {"multi.injectiondir": None, "multi.injectionfiles": None}
    assert len(list(multi(tmp_path, none).singles(tmp_path))) == 4
    assert len(list(multi(tmp_path, {"multi.injectionfiles": ""}).singles(tmp_path))) == 4


def test_a_single_one_is_read_like_any_other_from_the_folder_where_it_stands(tmp_path: Path) -> None:
    """Its paths lead to the same files; it knows its data file, and what it is."""
    folder = tmp_path / "out" / "configurations"
    folder.mkdir(parents=True)
    for single in multi(tmp_path, {"common:accounting.attributes": "site=small"}).singles(folder):
        (folder / single.file_name).write_text(single.text)
    read = read_config(folder / "fast+SR_early+inj2.conf")
    assert read.settings.future_leases == float("inf")
    assert read.traces is not None
    assert read.traces.trace.resolve() == tmp_path / "traces" / "early.lwf"
    assert read.traces.injection is not None
    assert read.traces.injection.resolve() == tmp_path / "injections" / "inj2.lwf"
    assert read.accounting.datafile is not None
    assert read.accounting.datafile.resolve() == tmp_path / "data" / "fast+SR_early+inj2.dat"
    assert dict(read.accounting.attributes) == {
        "profile": "fast+SR", "tracefile": "early.lwf", "injectfile": "inj2.lwf", "site": "small",
    }  # fmt: skip
    without = read_config(folder / "slow_full.conf")
    assert (without.settings.stop_at_first, without.traces is not None and without.traces.injection) == (True, None)
    assert dict(without.accounting.attributes)["injectfile"] == "none"


def test_paths_do_not_depend_on_how_the_file_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same file makes the same bytes; absolute paths stay."""
    path = written(tmp_path, {"multi.injectiondir": "/far"})
    absolute = [single.text for single in read_multi(path).singles(tmp_path / "out")]
    monkeypatch.chdir(tmp_path)
    assert [single.text for single in read_multi(Path("multi.conf")).singles(Path("out"))] == absolute
    assert "tracefile: ../traces/early.lwf\ninjectionfile: /far/inj1.lwf\n" in absolute[1]


def test_a_profile_comes_before_what_all_share(tmp_path: Path) -> None:
    """Option by option."""
    options = {"common:scheduling.migration": "yes", "slow:scheduling.migration": "no"}
    migrations = {single.profile: config.settings.migration for single, config in multi(tmp_path, options).configs()}
    assert migrations == {"slow": "no", "fast+SR": "yes"}


def test_what_the_file_sets_for_all_is_told_where_a_profile_sets_it(tmp_path: Path) -> None:
    """It would have no effect."""
    options = {"common:tracefile.tracefile": "own.lwf", "slow:accounting.datafile": "own.dat"}
    read = multi(tmp_path, options)
    assert read.notes == (
        "[common:tracefile] tracefile: is ignored, because [multi] sets it",
        "[slow:accounting] datafile: is ignored, because [multi] sets it",
    )
    assert all("own." not in single.text for single in read.singles(tmp_path))


#: Options, and the end of the line that refuses them.
WRONG: list[tuple[Mapping[str, str | None], str]] = [
    ({key: None for key in MULTI if key.startswith("multi")}, "[multi]: is required"),
    ({"multi.tracefiles": ""}, "[multi] tracefiles: is required"),
    ({"multi.datadir": None}, "[multi] datadir: is required"),
    ({"multi.injectiondir": None}, "[multi] injectiondir: is required with injectionfiles"),
    ({"multi.basedatadir": "data"}, "is another spelling of datadir, which is also given"),
    ({"multi.tracefile": "early.lwf"}, "[multi] tracefile: unknown option; did you mean tracefiles?"),
    ({"slow:scheduling.backfilling": None, "fast+SR:scheduling.backfilling": None}, "there is no profile"),
    ({"slow.backfilling": "off"}, "[slow]: must be [multi], [common:SECTION] or [PROFILE:SECTION]"),
    ({"slow:schedulling.backfilling": "off"}, "did you mean scheduling?"),
    (
        {"a b:scheduling.backfilling": "off"},
        "must name a profile that consists of letters, digits and + - _ . = @ %, not 'a b'",
    ),
    ({"a/x:scheduling.backfilling": "off"}, "not 'a/x'"),
    ({"multi.tracefiles": "a;b.lwf"}, "[multi] tracefiles: must be files whose names consist of letters"),
    ({"multi.tracefiles": "a/x.lwf b/x.lwf"}, "makes two configurations named slow_x"),
    ({"multi.tracefiles": "x.lwf x.txt"}, "[multi] tracefiles: must end in .lwf, .xml or .swf"),
    ({"multi.injectionfiles": "x"}, "[multi] injectionfiles: must end in .lwf, .xml or .swf"),
    ({"slow:scheduling.suspension": "some"}, "[slow:scheduling] suspension: must be none, serial-only or all"),
    ({"common:scheduling.suspension": "some"}, "[common:scheduling] suspension: must be none, serial-only or all"),
    ({"common:general.mode": None}, "[slow:general]: is required"),
]


@pytest.mark.parametrize(("options", "line"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_wrong_is_one_line_that_names_section_option_and_rule(
    tmp_path: Path, options: Mapping[str, str | None], line: str
) -> None:
    """Nothing is made of such a file."""
    path = written(tmp_path, options)
    with pytest.raises(ConfigurationError) as caught:
        read_multi(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_spelling_of_the_manual_is_read(tmp_path: Path) -> None:
    """It is `basedatadir` there."""
    assert multi(tmp_path, {"multi.datadir": None, "multi.basedatadir": "here"}).data_folder == Path("here")


def test_annotations_of_haizea_1_1_are_ignored(tmp_path: Path) -> None:
    """With a sentence for each option."""
    read = multi(tmp_path, {"multi.annotationdir": "notes", "multi.annotationfiles": "a.lwfa"})
    assert read.notes == (
        "[multi] annotationdir: is ignored: annotations of leases are not read",
        "[multi] annotationfiles: is ignored: annotations of leases are not read",
    )
