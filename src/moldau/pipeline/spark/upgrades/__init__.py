"""What a checkpoint keeps when its application has changed.

`inventory.py` says what a topology keeps, `numbers.py` finds generated names again, `comparison.py` says what becomes
of each store and topic: all pure. `carrying_out.py` does it, between two batches; `upgrading.py` is where to start.
"""
