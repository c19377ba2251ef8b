"""The plan of a campaign: a study file, what it describes, and the run of each combination, with its key.

`study_file` reads a `Campaign`, `planner` turns it into a `CampaignPlan`, and `run_key` computes the keys of its runs.
"""
