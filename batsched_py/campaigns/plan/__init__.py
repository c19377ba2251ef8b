"""The plan of a campaign: a study file, what it describes, and the run of each combination, with its key.

`study_file` reads a `Campaign`, `planner` makes a `CampaignPlan` of it, whose runs have keys of `run_key`.
"""
