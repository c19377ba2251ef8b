"""Workload and platform files in and out: Batsim JSON, SWF, SimGrid XML, and generated workloads."""
