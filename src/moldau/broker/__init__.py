"""The broker: what one server does for its clients, whatever the cluster around it.

Imported by `cluster/`, which connects several brokers, and by `node/`, which starts one; it imports
`storage/`, `coordination/`, `protocol/` and `core/`. Start with `request/client_session.py`, where a frame
comes in, and go on to the handler of its API in `handlers/`. `broker.py` lists the parts that handlers use.
"""
