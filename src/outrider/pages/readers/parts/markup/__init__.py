"""Lightweight markup and LaTeX, line by line."""
