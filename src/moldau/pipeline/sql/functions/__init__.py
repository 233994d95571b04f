"""What SQL's functions are and do: their declarations, and their meaning in Python.

`declaration` says what a function is, `library` finds one by name and argument types; each of the other modules holds
the functions of one subject. Pure: no clock and no dice but those a call is given. Start reading at `declaration.py`.
"""
