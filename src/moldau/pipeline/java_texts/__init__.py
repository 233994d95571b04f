"""What Java's library does with text, for those who take its settings: regular expressions, and numbers as text.

Pure. Imported by SQL and by Connect.
"""
