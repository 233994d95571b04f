"""Upgrades of a checkpoint when the topology of its application has changed. Start at `upgrading.py`.

`inventory.py` lists what a topology keeps, `numbers.py` matches generated names, `comparison.py` decides what happens
to each store and topic: all pure. `carrying_out.py` changes the checkpoint between two batches. Imported by the driver
side and by `moldau streams plan` (`preview.py`); `inventory.py` also by the checkpoint and the workers.
"""
