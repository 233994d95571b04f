"""Hand-tuned codecs of Produce and Fetch, the two APIs that carry the data.

They must agree with the general codec, which property tests check. Imported by the fetch and produce paths of
the broker. Start with `produce_codec.py`.
"""
