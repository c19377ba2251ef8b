"""Connections to Batsim and from it: ZeroMQ sockets, and noticing a peer that dies.

Start with connection.py: `Connection`, all that the loops beside Batsim need of one, and the way to make Batsim stop.
zmq_rep.py is the decision process's end, zmq_req.py Batsim's end for the simulator and the proxy; zmq_socket.py has
what both share, address.py the rules of addresses, peer_watch.py counts who has introduced itself and who has gone.

Invariants:

* A wait ends: with a message, with the news that the peer has gone, or with a time-out, if one was given.
* One Batsim is served; whoever else connects is refused and disturbs nothing.
"""
