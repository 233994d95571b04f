"""The registry over HTTP: Confluent's REST API, answered by one `Registry`. Start at `app.py`.

`routing.py` maps paths to the functions in the `*_handlers.py` modules; each takes a `Call` and returns the answer.
`forwarding.py` sends writes to the primary. Only `registry/server.py` imports this package.
"""
