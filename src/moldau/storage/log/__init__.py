"""The log of one partition. Start at `partition_log.py`; `log_state.py` owns the state.

    appending.py, append_check.py   batches in, as leader or follower
    reading.py, time_query.py       batches out, by offset or by time
    truncation.py, retention.py     cutting the log at either end
    flushing.py, flush_state.py, flush_job.py   how far the log is on stable storage
    recovery.py, leftovers.py       opening a log, after a clean stop or a crash
    epochs.py, partition_metadata.py   the two small files beside the segments

`directory` opens and creates logs; the broker and the cluster append, read and cut them.
"""
