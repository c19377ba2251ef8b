"""The plan of a campaign: the study file, its content, and the runs of all combinations with their keys.

`study_file` reads a `Campaign`, `planner` turns it into a `CampaignPlan`, and `run_key` computes the keys of its runs.
"""
