"""What every package shares: IDs, error codes, exceptions, settings, and the interfaces to clock, files and threads.

Every package may import it; it imports none of them and does no I/O. Start reading with `ids` and `errors`.
"""
