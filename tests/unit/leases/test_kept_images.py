"""Images that hosts keep: when they came, and when they were dropped to make room."""

from __future__ import annotations

from batsched_py.leases.preparation.image_transfer import TransferSettings
from batsched_py.results.lease_rows import ImageRow
from tests.lease_driver import lease, play


def test_an_image_is_told_from_its_transfer_until_it_makes_room() -> None:
    """Two of three images fit: the first gives way to the third, which comes in 52 s."""
    asked = [lease(number, 1000 * number, 1, 100, image=(f"{number}.img", 640.0)) for number in (1, 2, 3)]
    driver = play(asked, hosts=1, transfers=TransferSettings(cache=1300.0))
    assert driver.scheduler.disks.image_rows() == [
        ImageRow("1.img", 0, 1052, 3052),
        ImageRow("2.img", 0, 2052, None),
        ImageRow("3.img", 0, 3052, None),
    ]


def test_hosts_that_keep_none_have_none_to_tell() -> None:
    """The copies from which machines run are no kept images."""
    driver = play([lease(1, 0, 1, 100, image=("a.img", 640.0))], transfers=TransferSettings(cache=None))
    assert driver.scheduler.disks.image_rows() == []
