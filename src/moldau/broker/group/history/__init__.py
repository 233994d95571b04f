"""What happened to groups and offsets, in memory only, and the explanations made of it.

Decides nothing: fed by `replay`, read by the private API Explain.
"""
