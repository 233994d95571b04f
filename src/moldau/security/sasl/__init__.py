"""SASL: the exchanges of the mechanisms, on the server's side and on the client's. Pure: bytes in, bytes out.

`exchange` says what an exchange is; `plain`, `scram` and `oauthbearer` are the server's side of one mechanism each;
`client_login` and `kerberos_client` are the client's side. `listener_logins` reads the settings and says which
mechanisms a listener offers; `broker_login` says with which one this broker logs in to the others.
"""
