"""Serving Fetch: reads for consumers and followers, their sessions, and the fetches that wait for data.

Start with `consumer_fetch.py`; the handler is `handlers/log/fetch.py`. Everything that appends imports
`parked_fetches.py`, to wake the fetches that wait.
"""
