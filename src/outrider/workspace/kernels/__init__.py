"""Keep an interpreter of each session and language alive between calls.

Nothing is exported: a server loads the pool, and the rest with the first execution.
"""
