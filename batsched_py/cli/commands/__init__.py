"""The commands, one module each, imported when its command is called.

Start with `convert`, a small one, and `simulate`, which uses all features of a command.
"""
