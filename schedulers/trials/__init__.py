"""Algorithms for tests of workloads, outputs and Batsim itself, not for production.

`crasher` fails on purpose, `killer` stops jobs, `rejecter` refuses them, `submitter` submits its own, `energy_watcher`
requests the consumed energy. Apart from that, they start jobs in order of arrival (`schedulers/in_order.py`).
"""
