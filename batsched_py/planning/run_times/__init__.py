"""Predictions of run times.

* `predictor`: the base class of predictors.
* `histories`: predictors from the previous jobs of each user.
* `learner`: a regression that is learned on line, `scikit_learner`: one by scikit-learn.
* `catalogue`: predictors by name.
* `corrections`: rules for predictions that were exceeded.
"""
