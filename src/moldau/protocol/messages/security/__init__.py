"""APIs of authentication, ACLs, delegation tokens, SCRAM credentials and quotas. Anything may import them.

Moldau serves none of them yet. They are declared for the coming security work; the command line
already uses SASL against brokers that ask for it.
"""
