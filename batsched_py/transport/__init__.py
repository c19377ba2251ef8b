"""Connections to and from Batsim: ZeroMQ sockets, and detection of dead peers.

Start with connection.py: `Connection`, the interface that the loops around Batsim need, and the function that makes
Batsim stop. zmq_rep.py is the decision process's end, zmq_req.py Batsim's end for the simulator and the proxy;
zmq_socket.py has their common part, address.py the rules of addresses, peer_watch.py counts connected and lost peers.

Invariants:

* A wait ends with a message, with the loss of the peer, or with a time-out, if one was given.
* One Batsim is served; all other peers are refused and have no effect.
"""
