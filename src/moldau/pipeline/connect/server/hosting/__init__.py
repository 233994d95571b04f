"""What runs on this worker: its share of the connectors, in threads, and of the tasks, in the driver process.

`membership.py` shares the work, `shares.py` says what belongs to a share. `connector_keeper.py` keeps connectors at
what the config topic says, each a `connector_run.py`. `task_driver.py` keeps the driver process at the tasks, whose
files are in a `worker_folder.py`; `state_reports.py` writes down what became of them. `hosting.py` puts them together.
"""
