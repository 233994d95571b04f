"""Functions of DataFrames inside a topology: `runner.py` is the place to start.

The driver runs them, one Spark job a batch, beside the lanes. `columns.py` says what columns a record has, `frame.py`
reads records into a DataFrame, `job.py` calls the user's function, `places.py` sorts its result, and `runner.py`
publishes that exactly once.
"""
