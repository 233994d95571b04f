"""The proxy as a server. Start at `proxy.py`, or at `connection.py` to follow a packet.

proxy.py         puts the parts together; starts, stops, and starts again when the state was lost
security.py      TLS and logins
metrics.py       figures for Prometheus
hub.py           the parts, for each other
connection.py    one client's socket: packets in, packets out, when to stop reading
websocket.py     the same over websockets
publishing.py    messages from clients to Kafka, and their acknowledgements in order
delivery.py      messages from Kafka to clients
catching_up.py   brings a session that was away or too slow to where the others are
sharing.py       shared subscriptions: each message to one of several clients
subscribing.py   SUBSCRIBE and UNSUBSCRIBE
sessions.py      who is connected, what is stored of it, wills, expiry
"""
