"""The ids of the jobs that a site submits, by the numbers of their requests."""

from __future__ import annotations


def job_id(number: int) -> str:
    """Return the id of the job of a request."""
    return f"site!{number}"


def request_number(job: str) -> int | None:
    """Return the number of the request for a job, or for the lease that the job is a segment of; None if none."""
    name = job.removeprefix("site!").partition("#")[0]
    return int(name) if job.startswith("site!") and name.isascii() and name.isdecimal() else None
