"""Schedulers written for pybatsim 2 and 3, which run unmodified as algorithms of batsched-py."""
