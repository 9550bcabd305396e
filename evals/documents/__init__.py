"""Measure how well the tables and the reading order of PDFs are kept."""
