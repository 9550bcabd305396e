"""Run untrusted code, isolated as well as the machine allows.

Its resources are limited.

Nothing is exported: a server loads the settings and `sandbox.sandbox`, and the rest with the first execution.
"""
