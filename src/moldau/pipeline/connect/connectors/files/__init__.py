"""Files of records on a disk, in an object store or in HDFS: a sink that archives topics, a source that replays them.

`sink.py` and `source.py` are the connectors. `chunks.py` decides which records share a file, `formats/` writes and
reads files, `file_store.py` is the only part that touches the target.
"""
