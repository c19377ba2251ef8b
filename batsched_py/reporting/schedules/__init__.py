"""Runs read back: the files of a simulation or of a log, as a schedule."""
