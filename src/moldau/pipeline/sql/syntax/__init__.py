"""SQL text to trees and back: `tokens` cuts text into words, `parser` makes trees of them, `tree` is what they are
made of, `printing` writes them as text again.

Knows nothing of what is defined: names and types are the business of `analysis`. Start reading at
`parser/statements.py`.
"""
