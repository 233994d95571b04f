"""The history of groups and offsets, in memory only, and the explanations derived from it.

Decides nothing: filled by `replay`, read by the private API Explain. Start with `history`.
"""
