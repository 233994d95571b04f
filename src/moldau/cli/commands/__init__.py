"""One module or package per `moldau` command, named as the command; each defines `command`.

Only `main.py` imports them, by name. Start with `offsets.py`, a small one; `topics/` shows a command with subcommands.
"""
