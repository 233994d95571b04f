"""Reads and verifies log files on disk, for `moldau log`.

Imported by `commands/log.py` only. Start with `log_file.py`.
"""
