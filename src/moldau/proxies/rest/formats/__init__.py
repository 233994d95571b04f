"""JSON in requests and answers, bytes in records: what stands between. One codec per embedded format.

`schemas.py` finds schemas and makes codecs of them; `plain.py` has the formats without a schema.
"""
