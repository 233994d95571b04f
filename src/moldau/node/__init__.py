"""One broker process: opens the data, assembles the parts, and owns the event loop, threads, sockets and lifetimes.

Only the `moldau broker` command and the test kit import it. Start reading with `broker_node`, then `assembly`.
"""
