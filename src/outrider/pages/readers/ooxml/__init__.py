"""Packages of Office 2007 and later: their parts, words, styles, formulas, charts."""
