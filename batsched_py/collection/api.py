"""Names for placers of a user's own."""

from batsched_py.collection.placers import PlacementRequest, Placer

__all__ = [
    "PlacementRequest",
    "Placer",
]
