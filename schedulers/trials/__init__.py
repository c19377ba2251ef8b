"""Algorithms to try out workloads, outputs and Batsim itself; nobody would schedule with them.

`crasher` fails on purpose, `killer` stops jobs, `rejecter` refuses them, `submitter` submits its own, `energy_watcher`
asks what was consumed. Beside that they start jobs in order of arrival (`schedulers/in_order.py`).
"""
