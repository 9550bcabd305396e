"""Rows for loops, in the forms of people and programs."""

import pytest

from outrider.core.csv_rows import format_csv
from outrider.core.errors import InvalidInput
from outrider.flows.values import parse_rows


def test_rows_are_read_from_objects_json_csv_and_plain_lists(subtests: pytest.Subtests):
    wanted = [{"name": "Ada", "age": "36"}, {"name": "Bo, jr.", "age": "7"}]
    for given in (
        [{"name": "Ada", "age": 36, "more": 1}, {"name": "Bo, jr.", "age": 7}],
        '[{"name": "Ada", "age": 36}, {"name": "Bo, jr.", "age": "7"}]',
        'name,age\nAda,36\n"Bo, jr.",7\n',
    ):
        with subtests.test(given=given):
            assert parse_rows(given, ["name", "age"], "people") == wanted
    assert parse_rows(f"name,age\n{'x' * 200_000},7", ["age"], "people") == [{"age": "7"}]
    assert parse_rows(["a", "b"], ["name"], "people") == [{"name": "a"}, {"name": "b"}]


def test_broken_rows_are_reported_with_their_position(subtests: pytest.Subtests):
    for given, problem in (
        ("[1", "parameters.p: is not valid JSON"),
        ("[" * 100_000, "parameters.p: is not valid JSON"),
        ('a,b\n"x,1', "parameters.p: is not valid CSV"),
        ("a\n1\n", "parameters.p, row 1: has no b"),
        (7, "parameters.p: is not a list of rows"),
        ([{"a": 1, "b": 2}] * 1_001, "parameters.p: has 1001 rows"),
    ):
        with subtests.test(problem=problem), pytest.raises(InvalidInput, match=problem):
            parse_rows(given, ["a", "b"], "p")


def test_no_cell_of_a_written_file_is_run_by_a_spreadsheet():
    written = format_csv([{"name": "=1+1", "cents": -5}, {"name": "@x", "note": "a,b"}])
    assert written.splitlines() == ["name,cents,note", "'=1+1,-5,", '\'@x,,"a,b"']
