"""The conversation with Batsim, without I/O: bytes to typed values and back, in three dialects.

Start with events.py and commands.py: one frozen class for each message of either direction, the same in every dialect.
Then conversation.py, where both ends of the conversation are: `DecisionSide` for us, `BatsimSide` for the simulator.
Between them, from the outside in:

* codec.py: the JSON envelope; forms.py: `Form` and `Forms`, the tables that lead from a name on the wire to a class and
  back, and tell what the other end would read of a value, so that it may be handed over unwritten (`as_read`);
* event_forms.py and command_forms.py: a reader and a writer for each class, with the tables of Batsim 1 to 4;
  begins.py: SIMULATION_BEGINS, whose form is the largest;
* batsim5: the same for Batsim 5, and its greeting;
* dialects.py: the three versions, v1.4 (Batsim 1), v4 (Batsim 3 and 4) and v5, and the choice between them;
* fields.py: typed reading of single members, and of jobs and their progress.

Invariants:

* What a peer sends leads to a typed value or to RemoteProtocolError, which names the member and the rule; what we are
  about to send and the peer must refuse, to LocalProtocolError, and nothing is sent.
* An event that nobody knows is kept whole, and so is a member that nobody describes; a command must be known.
* Requests and replies alternate, and time never goes back (`TURNS` in conversation.py).
* Reading and then writing a message gives the same message (a property, tried for all kinds in each dialect).
"""
