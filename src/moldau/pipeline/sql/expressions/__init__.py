"""Expressions with types: what operators, casts and calls mean for values of given types.

`typing` walks over the tree of an expression and gives its type and its code (`pipeline.code`); `calls` finds the
form of a function that fits; `operators`, `casts`, `times` and `numbers` say what is computed. Imported by `analysis`.
Start reading at `typing.py`.
"""
