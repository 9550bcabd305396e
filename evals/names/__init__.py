"""Accessible names, descriptions and roles, measured on Web Platform Tests and axe: `python -m evals.names`."""
