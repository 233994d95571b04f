"""Records as documents of Elasticsearch or OpenSearch. Start with `sink.py`; `bulk.py` has the requests."""
