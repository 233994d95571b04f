"""Runs the tasks of connectors in Spark's Python workers.

The driver has a `ConnectorApp` for each connector (`connector_app.py`, start there). All tasks of a lane share one
Spark task at a time, a shift (`shifts.py`): it lasts a second and then reports. In the worker, each task has a thread
(`worker/task_thread.py`) that goes on from shift to shift: `worker/source_run.py` and `worker/sink_run.py` are what it
does. What has to do with Connect alone is in `pipeline.connect.runtime`.
"""
