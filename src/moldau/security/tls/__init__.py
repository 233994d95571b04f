"""TLS from Kafka's settings: keys and certificates from PEM, PKCS12 and JKS, contexts, names of clients.

Used by the broker, for its listeners and its connections to other brokers, and by HTTP services. Opens no socket.
Start reading with `tls_settings`.
"""
