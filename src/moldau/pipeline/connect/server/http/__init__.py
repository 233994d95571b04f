"""Kafka Connect's REST API. One error boundary (`app.py`), one way to answer (`call.py`).

`routing.py` maps paths to handlers, `bodies.py` checks what clients send. The handlers are in
`connector_handlers.py`, `plugin_handlers.py` and `worker_handlers.py`. They block, and run on threads.
"""
