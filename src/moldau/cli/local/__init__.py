"""Processes on this machine: services, local clusters, the Streams driver and the demo.

Imported by `up`, `cluster up`, `streams run` and tests of whole clusters. Start with `services.py`.
"""
