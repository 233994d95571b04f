"""Applications on a Spark Connect server. Imported by `application` and `real_time`; start at `connect_query.py`."""
