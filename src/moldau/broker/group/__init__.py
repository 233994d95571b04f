"""The group coordinator as a pure machine: `machine.GroupMachine` decides, replays, and explains.

Nothing here knows a clock, a disk, a socket or dice: time and fresh ids are arguments, what is to be written and
answered is returned (`core/machine.py`). What all groups share is here; each protocol has a folder, and so have their
offsets and their history.
"""
