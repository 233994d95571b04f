"""SASL: the exchanges of the mechanisms, on the server's side and on the client's. Pure: bytes in, bytes out.

`exchange` says what an exchange is; `plain`, `scram` and `oauthbearer` are the server's side of one mechanism each;
`client_login` is the client's side, which brokers use towards each other. `listener_logins` reads the settings and
says which mechanisms a listener offers.
"""
