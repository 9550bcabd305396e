"""Hostile pages are read in separate processes that measure their memory."""

import gzip
import json
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from support.documents.office_files import (
    build_docx,
    build_odf,
    build_table_row,
    build_worksheet,
    build_xlsx,
    build_zip,
)
from support.processes import prefork

ATTRIBUTES = [f"a{at}=''" for at in range(100)]


def build_long_attributes() -> bytes:
    """Return an archive whose second file has a comment of forty megabytes."""
    info = tarfile.TarInfo("a.txt")
    info.pax_headers = {"comment": "x" * 40_000_000}
    return gzip.compress(tarfile.TarInfo("b.txt").tobuf() + info.tobuf(tarfile.PAX_FORMAT), 1)


def build_merged_cells() -> bytes:
    """Return a workbook that merges 400,000 pairs of cells."""
    merged = "".join(f'<mergeCell ref="A{n}:B{n}"/>' for n in range(1, 400_000))
    return build_xlsx({"S": build_worksheet(["a", "b"], after=f"<mergeCells>{merged}</mergeCells>")})


# Functions, because otherwise every process that collects the tests would build and hold all pages.
HOSTILE_PAGES: dict[str, Callable[[], bytes]] = {
    "deep nesting": lambda: b"<div>" * 1_000_000 + b"text",
    "deep lists": lambda: b"<ul><li>x" * 300_000,
    "deep tables": lambda: b"<table><tr><td>x" * 250_000,
    "deep quotes": lambda: b"<blockquote>x" * 300_000,
    "a million tags": lambda: b"<p>x" * 1_000_000,
    "marks reopened in every paragraph": lambda: b"".join(b"<b a=%d><p>x" % number for number in range(250_000)),
    "marks that seem closed": lambda: (
        b"<p>" + b"</b>" * 1_000 + b"".join(b"<b a=%d>" % at for at in range(1_000)) + b"</p>" + b"<p>x</p>" * 20_000
    ),
    "marks closed where they are out of reach": lambda: (
        b"<p>"
        + b"".join(b"<b a=%d><table><td></b></table>" % at for at in range(1_000))
        + b"</p>"
        + b"<p>x</p>" * 18_000
    ),
    "long marks in every paragraph": lambda: (
        b"<p>" + b"".join(b"<b a='%d%s'>" % (at, b"x" * 19_000) for at in range(50)) + b"</p>" + b"<p>x</p>" * 10_000
    ),
    "a long link in every paragraph": lambda: b"<p><a href='/" + b"x" * 19_000 + b"'></p>" + b"<p>x</p>" * 20_000,
    "links over links": lambda: b"<a href=x>y<div>x" * 250_000,
    "a giant attribute": lambda: b"<p title='" + b"a" * 4_900_000 + b"'>text",
    "many attributes": lambda: b"<p " + b" ".join(b"a%d=1" % number for number in range(400_000)) + b">text",
    "attributes that quote ends of tags": lambda: (
        b"<p " + b" ".join(b"a%d='>'" % at for at in range(300_000)) + b">text"
    ),
    "attributes that quote tags": lambda: b"<p " + b" ".join(b'a%d="<>\'"' % at for at in range(250_000)) + b">text",
    "attributes that quote ends of scripts": lambda: (
        b"<p " + b" ".join(b"a%d='</script>'" % at for at in range(200_000)) + b">x"
    ),
    "nesting behind a quoted script": lambda: b"<p a='<script>'>" + b"<div>" * 900_000 + b"text",
    "nesting that looks like a drawing": lambda: b"<div x='><svg>'>" + b"<path/>" * 600_000 + b"</svg>text",
    "a giant word": lambda: b"a" * 5_000_000,
    "a giant line of brackets": lambda: b"<p>" + b"[" * 4_900_000,
    "a table of 25,000 rows": lambda: (
        b"<!DOCTYPE html><table>"
        + b"".join(b"<tr><td>%d<td>name %d<td>%d.50<td>city</tr>" % (at, at, at) for at in range(25_000))
    ),
    "comments": lambda: b"<!DOCTYPE html>" + b"<!--x-->a " * 400_000,
    "attributes without values": lambda: (
        b"<!DOCTYPE html>" + (b"<p " + b" ".join(b"a%x" % at for at in range(3_000)) + b">x") * 260
    ),
    "links in one paragraph": lambda: (
        b"<!DOCTYPE html>" + b"".join(b"<a href=/p/%d>l%d</a> " % (at, at) for at in range(200_000))
    ),
    "words on many lines": lambda: b"<!DOCTYPE html><p>" + b"word\n" * 950_000,
    "references": lambda: b"&amp;" * 1_000_000,
    "broken references": lambda: b"&#x41" * 1_000_000,
    "lone brackets": lambda: b"<" * 5_000_000,
    "tags without an end": lambda: b"<p " * 1_600_000,
    "comments without an end": lambda: b"<!--" * 1_200_000,
    "scripts without an end": lambda: b"<script>" * 600_000,
    "noscripts in noscripts": lambda: b"<noscript>" * 500_000,
    "styles that are long to match": lambda: (b"<p style='" + b"transform:" * 55 + b"'>x") * 8_000,
    "a sheet of braces": lambda: b"<style>" + b"a," * 900_000 + b"{" * 900_000 + b"</style><p>x",
    "pictures": lambda: b"<img src=/x.png alt=hello>" * 190_000,
    "lists in lists": lambda: b"<ul><li>x " * 100_000,
    "nested data": lambda: b"<script type='application/ld+json'>" + b"[" * 200_000 + b"]" * 200_000 + b"</script><p>x",
    "unspaced letters": lambda: "漢字".encode() * 800_000,
    "piled marks": lambda: b"a" + "\u0301\u0323".encode() * 1_200_000,
    "piled marks of other scripts": lambda: b"a" + "\u05b0\u0e38".encode() * 900_000,
    "joiners": lambda: "\u200d\u2066".encode() * 800_000,
    "spaces": lambda: b"<p>" + b" " * 4_900_000 + b"x",
    "headings": lambda: b"<h2>hello</h2><p>x y z</p>" * 100_000,
    "just below the model's limit": lambda: b"<h2>hello</h2><p>x y z</p>" * 2_900,
    "a feed of entries": lambda: b"<rss><channel>" + b"<item><title>x</title>" * 200_000,
    "a feed of entities": lambda: (
        b'<!DOCTYPE r [<!ENTITY a "' + b"&b;" * 500_000 + b'">]><rss><channel><title>&a;</title>'
    ),
    "a list of small objects": lambda: b"[" + b'{"a":1,"b":[1,2,3],"c":"x"},' * 170_000 + b"1]",
    "lines of small objects": lambda: b'{"a":1,"b":[1,2,3],"c":"x"}\n' * 170_000,
    "deep lists of data": lambda: b"[" * 2_400_000 + b"]" * 2_400_000,
    "data of one text": lambda: b'{"a":"' + b"x" * 4_900_000 + b'"}',
    "xml of small elements": lambda: b'<?xml version="1.0"?><r>' + b'<a b="c">d</a>' * 340_000 + b"</r>",
    "xml of deep elements": lambda: b'<?xml version="1.0"?><r>' + b"<a>" * 1_600_000,
    "a document of attributes": lambda: build_odf("text", f"<text:p {' '.join(ATTRIBUTES)}/>" * 20_000),
    "a document of merged cells": lambda: build_docx(
        "<w:tbl>"
        + build_table_row('<w:vMerge w:val="restart"/>|' + "y" * 30_000, "b")
        + build_table_row("<w:vMerge/>|", "b") * 9_000
        + "</w:tbl>"
    ),
    "a calendar of events": lambda: b"BEGIN:VCALENDAR\r\n" + b"BEGIN:VEVENT\r\nSUMMARY:x\r\nEND:VEVENT\r\n" * 100_000,
    "a calendar of parameters": lambda: b"BEGIN:VCALENDAR\r\nSUMMARY" + b";a=b" * 1_200_000 + b":x\r\n",
    "a notebook of objects": lambda: b'{"nbformat":4,"cells":[' + b"{}," * 1_600_000 + b"{}]}",
    "an archive of one long text": lambda: build_zip({"a.txt": b"hello text x\n" * 4_600_000}),
    "a message of short lines": lambda: b"From: a@b.example\nSubject: x\n\n" + b"hi\n" * 1_600_000,
    "a message of parameters": lambda: b"Subject: x\nContent-Type: text/plain" + b"; a*0=x" * 600_000 + b"\n\nx",
    "an archive of long attributes": build_long_attributes,
    "fences of code": lambda: b"```\n" * 1_200_000,
    "a text document of one paragraph": lambda: build_odf("text", f"<text:p>{'hello text x ' * 4_500_000}</text:p>"),
    "a workbook of merged cells": build_merged_cells,
    "rich text of a picture": lambda: rb"{\rtf1 {\pict " + b"ff" * 20_000_000 + b"}x}",
    "rich text of single characters": lambda: rb"{\rtf1 " + rb"\u8364?" * 700_000 + b"}",
    "a text of headings": lambda: b"# hello text\n\n" * 350_000,
    "zeros in a page": lambda: b"<!DOCTYPE html><p>" + b"\0" * 4_900_000,
}


# Others show nearly the same.
NIGHTLY_PAGES = (
    "deep lists", "deep tables", "deep quotes", "a million tags", "links over links", "broken references",
    "attributes that quote ends of tags", "attributes that quote ends of scripts",
    "a giant line of brackets", "lone brackets", "comments without an end", "piled marks of other scripts",
    "lines of small objects", "words on many lines",
    "an archive of long attributes", "fences of code",
    "a document of merged cells", "a message of short lines", "a workbook of merged cells", "rich text of a picture",
    "rich text of single characters", "a calendar of events", "a notebook of objects",
)  # fmt: skip


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc, which only Linux has")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] * (name in NIGHTLY_PAGES)) for name in HOSTILE_PAGES]
)
def test_a_hostile_page_costs_little_memory_and_bounded_work(name: str):
    command = prefork.build_command("support.processes.read_page")
    run = subprocess.run(command, input=HOSTILE_PAGES[name](), capture_output=True, check=False, timeout=120)
    assert run.returncode == 0, run.stderr.decode()[-2_000:]
    cost = json.loads(run.stdout)
    assert cost["megabytes"] < 60
    # Not a measurement of speed: work that grows with the square of these pages takes minutes.
    assert cost["seconds"] < 20
