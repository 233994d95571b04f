"""One entry of `log.dirs`: which logs are in it, and whether it is this broker's and usable. Start at `log_dir.py`.

The node opens directories; the broker creates and deletes logs in them.
"""
