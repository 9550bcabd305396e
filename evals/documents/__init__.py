"""Measure how well tables and reading order of PDFs are preserved."""
