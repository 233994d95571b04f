"""What each request to the registry changes: pure decisions over `RegistryState` that return facts to write.

Start at `registration.py`, the main path: `lookup.py` finds what is registered already, `schema_parser.py` parses
schemas with their references, `evolution.py` tests compatibility, `governance_merge.py` adds inherited metadata and
rules. `deletion.py`, `governance.py` (configurations and modes) and `associations.py` are the other requests.
`scope.py` finds the configuration and mode that apply to a subject.

Only `service.py` and the HTTP handlers import this package. Nothing in it uses a clock, a thread or Kafka.
"""
