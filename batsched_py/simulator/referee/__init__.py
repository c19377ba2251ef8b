"""The referee: whether commands obey Batsim's rules.

Start with `referee`, the table of commands. The part that a command is about applies it, or raises `BrokenRuleError`;
the referee adds when it happened and in which event. `placement` has the rules for hosts. `deadlock` describes a run
that cannot go on, `livelock` ends one that does not, `strictness` names what Batsim would refuse in the files.
"""
