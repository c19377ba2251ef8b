"""The conversation with Batsim, without I/O: bytes to typed values and back, in three dialects.

Start with events.py and commands.py: one frozen class for each message of either direction, the same in every dialect.
Then read conversation.py with both ends of the conversation: `DecisionSide` for batsched-py, `BatsimSide` for the
simulator. Between them, from the outside in:

* codec.py: the JSON envelope; forms.py: `Form` and `Forms`, the tables that map a name on the wire to a class and back,
  and return the value that the other end would read, so that it may be passed without encoding (`as_read`);
* event_forms.py and command_forms.py: a reader and a writer for each class, with the tables of Batsim 1 to 4;
  begins.py: SIMULATION_BEGINS, the largest form;
* batsim5: the same for Batsim 5, and its greeting;
* dialects.py: the three versions, v1.4 (Batsim 1), v4 (Batsim 3 and 4) and v5, and the choice between them;
* fields.py: typed reading of single members, and of jobs and their progress.

Invariants:

* Reading a message results in a typed value or in RemoteProtocolError, which names the member and the rule; writing one
  that the peer must refuse results in LocalProtocolError, and nothing is sent.
* Unknown events and undocumented members are kept; unknown commands are errors.
* Requests and replies alternate, and time never decreases (`TURNS` in conversation.py).
* Reading and then writing a message gives the same message (a property, tested for all kinds in each dialect).
"""
