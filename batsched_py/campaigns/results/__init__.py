"""The results of a campaign: a dataset with a row for each run, tables and figures.

`dataset` writes Parquet, `groups` makes comparisons of the runs, `campaign_table` and `campaign_figures` show them.
"""
