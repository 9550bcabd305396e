"""Sheets of any workbook: how a cell reads, and the table that cells become."""
