"""The referee: the check of commands by Batsim's rules.

Start with `referee`, the table of commands. The responsible part applies a command, or raises `BrokenRuleError`; the
referee adds the time and the event. `placement` contains the rules for hosts. `deadlock` describes a run that cannot
continue, `livelock` ends one without progress, `strictness` lists what Batsim would refuse in the files.
"""
