"""The worker side of applications: runs the tasks of a batch in a Python worker of Spark.

Start at `slots.py` (the slots of a worker process), then `slot.py` (a batch in a slot). Must not import the driver
side. The driver imports `slots.run_slot` only.
"""
