"""Batsim's side of the protocol: a referee that shares only the model and the protocol with what it judges."""
