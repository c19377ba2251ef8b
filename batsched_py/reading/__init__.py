"""Readers of inputs: every member is obeyed, refused, or told in one line; the tables of members, and the lines."""
