"""The Batsim conversation without I/O: typed events and commands, two dialects, the rules of whose turn it is."""
