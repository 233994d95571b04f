"""Dynamic configuration: the settings in force, and how the config APIs describe and change them.

Start with `config_store.py` (state) and `config_admin.py` (the APIs). Imported by the handlers, `topics/`,
`coordinator/` and `node/`.
"""
