"""RedisSink: records become strings, hashes, JSON documents, entries of streams or members of sets.

`commands.py` says what a record means to Redis, without I/O; `server.py` is the only module that talks to a server.
Start reading with `sink.py`.
"""
