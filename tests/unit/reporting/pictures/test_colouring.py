"""Colours of jobs and groups."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from batsched_py.model.job import Job
from batsched_py.reporting.pictures.colouring import CHOICES, LIGHT, LINES, OTHERS, colouring
from batsched_py.results.records import JobRecord
from tests.unit.reporting.records import record
from tests.unit.reporting.sample_schedules import FOUR


def of_user(name: str, user: str | None, seconds: float = 10.0) -> JobRecord:
    plain = record(name, finish=seconds)
    extra = {} if user is None else {"user": user}
    return replace(plain, job=Job.create(f"w0!{name}", size=1, profile="p", submit_time=0.0, extra=extra))


def test_jobs_have_colours_in_turn() -> None:
    """By their number, whatever the run."""
    colours = colouring("job", FOUR)
    assert [colours.of(number, FOUR[0]) for number in (0, 1, len(LIGHT))] == [LIGHT[0], LIGHT[1], LIGHT[0]]
    assert colours.legend == {}


def test_black_names_can_be_read_on_jobs() -> None:
    """With a contrast of 7 or more, as WCAG 2.1 wants it for small text (success criterion 1.4.6)."""
    for colour in LIGHT:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        light = sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
        assert (light + 0.05) / 0.05 >= 7


def test_final_states_have_the_same_colour_in_each_picture() -> None:
    """States that occur are explained."""
    both, one = colouring("state", FOUR[:3]), colouring("state", FOUR[1:2])
    assert list(both.legend) == ["successful", "walltime reached"]
    assert list(one.legend) == ["walltime reached"]
    assert both.of(1, FOUR[1]) == one.of(7, FOUR[1]) != both.of(0, FOUR[0])


def test_workloads_are_told_apart() -> None:
    """In the order of their names."""
    colours = colouring("workload", FOUR[:3])
    assert list(colours.legend) == ["w0", "w1"]
    assert colours.of(0, FOUR[0]) == colours.of(1, FOUR[1]) == colours.legend["w0"] != colours.legend["w1"]


def test_the_users_with_most_host_seconds_have_colours() -> None:
    """The others are grey, and so is a job of nobody's."""
    records = [of_user(str(number), f"u{number}", 100.0 + number) for number in range(12)]
    records.append(of_user("nobody", None, 1000.0))
    colours = colouring("user", records)
    assert list(colours.legend) == ["u10", "u11", *(f"u{number}" for number in range(5, 10)), "others"]
    assert len(set(colours.legend.values())) == 8
    assert colours.of(0, records[0]) == colours.of(12, records[12]) == colours.legend["others"] == OTHERS


def test_users_that_are_numbers_are_explained_in_their_order() -> None:
    """3 before 14, names after both."""
    assert list(colouring("user", [of_user(name, name) for name in ("14", "ada", "3")]).legend) == ["3", "14", "ada"]


@pytest.mark.parametrize("by", CHOICES)
def test_nothing_to_colour_is_no_error(by: str) -> None:
    """An empty picture."""
    assert colouring(by, []).legend == {}


@pytest.mark.parametrize("palette", [(*LIGHT, OTHERS), LINES])
def test_colours_differ_in_lightness_or_hue_for_those_who_see_no_red_or_no_green(palette: tuple[str, ...]) -> None:
    """In a linear model of protanopia and deuteranopia, after Vienot, Brettel and Mollon 1999, no two are alike."""
    for matrix in (
        ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
        ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
    ):
        seen = []
        for colour in palette:
            linear = [(int(colour[place : place + 2], 16) / 255) ** 2.2 for place in (1, 3, 5)]
            mixed = [sum(part * light for part, light in zip(row, linear, strict=True)) for row in matrix]
            seen.append([max(part, 0.0) ** (1 / 2.2) for part in mixed])
        for number, one in enumerate(seen):
            for other in seen[:number]:
                assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 > 0.1
