"""The `moldau` command line: a Kafka client, apart from the commands that start services.

`main.py` finds a command by name in `commands/` and imports it only then. Commands use `client/` to talk to a
cluster or registry, `formats/` for keys and values, `render/` for output, `log_files/` for files on disk and
`local/` for processes on this machine. None of these imports `commands/`. Nothing outside this package imports it,
apart from tests and `python -m moldau`. Start with `main.py`, then `commands/topics/`.
"""
