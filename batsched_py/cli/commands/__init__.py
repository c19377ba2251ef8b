"""The commands, one module each, imported when its command is called.

Start with `convert` for a small one, and `simulate` for one with all that a command can have.
"""
