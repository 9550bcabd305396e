"""Content codings: equal to the reference for valid bodies, bounded for all others."""

import gzip
import zlib
from contextlib import suppress

import brotli
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outrider.core.egress.decode import MAX_PIECE_BYTES, BodyDecoder, BodyTooLarge, ContentDecodingError
from support.fakes.hostile_server import import_zstd

zstd = import_zstd()
BUDGET = 1 << 20
examples = settings(max_examples=40, deadline=None)
bodies = st.one_of(st.binary(max_size=3000), st.integers(0, 20_000).map(bytes))
cuts = st.lists(st.integers(1, 5000), min_size=1, max_size=30)
CODERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: brotli.compress(data, quality=1),
    "zstd": zstd.compress,
    "identity": bytes,
    "GZIP": gzip.compress,
}


def raw_deflate(data):
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def iter_pieces(data, sizes):
    """The data in pieces of these sizes, the last size repeated."""
    at = 0
    for size in sizes[:-1]:
        yield data[at : at + size]
        at += size
    for start in range(at, len(data), sizes[-1] + 500):
        yield data[start : start + sizes[-1] + 500]


def decode_pieces(codings, wire, sizes=(1000,), budget=BUDGET):
    decoder = BodyDecoder(codings, budget)
    return b"".join(part for piece in iter_pieces(wire, list(sizes)) for part in decoder.feed(piece))


@pytest.mark.parametrize("coding", CODERS)
@examples
@given(bodies, cuts)
def test_a_compressed_body_is_decoded_however_it_is_split(coding, body, sizes):
    assert decode_pieces(coding, CODERS[coding](body), sizes) == body


@examples
@given(bodies, cuts)
def test_raw_deflate_is_decoded_too(body, sizes):
    assert decode_pieces("deflate", raw_deflate(body), sizes) == body


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
@examples
@given(st.lists(bodies, min_size=1, max_size=5), cuts)
def test_consecutive_members_are_one_body(coding, members, sizes):
    wire = b"".join(CODERS[coding](member) for member in members)
    assert decode_pieces(coding, wire, sizes) == b"".join(members)


@examples
@given(bodies, cuts)
def test_stacked_codings_are_decoded_in_reverse_order(body, sizes):
    wire = brotli.compress(gzip.compress(zlib.compress(body)), quality=1)
    assert decode_pieces("deflate, gzip, br", wire, sizes) == body


@examples
@given(st.binary(max_size=200), st.binary(max_size=200))
def test_bytes_after_the_last_member_are_ignored(body, garbage):
    assert decode_pieces("gzip", gzip.compress(body) + b"\0" + garbage, [7]) == body


@examples
@given(st.sampled_from(sorted(CODERS)), st.binary(max_size=2000))
def test_any_bytes_are_decoded_or_reported_as_garbled(coding, wire):
    with suppress(ContentDecodingError, BodyTooLarge):
        assert len(decode_pieces(coding, wire)) <= BUDGET


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
@examples
@given(size=st.integers(0, 2_000_000))
def test_no_coding_exceeds_its_budget_and_no_piece_is_large(coding, size):
    decoder, grown = BodyDecoder(coding, BUDGET), 0
    try:
        for piece in decoder.feed(CODERS[coding](bytes(size))):
            assert len(piece) <= 2 * MAX_PIECE_BYTES  # brotli overshoots
            grown += len(piece)
    except BodyTooLarge:
        assert size > BUDGET
    else:
        assert grown == size
    assert grown <= BUDGET


def test_a_truncated_body_is_decoded_as_far_as_it_goes():
    assert decode_pieces("gzip", gzip.compress(b"hello" * 1000)[:-8]) == b"hello" * 1000


def test_an_unknown_content_encoding_is_ignored():
    assert decode_pieces("utf-8", b"plain") == b"plain"


def test_too_many_codings_are_garbled_and_too_many_members_are_too_large():
    with pytest.raises(ContentDecodingError):
        BodyDecoder("gzip, gzip, gzip, gzip", BUDGET)
    with pytest.raises(BodyTooLarge):
        decode_pieces("gzip", gzip.compress(b"") * 10_001)


def test_random_bytes_are_garbled():
    for coding in ("gzip", "deflate", "br", "zstd"):
        with pytest.raises(ContentDecodingError):
            decode_pieces(coding, b"\xff" * 100)
