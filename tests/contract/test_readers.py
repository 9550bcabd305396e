"""For any bytes, every reader returns a document or an error that a model can act on."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outrider.core.errors import OutriderError
from outrider.pages.document import Document
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.registry import load_readers
from support.fakes.website import PIXEL_PNG, WEBSITE_FOLDER, build_pdf

FILE_URL = "https://harbour.example/file"
BODIES = {
    "nothing": b"",
    "spaces": b" \n\t ",
    "zeros": bytes(2_000),
    "every byte": bytes(range(256)) * 4,
    "a picture": PIXEL_PNG,
    "a mark and no more": b"\xef\xbb\xbf",
    "half of UTF-16": b"\xff\xfeh",
    "a page": (WEBSITE_FOLDER / "article.html").read_bytes(),
    "a feed": (WEBSITE_FOLDER / "news.xml").read_bytes(),
    "a table": (WEBSITE_FOLDER / "lights.csv").read_bytes(),
    "a PDF": build_pdf("one", "two"),
    "a PDF without pages": build_pdf(),
    "deep data": b"[" * 100_000,
    "a giant number": b"9" * 100_000,
    "data that is no feed": b'{"items": 5, "title": ["x"]}',
    "a feed of nonsense": b'{"items": [1, null, {"title": 5, "url": {}}, []], "title": {}}',
    "quotes": b'"a,b\n' * 100,
    "half a surrogate": b'{"a": "\\ud800"}',
    "not a number": b"[NaN, Infinity, 1e999]",
}
each_reader = pytest.mark.parametrize("reader", load_readers(), ids=lambda reader: reader.name)


def read_body(
    reader: DocumentReader, body: bytes, charset: str | None = None, limit: int = 100_000
) -> Document | OutriderError:
    source = ReaderInput(body, FILE_URL, reader.types[0], charset, max_chars=limit, max_tags=limit, max_pages=limit)
    try:
        return reader.read(source)
    except OutriderError as error:
        return error


def check_outcome(outcome: Document | OutriderError) -> None:
    if isinstance(outcome, OutriderError):
        assert outcome.message
        assert outcome.hint
        return
    assert Document.from_dict(json.loads(json.dumps(outcome.to_dict()))) == outcome
    assert outcome.kind
    assert all(link.url.startswith(("http://", "https://", "mailto:")) for link in outcome.links)
    outcome.markdown.encode("utf-8")


@each_reader
def test_any_body_is_read_or_refused_by_name(subtests: pytest.Subtests, reader: DocumentReader):
    for charset in [None, "utf-16", "klingon"]:
        for name, body in BODIES.items():
            with subtests.test(body=name, charset=charset):
                check_outcome(read_body(reader, body, charset))


@each_reader
@pytest.mark.nightly
def test_a_body_truncated_anywhere_is_read_or_refused(subtests: pytest.Subtests, reader: DocumentReader):
    for body in ["a page", "a feed", "a PDF", "a table"]:
        with subtests.test(body=body):
            complete = BODIES[body]
            for end in range(0, len(complete), max(1, len(complete) // 40)):
                check_outcome(read_body(reader, complete[:end]))


@each_reader
def test_small_limits_are_respected(reader: DocumentReader):
    for body in BODIES.values():
        check_outcome(read_body(reader, body, limit=1))


@each_reader
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.binary(max_size=400))
def test_garbage_is_read_or_refused_by_name(reader: DocumentReader, body: bytes):
    check_outcome(read_body(reader, body))


@each_reader
def test_every_reader_declares_its_formats(reader: DocumentReader):
    assert reader.name.isidentifier()
    assert reader.types
    assert all((pattern == pattern.lower() and "/" in pattern) or pattern.startswith("*") for pattern in reader.types)
    assert all(suffix.startswith(".") for suffix in reader.suffixes)


def test_no_two_readers_share_a_name():
    names = [reader.name for reader in load_readers()]
    assert len(names) == len(set(names)) >= 8
