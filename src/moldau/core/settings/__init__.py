"""Settings: one declaration per configuration key, the layers a value may come from, and their text form.

Every package may import it. Start reading with `key`, then `resolve`.
"""
