"""Names and function sizes must not get worse; lower a number here when it has improved."""

from pathlib import Path

import outrider
from support.checkout import CHECKOUT
from support.readability import measure_readability

AT_MOST = {
    "functions named by a participle, %": 0.0,
    "functions of one word, %": 9.3,
    "private helpers with one caller, %": 17.9,
    "of these, at most 5 lines": 75,
    "module constants per 1,000 lines": 17.4,
    "definitions of constants that five or more files define": 0,
    "class names of more than one module, %": 0.0,
    "imports inside functions per 1,000 lines": 5.9,
    "module docstrings that begin with a question word, %": 0.0,
    "texts with 'is no'": 0,
    "median lines of a function": 8,
    "functions over 40 lines, %": 0.6,
}
AT_LEAST = {"mean length of a function's name": 12.7}
TESTS_AT_MOST = {
    "functions named by a participle, %": 0.3,
    "functions of one word, %": 12.8,
    "definitions of constants that five or more files define": 0,
    "module docstrings that begin with a question word, %": 0.2,
    "texts with 'is no'": 10,
}

FOLDERS = ("bench", "evals", "demo", "release", "docs")
FOLDERS_AT_MOST = {  # a column for each of FOLDERS
    "functions named by a participle, %": (0.0, 0.0, 0.0, 0.0, 0.0),
    "functions of one word, %": (10.9, 6.0, 11.8, 16.7, 9.1),
    "private helpers with one caller, %": (14.8, 15.9, 34.6, 4.2, 36.4),
    "of these, at most 5 lines": (19, 34, 10, 1, 1),
    "module constants per 1,000 lines": (18.7, 26.5, 34.2, 39.5, 18.3),
    "definitions of constants that five or more files define": (0, 0, 0, 0, 0),
    "class names of more than one module, %": (0.0, 0.0, 0.0, 0.0, 0.0),
    "imports inside functions per 1,000 lines": (3.5, 4.9, 0.0, 0.0, 0.0),
    "module docstrings that begin with a question word, %": (0.0, 0.0, 0.0, 0.0, 0.0),
    "texts with 'is no'": (0, 0, 0, 0, 0),
    "median lines of a function": (5, 6, 7, 10, 8),
    "functions over 40 lines, %": (0.0, 0.0, 0.0, 0.0, 0.0),
}
FOLDERS_AT_LEAST = {"mean length of a function's name": (12.7, 12.6, 12.0, 12.2, 12.4)}


def test_names_and_functions_stay_within_the_readability_limits():
    figures = measure_readability(Path(outrider.__file__).parent)

    assert find_worse_figures(figures, AT_MOST, AT_LEAST) == {}, "each figure stands before its limit"
    assert set(figures) == set(AT_MOST) | set(AT_LEAST)


def test_names_and_functions_of_tools_stay_within_the_readability_limits():
    worse = {}
    for column, folder in enumerate(FOLDERS):
        figures = measure_readability(Path(__file__).parents[2] / folder)
        at_most = {name: limits[column] for name, limits in FOLDERS_AT_MOST.items()}
        at_least = {name: limits[column] for name, limits in FOLDERS_AT_LEAST.items()}
        worse[folder] = find_worse_figures(figures, at_most, at_least)

    assert worse == {folder: {} for folder in FOLDERS}, "each figure stands before its limit"
    assert set(FOLDERS_AT_MOST) | set(FOLDERS_AT_LEAST) == set(AT_MOST) | set(AT_LEAST)


def find_worse_figures(
    figures: dict[str, float], at_most: dict[str, float], at_least: dict[str, float]
) -> dict[str, tuple[float, float]]:
    """Return the figures that are worse than their limits, each with its limit."""
    too_high = {name: (figures[name], limit) for name, limit in at_most.items() if figures[name] > limit}
    too_low = {name: (figures[name], limit) for name, limit in at_least.items() if figures[name] < limit}
    return too_high | too_low


def test_tests_and_their_helpers_stay_within_the_readability_limits():
    figures = measure_readability(CHECKOUT / "tests")

    worse = {name: (figures[name], limit) for name, limit in TESTS_AT_MOST.items() if figures[name] > limit}

    assert worse == {}, "each figure stands before its limit"
