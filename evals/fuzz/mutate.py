"""Mutations of bytes and of markup."""

import codecs
import random
import re
from collections.abc import Callable

LARGEST = 2_000_000  # bytes: what must be read within the bound of time
TAG = re.compile(rb"</?[a-zA-Z][^<>]{0,300}>")
NAME = re.compile(rb"(</?)([a-zA-Z][a-zA-Z0-9]*)")
VALUE = re.compile(rb'([\w-]+)="([^"]{0,200})"')
TAGS = (
    b"p div span a b i em strong code pre ul ol li dl dt dd table thead tbody tr td th caption blockquote h1 h2 h6 "
    b"script style template noscript svg math annotation mrow select option textarea title iframe frameset object form "
    b"button details summary figure figcaption img br hr input nav main article section aside header footer base meta "
    b"xmp listing plaintext nobr font body html head center marquee video audio canvas picture source ruby rt"
).split()
VALUES = (
    b"", b"0", b"-1", b"999999999", b"1e9", b"\xd9\xa3", b"\xc2\xb2", b"javascript:alert(1)", b"//[", b"http://[::1", b"//",
    b"http://a b/c d", b"?x=(y)", b"../../..", b"data:text/html,hi", b"mailto:a@b.example", b"#", b"http://\x00/",
    b"http:///x", b"HTTP://EXAMPLE.ORG:99999/", b"display:none", b"position:absolute;left:-9999px", b"language-c++",
    b"math/tex; mode=display", b"application/ld+json", b"refresh", b"utf-7", b"a|b", b"]( ", b"\xf0\x9f\x91\xa9\xe2\x80\x8d",
)  # fmt: skip
NAMES = (
    b"href src class id style colspan rowspan start type hidden aria-hidden alt alttext charset content lang".split()
)
SHREDS = (
    b"<", b">", b"&", b"&#0;", b"&#x80;", b"&#xD800;", b"&#1114112;", b"&nbsp;", b"&NotEqualTilde;", b"\x00", b"\x0c", b"\x1b",
    b"\x85", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\xe2\x80\xa8", b"\xcc\x81" * 40, b"\xc3",
    b"<!--", b"-->", b"<!--->", b"<![CDATA[", b"]]>", b"<?xml ?>", b"<!doctype html>", b"```\n", b"\n\n", b"|", b"](x)",
    b"[a](b)", b"**", b"$", b"$$x$$", b"\\", b"\t", b"</", b"<a href=", b'"', b"'", b"{", b"}", b"\\u0000", b"\\bin9999999 ",
    b"<a><a>", b"<table><td><table><td>", b"<b><p><i>", b"<pre>\n\n", b"<math><mi>x</math>", b"<svg><p>", b"<select><p>",
    b"<template><tr>", b"<script type='math/tex'>\\frac{a}{b}</script>", b"<base href='//x.example/'>", b"1\n00:00:00,000 --> ",
)  # fmt: skip
CODECS = (
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "shift_jis",
    "gb18030",
    "latin-1",
    "koi8-r",
    "iso2022_jp",
    "utf-7",
)

Rng = random.Random
Mutation = Callable[[bytes, bytes, Rng], bytes]


def _span(data: bytes, rng: Rng, most: int = 4_000) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + int(rng.paretovariate(0.7)) % most)


def _insert(data: bytes, piece: bytes, rng: Rng) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + piece + data[at:]


def flipped(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """Some bytes are others."""
    found = bytearray(data)
    for _ in range(rng.randint(1, 8) if found else 0):
        found[rng.randrange(len(found))] = rng.randrange(256)
    return bytes(found)


def lost(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """A part is missing."""
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def cut(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """The end is missing."""
    return data[: rng.randrange(len(data) + 1)]


def repeated(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """A part stands there many times."""
    start, end = _span(data, rng, 600)
    times = rng.choice((2, 10, 100, 1_000, 10_000))
    return data[:start] + data[start:end] * min(times, LARGEST // max(1, end - start)) + data[end:]


def shredded(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """What parsers treat apart, put in anywhere."""
    for _ in range(rng.randint(1, 6)):
        data = _insert(data, rng.choice(SHREDS), rng)
    return data


def spliced(data: bytes, other: bytes, rng: Rng) -> bytes:
    """A part of another."""
    start, end = _span(other, rng, 20_000)
    return _insert(data, other[start:end], rng)


def renamed(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """One tag's name is another's, everywhere or once."""
    names = list(NAME.finditer(data[:LARGEST]))
    if not names:
        return data
    old, new = rng.choice(names), rng.choice(TAGS)
    if rng.random() < 0.5:
        return data[: old.start(2)] + new + data[old.end(2) :]
    return re.sub(rb"(</?)" + re.escape(old[2]) + rb"\b", lambda found: found[1] + new, data)


def unclosed(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """The end tags of one name are missing."""
    names = list(NAME.finditer(data))
    return data.replace(b"</" + rng.choice(names)[2] + b">", b"") if names else data


def tagged(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """Tags with odd attributes, once or nested by the thousand."""
    name, key, value = rng.choice(TAGS), rng.choice(NAMES), rng.choice(VALUES)
    times = rng.choice((1, 1, 1, 3, 50, 3_000))
    tag = b"<" + name + b" " + key + b'="' + value + b'">'
    data = _insert(data, tag * times, rng)
    return _insert(data, (b"</" + name + b">") * times, rng) if rng.random() < 0.5 else data


def valued(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """Attributes have odd values."""
    share = rng.choice((0.02, 0.3))

    def other(found: re.Match[bytes]) -> bytes:
        return found[1] + b'="' + rng.choice(VALUES) + b'"' if rng.random() < share else found[0]

    return VALUE.sub(other, data)


def moved(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """Two tags change places."""
    tags = list(TAG.finditer(data))
    if len(tags) < 2:
        return data
    one, two = sorted(rng.sample(tags, 2), key=lambda found: found.start())
    return data[: one.start()] + two[0] + data[one.end() : two.start()] + one[0] + data[two.end() :]


def recoded(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """Another charset, whatever is declared."""
    return codecs.encode(data.decode("utf-8", "replace"), rng.choice(CODECS), "replace")


MUTATIONS: tuple[Mutation, ...] = (
    flipped, lost, cut, repeated, shredded, shredded, spliced, spliced, renamed, unclosed, tagged, tagged, valued, moved,
    recoded,
)  # fmt: skip


def mutated(data: bytes, other: bytes, rng: Rng) -> bytes:
    """One to six mutations, one after another."""
    for _ in range(rng.randint(1, 6)):
        data = rng.choice(MUTATIONS)(data, other, rng)[:LARGEST]
    return data
