"""The command line: parse, call, print.

Start with `main`: it finds the command and converts any failure into one line and an exit code. Each command is a
module of `commands`: a frozen request, the options that fill it, and a function `command` that takes it, calls the
lower layers and prints. `shared.command` builds requests from click's values. A new command needs a module like these
and a row in `catalogue.COMMANDS`; tests require a row in the README and a section of docs/cli.md.

Invariants: only `shared.terminal` and `shared.console` write to standard output and error; wrong input is one line and
exit code 2 before anything is written; a command's module is imported only when the command is called, because imports
take time; `__main__` and `shared.interruption` import almost nothing, so that signals are handled from the beginning.
"""
