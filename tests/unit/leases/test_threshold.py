"""The threshold of a lease that will be suspended: whether the transfer of its image counts."""

from __future__ import annotations

import pytest

from batsched_py.leases.preparation.image_transfer import TransferSettings
from batsched_py.results.lease_rows import ReservationUse
from tests.lease_driver import lease, play


@pytest.mark.parametrize(
    ("included", "start", "spans"),
    [
        (True, 180.0, [("vm", 60, 150), ("suspend", 150, 180), ("resume", 1080, 1110), ("vm", 1110, 4620)]),
        (True, 179.0, [("vm", 1079, 4679)]),
        (False, 179.0, [("vm", 60, 149), ("suspend", 149, 179), ("resume", 1079, 1109), ("vm", 1109, 4620)]),
    ],
)
def test_the_transfer_of_an_image_may_count(
    included: bool, start: float, spans: list[tuple[str, float, float]]
) -> None:
    """HA-49: 60 s of transfer and 30 s of suspension ask for 90 s of running; 30 s alone for 30 s."""
    waiting = lease(1, 0, 1, 3600, memory=960.0, image=("x", 100))
    play(
        [waiting, lease(2, 0, 4, 900, start=start)],
        transfers=TransferSettings(forced_time=60.0),
        threshold_includes_preparation=included,
    )
    executed = [one for one in waiting.executed if one.use not in (ReservationUse.TRANSFER, ReservationUse.SHUTDOWN)]
    assert [(one.use.value, one.start, one.end) for one in executed] == spans


@pytest.mark.parametrize(("estimates", "spans"), [("original", [(700, 1700)]), ("exact", [(0, 68), (732, 1664)])])
def test_an_estimate_may_refuse_what_would_have_fitted(estimates: str, spans: list[tuple[float, float]]) -> None:
    """H39: two machines are saved in 32 s; Haizea expects 128 s, which ask for 256 s before the reservation at 100."""
    waiting = lease(1, 0, 2, 1000)
    play([waiting, lease(2, 0, 4, 600, start=100.0)], estimates=estimates)
    assert [(one.start, one.end) for one in waiting.executed if one.use is ReservationUse.VM] == spans
