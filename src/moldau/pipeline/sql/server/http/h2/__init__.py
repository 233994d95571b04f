"""HTTP/2 without TLS for an ASGI application: what uvicorn does not speak.

`connection` owns the socket and the state machine of the `h2` library; `stream` is one request of it; `upgrade` reads
the HTTP/1.1 request that asks for HTTP/2. Knows nothing of SQL. Imported by `front`.
"""
