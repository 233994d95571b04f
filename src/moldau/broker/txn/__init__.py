"""The transaction coordinator as a pure machine: `machine.TxnMachine` decides, replays, and explains.

Nothing here knows a clock, a disk, a socket or dice: time and fresh producer ids are arguments, what is to be written,
answered and sent to partition leaders is returned (`core/machine.py`, `markers.py`).
"""
