"""The driver side of applications: runs their batches on Spark's workers, and hosts many applications in one process.

`query.py` runs the batches of one application; start there. `__main__.py` is the process that the command line starts,
`hosting.py` its applications, `http` its interface. `standing.py` and `reset.py` look at an application from outside.
Imported by the command line, `application`, `connect` and `real_time`.
"""
