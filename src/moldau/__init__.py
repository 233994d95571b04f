"""Moldau: the event-streaming platform as one Python package."""

__version__ = "0.1.0"
