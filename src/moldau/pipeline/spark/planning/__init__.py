"""Decides what each batch of an application reads. Start at `planner.py`.

`planner.py` and `shape.py` are pure. `time_index.py` asks the brokers, `ledger.py` keeps the plans in the checkpoint.
Imported by the driver side only.
"""
