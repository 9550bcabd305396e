"""All output is read, and its beginning and end are kept within the limit."""

from hypothesis import given
from hypothesis import strategies as st

from outrider.workspace.sandbox.output import OutputBuffer


@given(st.lists(st.binary(max_size=50), max_size=40), st.integers(2, 400))
def test_the_beginning_and_the_end_are_kept(blocks: list[bytes], limit: int):
    output = OutputBuffer(limit)
    for block in blocks:
        output.add(block)
    whole = b"".join(blocks)
    assert output.total == len(whole)
    assert 0 <= output.dropped <= max(0, len(whole) - limit // 2)
    if not output.dropped:
        assert output.text == whole.decode("utf-8", "replace").replace("\r\n", "\n")


@given(st.integers(1, 5_000), st.integers(1, 700))
def test_at_most_the_limit_and_one_block_are_kept(size: int, block: int):
    output = OutputBuffer(1_000)
    data = bytes(number % 26 + 97 for number in range(size))
    for at in range(0, size, block):
        output.add(data[at : at + block])
    assert output.total - output.dropped <= 1_000 + block
    assert output.text.startswith(data[: min(size, 500)].decode())
    assert output.text.endswith(data[-min(size, 500) :].decode())


def test_bytes_that_are_not_text_are_replaced():
    output = OutputBuffer(100)
    output.add(b"caf\xc3\xa9 \xff\r\n")
    assert output.text == "café \ufffd\n"


def test_a_character_split_across_two_blocks_is_joined():
    output = OutputBuffer(100)
    output.add(b"caf\xc3")
    output.add(b"\xa9")
    assert output.text == "café"
