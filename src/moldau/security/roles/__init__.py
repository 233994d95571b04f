"""Roles: what each one allows, who has been granted which, and what follows for brokers and services.

Pure. `model.py` has the words and what each role allows, `rules_of_roles.py` turns roles into the access rules that
brokers decide by, `rights.py` decides for HTTP services, `records.py` has the form in which grants are kept. Used by
HTTP services and by the command line; brokers know rules only.
"""
