"""Storage: the logs of partitions in Kafka's on-disk format, which FORMAT.md describes byte by byte.

    directory/  one entry of `log.dirs`: its logs, checkpoints, lock and identity. Start at `log_dir.py`
    log/        the log of one partition, from append to recovery. Start at `partition_log.py`
    segments/   a segment's file and indexes
    producers/  idempotent and transactional producers, and their snapshot files
    cleaner/    log compaction

The modules beside these packages are used by all of them: the interface to the disk, file names, settings, limits.
Storage imports `core` and `protocol`. The broker, the cluster, the node and the test kit may import it. It starts no
threads and waits for nothing: slow work is handed to the caller as jobs.
"""
