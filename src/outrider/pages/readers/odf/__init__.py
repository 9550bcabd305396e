"""Texts, tables and objects of LibreOffice's files."""
