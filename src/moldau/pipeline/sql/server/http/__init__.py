"""ksqlDB's REST and websocket API over a `SqlService`.

    app = SqlApp(service)                                       # ASGI
    server = HttpServer(app, listener, http=FrontProtocol)      # HTTP/1.1, HTTP/2 without TLS, websockets on one port
    server.run()
    app.close()

`app` has the routes and the one error boundary; `*_handlers` answer requests, `bodies` reads what clients send,
`writers` and `entities` render what they get, both pure. `front` tells HTTP/2 from HTTP/1.1, `h2` speaks it. Knows
HTTP, but not Kafka. Imported by `server`. Start reading at `app.py`.
"""

from moldau.pipeline.sql.server.http.app import SqlApp
from moldau.pipeline.sql.server.http.front import FrontProtocol

__all__ = ["FrontProtocol", "SqlApp"]
