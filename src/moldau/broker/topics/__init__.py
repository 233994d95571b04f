"""Topics: the catalog that Metadata is answered from, and the changes to it.

Start with `catalog.py` and `topic_admin.py`. Imported by the handlers, `coordinator/`, `cluster/` and
`node/`.
"""
