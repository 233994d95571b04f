"""Log compaction: in the closed segments of a compacted topic, only the last record of each key stays.

    plan.py          what may be cleaned, and how segments are grouped (pure)
    offset_map.py    the last offset of each key in the dirty part
    transactions.py  which batches belong to aborted transactions, which markers may be removed
    batch_filter.py  what is left of one batch
    batch_source.py  whole batches of a segment file, in large reads
    throttle.py      the limit on bytes read and written per second
    job.py           one round on one log, on a worker thread: writes `.cleaned` segments
    log_cleaner.py   chooses a log, swaps the result in, keeps the checkpoint; on the owner's thread

Offsets never change; a cleaned log has gaps. The cleaner touches only segments below the active one and below the
last stable offset. The node runs it; start at `log_cleaner.py`.
"""
