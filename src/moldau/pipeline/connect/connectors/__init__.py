"""The connectors that come with the platform: a folder for each system, against `api.py` only."""
