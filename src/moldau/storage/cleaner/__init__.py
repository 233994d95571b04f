"""Log compaction: of a compacted topic's closed segments, only the last record of each key stays.

    plan.py          what of which log may be cleaned, and how its segments are grouped (pure)
    offset_map.py    the last offset of each key in the dirty part
    transactions.py  which batches belong to aborted transactions, which markers may go
    batch_filter.py  what is left of one batch
    batch_source.py  whole batches of a segment file, in large reads
    throttle.py      the bound on reads and writes per second
    job.py           one round over one log, off the owner's thread: writes `.cleaned` segments
    log_cleaner.py   the owner's side: chooses a log, swaps the result in, keeps the checkpoint

Offsets never change; a cleaned log has gaps. Only segments below the active one and below the last stable offset
are touched.
"""
