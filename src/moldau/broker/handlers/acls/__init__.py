"""Handlers about rules of access (ACLs), over `coordination/security/`. Only `handlers` imports them."""
