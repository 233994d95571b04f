"""APIs of topics and their partitions: metadata, creation, deletion, elections, reassignments. Anything may
import them.
"""
