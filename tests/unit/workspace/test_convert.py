"""Conversions keep a file's content, or refuse if something would be lost."""

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.core.errors import InvalidInput
from outrider.workspace.convert import convert_file

pytestmark = pytest.mark.anyio
CELLS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=8)


async def fake_read(data: bytes, name: str) -> str:
    return f"read {name}: {data.decode()}"


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=6))
async def test_a_table_survives_conversion_to_json_and_back(rows: list[list[str]]):
    source = io.StringIO(newline="")
    csv.writer(source).writerows([["first", "second"], *rows])
    there = await convert_file(source.getvalue().encode(), "t.csv", "json", fake_read)
    assert [list(row.values()) for row in json.loads(there)] == rows
    back = await convert_file(there, "t.json", "csv", fake_read)
    assert list(csv.reader(io.StringIO(back.decode(), newline="")))[1:] == rows


async def test_tables_become_markdown_and_html():
    data = 'name;note\nä|b;"<i>\nx"\n'.encode("utf-16")
    assert (await convert_file(data, "t.csv", "md", fake_read)).decode() == (
        "| name | note |\n| --- | --- |\n| ä\\|b | <i><br>x |\n"
    )
    page = (await convert_file(data, "t.csv", "html", fake_read)).decode()
    assert "<td>ä|b</td><td>&lt;i&gt;\nx</td>" in page


async def test_fields_of_differing_objects_are_all_kept():
    lines = b'{"a": 1}\n{"b": {"c": [2]}, "a": null}\n'
    found = (await convert_file(lines, "t.jsonl", "csv", fake_read)).decode()
    assert found == 'a,b\r\n1,\r\n,"{""c"": [2]}"\r\n'


async def test_markdown_becomes_a_page_with_escaped_tags():
    page = (
        await convert_file(
            b"# Hi\n\n<script>1</script> [x](javascript:1)\n\n|a|\n|-|\n|b|\n", "r.md", "html", fake_read
        )
    ).decode()
    assert "<h1>Hi</h1>" in page
    assert "<td>b</td>" in page
    assert "&lt;script&gt;" in page
    assert "href" not in page


async def test_documents_are_read_and_an_unchanged_format_is_not_converted():
    assert await convert_file(b"%PDF", "r.pdf", "md", fake_read) == b"read r.pdf: %PDF"
    assert await convert_file(b"a,b\n", "T.CSV", "csv", fake_read) == b"a,b\n"
    assert b"<pre>1 &lt; 2</pre>" in await convert_file(b"1 < 2", "n.txt", "html", fake_read)


@pytest.mark.parametrize(
    ("data", "name", "wanted", "message"),
    [
        (b"# x", "r.md", "csv", "is not a table"),
        (b"a,b\n1,2,3\n", "t.csv", "json", "row 2 has 3 cells"),
        (b"a,a\n1,2\n", "t.csv", "json", "the same name"),
        (b"[1, 2]", "t.json", "csv", "not a list of objects"),
        (b"{", "t.json", "csv", "not valid json"),
    ],
)
async def test_a_conversion_that_would_lose_data_is_refused(data: bytes, name: str, wanted: Any, message: str):
    with pytest.raises(InvalidInput, match=message):
        await convert_file(data, name, wanted, fake_read)
