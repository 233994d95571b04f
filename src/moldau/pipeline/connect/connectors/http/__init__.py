"""Records as requests to a web service, and its answers as records. Start with `sink.py` and `source.py`."""
