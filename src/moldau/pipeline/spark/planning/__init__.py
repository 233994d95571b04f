"""Decides what each batch of an application reads: `planner.py` is the place to start.

Planner and shape are pure; `time_index.py` asks the brokers, `ledger.py` keeps the decisions in the checkpoint.
Imported by the driver side of pipelines alone.
"""
