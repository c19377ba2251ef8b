"""The decision process: bytes in, bytes out, and the loop around it."""
