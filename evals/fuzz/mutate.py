"""Mutate bytes and markup."""

import codecs
import random
import re
from collections.abc import Callable

MAX_INPUT_BYTES = 2_000_000  # bytes to read within the time limit
TAG = re.compile(rb"</?[a-zA-Z][^<>]{0,300}>")
TAG_NAME = re.compile(rb"(</?)([a-zA-Z][a-zA-Z0-9]*)")
ATTRIBUTE = re.compile(rb'([\w-]+)="([^"]{0,200})"')
TAG_NAMES = (
    b"p div span a b i em strong code pre ul ol li dl dt dd table thead tbody tr td th caption blockquote h1 h2 h6 "
    b"script style template noscript svg math annotation mrow select option textarea title iframe frameset object form "
    b"button details summary figure figcaption img br hr input nav main article section aside header footer base meta "
    b"xmp listing plaintext nobr font body html head center marquee video audio canvas picture source ruby rt"
).split()
ATTRIBUTE_VALUES = (
    b"", b"0", b"-1", b"999999999", b"1e9", b"\xd9\xa3", b"\xc2\xb2", b"javascript:alert(1)", b"//[", b"http://[::1", b"//",
    b"http://a b/c d", b"?x=(y)", b"../../..", b"data:text/html,hi", b"mailto:a@b.example", b"#", b"http://\x00/",
    b"http:///x", b"HTTP://EXAMPLE.ORG:99999/", b"display:none", b"position:absolute;left:-9999px", b"language-c++",
    b"math/tex; mode=display", b"application/ld+json", b"refresh", b"utf-7", b"a|b", b"]( ", b"\xf0\x9f\x91\xa9\xe2\x80\x8d",
)  # fmt: skip
ATTRIBUTE_NAMES = (
    b"href src class id style colspan rowspan start type hidden aria-hidden alt alttext charset content lang".split()
)
ODD_PIECES = (
    b"<", b">", b"&", b"&#0;", b"&#x80;", b"&#xD800;", b"&#1114112;", b"&nbsp;", b"&NotEqualTilde;", b"\x00", b"\x0c", b"\x1b",
    b"\x85", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\xe2\x80\xa8", b"\xcc\x81" * 40, b"\xc3",
    b"<!--", b"-->", b"<!--->", b"<![CDATA[", b"]]>", b"<?xml ?>", b"<!doctype html>", b"```\n", b"\n\n", b"|", b"](x)",
    b"[a](b)", b"**", b"$", b"$$x$$", b"\\", b"\t", b"</", b"<a href=", b'"', b"'", b"{", b"}", b"\\u0000", b"\\bin9999999 ",
    b"<a><a>", b"<table><td><table><td>", b"<b><p><i>", b"<pre>\n\n", b"<math><mi>x</math>", b"<svg><p>", b"<select><p>",
    b"<template><tr>", b"<script type='math/tex'>\\frac{a}{b}</script>", b"<base href='//x.example/'>", b"1\n00:00:00,000 --> ",
)  # fmt: skip
CODEC_NAMES = (
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


def _draw_span(data: bytes, rng: Rng, most: int = 4_000) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + int(rng.paretovariate(0.7)) % most)


def _insert_anywhere(data: bytes, piece: bytes, rng: Rng) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + piece + data[at:]


def flip_bytes(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """Replace some bytes."""
    found = bytearray(data)
    for _ in range(rng.randint(1, 8) if found else 0):
        found[rng.randrange(len(found))] = rng.randrange(256)
    return bytes(found)


def drop_part(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """Drop a part."""
    start, end = _draw_span(data, rng)
    return data[:start] + data[end:]


def cut_end(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """Cut the end off."""
    return data[: rng.randrange(len(data) + 1)]


def repeat_part(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """Repeat a part many times."""
    start, end = _draw_span(data, rng, 600)
    times = rng.choice((2, 10, 100, 1_000, 10_000))
    return data[:start] + data[start:end] * min(times, MAX_INPUT_BYTES // max(1, end - start)) + data[end:]


def insert_odd_pieces(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """Insert pieces that parsers treat specially."""
    for _ in range(rng.randint(1, 6)):
        data = _insert_anywhere(data, rng.choice(ODD_PIECES), rng)
    return data


def splice_other(data: bytes, other: bytes, rng: Rng) -> bytes:
    """Insert a part of another input."""
    start, end = _draw_span(other, rng, 20_000)
    return _insert_anywhere(data, other[start:end], rng)


def rename_tag(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """Rename a tag, everywhere or once."""
    names = list(TAG_NAME.finditer(data[:MAX_INPUT_BYTES]))
    if not names:
        return data
    old, new = rng.choice(names), rng.choice(TAG_NAMES)
    if rng.random() < 0.5:
        return data[: old.start(2)] + new + data[old.end(2) :]
    return re.sub(rb"(</?)" + re.escape(old[2]) + rb"\b", lambda found: found[1] + new, data)


def drop_end_tags(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """Drop the end tags of one name."""
    names = list(TAG_NAME.finditer(data))
    return data.replace(b"</" + rng.choice(names)[2] + b">", b"") if names else data


def insert_tags(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """Insert tags with odd attributes, once or nested by the thousand."""
    name, key, value = rng.choice(TAG_NAMES), rng.choice(ATTRIBUTE_NAMES), rng.choice(ATTRIBUTE_VALUES)
    times = rng.choice((1, 1, 1, 3, 50, 3_000))
    tag = b"<" + name + b" " + key + b'="' + value + b'">'
    data = _insert_anywhere(data, tag * times, rng)
    return _insert_anywhere(data, (b"</" + name + b">") * times, rng) if rng.random() < 0.5 else data


def replace_attribute_values(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """Give attributes odd values."""
    share = rng.choice((0.02, 0.3))

    def replace_value(found: re.Match[bytes]) -> bytes:
        return found[1] + b'="' + rng.choice(ATTRIBUTE_VALUES) + b'"' if rng.random() < share else found[0]

    return ATTRIBUTE.sub(replace_value, data)


def swap_tags(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """Swap two tags."""
    tags = list(TAG.finditer(data))
    if len(tags) < 2:
        return data
    one, two = sorted(rng.sample(tags, 2), key=lambda found: found.start())
    return data[: one.start()] + two[0] + data[one.end() : two.start()] + one[0] + data[two.end() :]


def change_charset(data: bytes, _other: bytes, rng: Rng) -> bytes:
    """Encode in another charset than the declared one."""
    return codecs.encode(data.decode("utf-8", "replace"), rng.choice(CODEC_NAMES), "replace")


MUTATIONS: tuple[Mutation, ...] = (
    flip_bytes, drop_part, cut_end, repeat_part, insert_odd_pieces, insert_odd_pieces, splice_other, splice_other, rename_tag, drop_end_tags, insert_tags, insert_tags, replace_attribute_values, swap_tags,
    change_charset,
)  # fmt: skip


def mutate_input(data: bytes, other: bytes, rng: Rng) -> bytes:
    """Apply one to six mutations, one after another."""
    for _ in range(rng.randint(1, 6)):
        data = rng.choice(MUTATIONS)(data, other, rng)[:MAX_INPUT_BYTES]
    return data
