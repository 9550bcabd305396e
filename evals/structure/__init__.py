"""Measure how much of a page's structure its Markdown keeps.

    python -m evals.structure.evaluate [--every 5] [--lost 3]     # shares, and examples of what is lost
    python -m evals.structure.gate                                # fails below the floors

Two corpora: `pages/`, written for this purpose in the ways in which sites write code, tables, lists, notes and
formulas, each with its facts beside it as JSON; and, where `OUTRIDER_WCXB` names it, the large one, whose facts
are derived: what the page marks up and whose words stand in the reference text at the same place.
"""
