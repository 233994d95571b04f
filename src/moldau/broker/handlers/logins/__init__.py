"""The APIs of logins: SASL after the login, SCRAM credentials, delegation tokens.

The login itself is `broker/request/connection_login.py`: these handlers see a client that has logged in, or need not.
"""
