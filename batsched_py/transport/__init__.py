"""Bytes to and from the peer over ZeroMQ: requests and replies in strict alternation, and news of the peer's death."""
