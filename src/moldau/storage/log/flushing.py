"""Flushing and closing a log. The thread that owns the log begins and finishes a job; a worker thread runs it."""

from moldau.storage.disk import DirectoryHealth
from moldau.storage.log.flush_job import FlushJob
from moldau.storage.log.log_state import LogState
from moldau.storage.log.partition_metadata import topic_id_file
from moldau.storage.names import LEADER_EPOCHS, PARTITION_METADATA


def flush_due(log: LogState, now_ms: int) -> bool:
    """Whether `flush.messages` or `flush.ms` ask for a flush now."""
    return log.flush_state.is_due(log.end_offset, now_ms)


def begin_flush(log: LogState, now_ms: int, *, rolled_only: bool = False) -> FlushJob | None:
    """Returns a job that flushes the log up to its end, or only its complete segments. None when there is nothing to
    flush or a flush is running."""
    if log.health.offline_reason is not None:
        return None
    state = log.flush_state
    with log.health.guard(f"Flushing {log.topic_partition}"):
        has_rolled = state.has_rolled
        job = state.begin(log.end_offset, now_ms, rolled_only=rolled_only)
    if job is not None:
        if has_rolled:
            _add_unsaved_files(job, log)
        if state.recovery_point == 0 and log.topic_id is not None:
            # Not synced when the log is created, so that ten thousand partitions can be created at once.
            job.add_replacement(PARTITION_METADATA, topic_id_file(log.topic_id))
    return job


def finish_flush(log: LogState, job: FlushJob) -> None:
    """Moves the recovery point. Raises StorageFault when the job failed, unless the log is closed."""
    if log.is_closed:
        return
    log.flush_state.finish(job)
    if job.error is not None:
        raise log.health.fail(f"Flushing {log.topic_partition}", job.error) from job.error
    if job.is_stale:
        with log.health.guard(f"Flushing {log.topic_partition}"):
            log.producers.remove_strays(job.replaced_files)


def begin_close(log: LogState) -> FlushJob:
    """Returns a job that flushes everything the next start needs to skip recovery. Nothing may be appended any
    more."""
    with log.health.guard(f"Closing {log.topic_partition}"):
        log.segments.active.seal()
        log.producers.take_last_snapshot(log.end_offset)
        job = log.flush_state.begin_last(log.end_offset)
        _add_unsaved_files(job, log)
    return job


def close(log: LogState, *, clean: bool) -> None:
    """Ends all use of the log. After a clean close the next start skips recovery."""
    if clean and log.health.offline_reason is None:
        job = begin_close(log)
        job.run()
        finish_flush(log, job)
    log.is_closed = True
    for segment in log.segments.all:
        segment.leave()
    log.health = DirectoryHealth(log.health.directory)
    log.health.offline_reason = f"The log of {log.topic_partition} is closed."


def _add_unsaved_files(job: FlushJob, log: LogState) -> None:
    """Producer snapshots and leader epochs, which are written whenever a segment is complete."""
    for name, data in log.producers.take_unsaved():
        job.add_replacement(name, data)
    if not log.epochs.is_saved:
        log.epochs.is_saved = True
        job.add_replacement(LEADER_EPOCHS, log.epochs.text())
