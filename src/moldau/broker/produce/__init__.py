"""Serving Produce: appending batches, and answering once they are as safe as the client asked.

Start with `appending.py`; the handler is `handlers/log/produce.py`, and only it imports this package.
"""
