"""Measure how much of a page's structure its Markdown keeps.

    python -m evals.structure.evaluate [--every 5] [--lost 3]     # shares, and examples of what is lost
    python -m evals.structure.gate                                # fails below the floors

There are two corpora: `pages/`, written for this purpose with the usual markup of code, tables, lists, notes and
formulas, each with its facts as JSON; and, if `OUTRIDER_WCXB` names it, the large one with derived facts: marked-up
elements whose words are in the reference text at the same place.
"""
