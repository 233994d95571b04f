"""Whole clusters on a simulated clock, network and disk."""
