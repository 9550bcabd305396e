"""Accessible names, descriptions and roles, measured on public suites: `python -m evals.names FOLDER`."""
