"""Running code that nobody vouches for: kept in as well as this machine can, and within limits.

It exports nothing: a server loads its settings and its door (`sandbox.sandbox`), and the rest at the first execution.
"""
