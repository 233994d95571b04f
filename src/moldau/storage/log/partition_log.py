"""`PartitionLog`: the log of one partition, with every operation on it as a method. Start reading here.

The operations are functions in the modules named below and the state is in `log_state`. Append and read are the hot
path, so the functions are bound as methods as they are, without a call in between.
"""

from moldau.storage.log import appending, flushing, reading, retention, truncation
from moldau.storage.log.log_state import LogState


class PartitionLog(LogState):
    """Batches in order of offset, in segments: appended at the end, read anywhere, cut at both ends.

    Knows nothing of leadership and never blocks: fsync and unlinking are handed out as jobs. All methods belong to the
    thread that owns the log, except `prepare`, `find_offset_by_time` and `find_max_timestamp`.
    """

    __slots__ = ()

    prepare = appending.prepare
    append_as_leader = appending.append_as_leader
    append_as_follower = appending.append_as_follower

    read = reading.read
    available_bytes = reading.available_bytes
    find_offset_by_time = reading.find_offset_by_time
    find_max_timestamp = reading.find_max_timestamp

    delete_records_before = truncation.delete_records_before
    truncate_to = truncation.truncate_to
    truncate_fully_and_start_at = truncation.truncate_fully_and_start_at
    apply_retention = retention.apply_retention

    flush_due = flushing.flush_due
    begin_flush = flushing.begin_flush
    finish_flush = flushing.finish_flush
    begin_close = flushing.begin_close
    close = flushing.close
