"""A decision process for the Batsim platform simulator, and a simulator to try it without Batsim."""

__version__ = "0.1.0"
