"""A broker as one of several: registration, replication, the controller, and what the broker does on each change.

A broker that stands alone loads none of it. Only `node` imports it. Start reading with `member`, which creates the
other parts; `replication` and `controller` decide, the modules here carry it out.
"""
