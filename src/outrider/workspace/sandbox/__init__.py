"""Run untrusted code, isolated as well as this machine allows, and within resource limits.

Nothing is exported: a server loads the settings and `sandbox.sandbox`, and the rest with the first execution.
"""
