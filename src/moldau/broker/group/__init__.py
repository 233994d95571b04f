"""The group coordinator as a pure machine: `machine.GroupMachine` decides, replays and explains.

Nothing here uses a clock, disk, socket or random numbers: time and new ids are arguments, and records and
answers are return values (`core/machine.py`). What all groups share is here; each protocol, the offsets and
the history have a folder. Start with `machine.py`. Imported by `coordinator/` and by the handlers of groups.
"""
