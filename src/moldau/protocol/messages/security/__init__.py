"""APIs of authentication, ACLs, delegation tokens, SCRAM credentials and quotas. Anything may import them."""
