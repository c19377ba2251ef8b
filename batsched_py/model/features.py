"""Features of a simulation that a decision process requests from Batsim 5."""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Features(Struct, frozen=True):
    """Features that the decision process requests from Batsim 5; earlier versions have options for them.

    Attributes:
        dynamic_registration: it will register jobs, and send a command at the end of registration.
        profile_reuse: a profile is kept when the last of its jobs has ended.
        acknowledge_dynamic_jobs: registered jobs are answered by JobSubmittedEvent.
        forward_profiles_on_job_submission: submissions carry the job's profile.
        forward_profiles_on_jobs_killed: kills are answered with the profiles of the jobs.
        forward_profiles_on_simulation_begins: all profiles come with the first event.
    """

    dynamic_registration: bool = False
    profile_reuse: bool = False
    acknowledge_dynamic_jobs: bool = False
    forward_profiles_on_job_submission: bool = False
    forward_profiles_on_jobs_killed: bool = False
    forward_profiles_on_simulation_begins: bool = False


#: No features.
NO_FEATURES: Final = Features()
