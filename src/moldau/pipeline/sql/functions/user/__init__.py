"""Functions of the user, written in Python. Users import the decorators from here."""
