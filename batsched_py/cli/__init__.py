"""The command line: parse, call, print.

Start with `main`: it finds the command and turns any failure into one line and an exit code. Each command is a module
of `commands`: a frozen request, the options that fill it, and a function `command` that takes it, calls what lies below
and prints. `shared.command` makes requests of click's values. A new command is such a module and a row in
`catalogue.COMMANDS`; tests ask for its row in the README and a section of docs/cli.md.

Invariants: only `shared.terminal` and `shared.console` write to standard output and error; wrong input is one line and
exit code 2 before anything is written; a command's module is imported when the command is called, and no sooner, since
waiting for imports is waiting all the same; `__main__` and `shared.interruption` import next to nothing, so that a
signal is heeded from the first moment.
"""
