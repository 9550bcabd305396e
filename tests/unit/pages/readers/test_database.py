"""Databases of SQLite, as SQLite itself writes them."""

import random
import sqlite3

import pytest

from outrider.core.errors import OutriderError, Unavailable
from support.documents.office_files import read_document


def database(*statements: str, rows: int = 0) -> bytes:
    with sqlite3.connect(":memory:") as made:
        for each in statements:
            made.execute(each)
        made.executemany("INSERT INTO lights VALUES (?, ?, ?)", [(f"n{at}", at, bytes(at)) for at in range(rows)])
        made.commit()
        body = made.serialize()
    made.close()
    return body


def outcome(body: bytes) -> str:
    """The kind of the document, or the code of the error."""
    try:
        return read_document(body).kind
    except OutriderError as error:
        return error.code


LIGHTS = "CREATE TABLE lights (name TEXT, height INTEGER, picture BLOB)"


def test_tables_are_told_with_their_columns_and_first_rows():
    body = database(
        LIGHTS,
        "INSERT INTO lights VALUES ('Wend | old', 41, x'0102'), (NULL, 12, NULL)",
        'CREATE TABLE "odd ""name""" (a)',
        "CREATE VIEW tall AS SELECT * FROM lights WHERE height > 20",
    )
    document = read_document(body)
    assert document.markdown == (
        "## lights (2 rows)\n\n"
        "| name | height | picture |\n| --- | --- | --- |\n| Wend \\| old | 41 | (2 bytes) |\n|  | 12 |  |\n\n"
        '## odd "name" (0 rows)\n\na\n\n## tall (view, not read)'
    )
    assert document.metadata == {"tables": {"lights": 2, 'odd "name"': 0}}
    assert document.kind == "database"


def test_of_many_rows_the_first_ones_are_shown():
    document = read_document(database(LIGHTS, rows=500))
    assert "## lights (500 rows)" in document.markdown
    assert document.markdown.endswith("(the first 20 rows)")
    assert len(document.tables[0]) == 21


def test_what_never_ends_is_left_out():
    body = database(
        "CREATE TABLE lights (a, b, c)",
        "CREATE VIEW endless AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
    )
    assert "endless (view, not read)" in read_document(body).markdown


def test_half_of_one_and_damage_are_read_or_told():
    body, rng = database(LIGHTS, rows=300), random.Random(3)
    with pytest.raises(Unavailable):
        read_document(body[:50])
    for _ in range(100):
        damaged = bytearray(body[: rng.choice((len(body), len(body) // 2))])
        for _ in range(rng.choice((1, 10, 200))):
            damaged[rng.randrange(20, len(damaged))] = rng.randrange(256)
        assert outcome(bytes(damaged)) in ("database", "broken_file")
