"""Hostile pages are read in separate processes that measure their memory."""

import gzip
import json
import subprocess
import tarfile
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
MERGED_CELLS = "<mergeCells>" + "".join(f'<mergeCell ref="A{n}:B{n}"/>' for n in range(1, 400_000)) + "</mergeCells>"
TAR_INFO = tarfile.TarInfo("a.txt")
TAR_INFO.pax_headers = {"comment": "x" * 40_000_000}
LONG_ATTRIBUTES = gzip.compress(tarfile.TarInfo("b.txt").tobuf() + TAR_INFO.tobuf(tarfile.PAX_FORMAT), 1)
HOSTILE_PAGES = {
    "deep nesting": b"<div>" * 1_000_000 + b"text",
    "deep lists": b"<ul><li>x" * 300_000,
    "deep tables": b"<table><tr><td>x" * 250_000,
    "deep quotes": b"<blockquote>x" * 300_000,
    "a million tags": b"<p>x" * 1_000_000,
    "marks reopened in every paragraph": b"".join(b"<b a=%d><p>x" % number for number in range(250_000)),
    "marks that seem closed": b"<p>"
    + b"</b>" * 1_000
    + b"".join(b"<b a=%d>" % at for at in range(1_000))
    + b"</p>"
    + b"<p>x</p>" * 20_000,
    "marks closed where they are out of reach": b"<p>"
    + b"".join(b"<b a=%d><table><td></b></table>" % at for at in range(1_000))
    + b"</p>"
    + b"<p>x</p>" * 18_000,
    "long marks in every paragraph": b"<p>"
    + b"".join(b"<b a='%d%s'>" % (at, b"x" * 19_000) for at in range(50))
    + b"</p>"
    + b"<p>x</p>" * 10_000,
    "a long link in every paragraph": b"<p><a href='/" + b"x" * 19_000 + b"'></p>" + b"<p>x</p>" * 20_000,
    "links over links": b"<a href=x>y<div>x" * 250_000,
    "a giant attribute": b"<p title='" + b"a" * 4_900_000 + b"'>text",
    "many attributes": b"<p " + b" ".join(b"a%d=1" % number for number in range(400_000)) + b">text",
    "attributes that quote ends of tags": b"<p " + b" ".join(b"a%d='>'" % at for at in range(300_000)) + b">text",
    "attributes that quote tags": b"<p " + b" ".join(b'a%d="<>\'"' % at for at in range(250_000)) + b">text",
    "attributes that quote ends of scripts": b"<p "
    + b" ".join(b"a%d='</script>'" % at for at in range(200_000))
    + b">x",
    "nesting behind a quoted script": b"<p a='<script>'>" + b"<div>" * 900_000 + b"text",
    "nesting that looks like a drawing": b"<div x='><svg>'>" + b"<path/>" * 600_000 + b"</svg>text",
    "a giant word": b"a" * 5_000_000,
    "a giant line of brackets": b"<p>" + b"[" * 4_900_000,
    "a table of 25,000 rows": b"<!DOCTYPE html><table>"
    + b"".join(b"<tr><td>%d<td>name %d<td>%d.50<td>city</tr>" % (at, at, at) for at in range(25_000)),
    "comments": b"<!DOCTYPE html>" + b"<!--x-->a " * 400_000,
    "attributes without values": b"<!DOCTYPE html>"
    + (b"<p " + b" ".join(b"a%x" % at for at in range(3_000)) + b">x") * 260,
    "links in one paragraph": b"<!DOCTYPE html>"
    + b"".join(b"<a href=/p/%d>l%d</a> " % (at, at) for at in range(200_000)),
    "words on many lines": b"<!DOCTYPE html><p>" + b"word\n" * 950_000,
    "references": b"&amp;" * 1_000_000,
    "broken references": b"&#x41" * 1_000_000,
    "lone brackets": b"<" * 5_000_000,
    "tags without an end": b"<p " * 1_600_000,
    "comments without an end": b"<!--" * 1_200_000,
    "scripts without an end": b"<script>" * 600_000,
    "noscripts in noscripts": b"<noscript>" * 500_000,
    "styles that are long to match": (b"<p style='" + b"transform:" * 55 + b"'>x") * 8_000,
    "a sheet of braces": b"<style>" + b"a," * 900_000 + b"{" * 900_000 + b"</style><p>x",
    "pictures": b"<img src=/x.png alt=hello>" * 190_000,
    "lists in lists": b"<ul><li>x " * 100_000,
    "nested data": b"<script type='application/ld+json'>" + b"[" * 200_000 + b"]" * 200_000 + b"</script><p>x",
    "unspaced letters": "漢字".encode() * 800_000,
    "piled marks": b"a" + "\u0301\u0323".encode() * 1_200_000,
    "piled marks of other scripts": b"a" + "\u05b0\u0e38".encode() * 900_000,
    "joiners": "\u200d\u2066".encode() * 800_000,
    "spaces": b"<p>" + b" " * 4_900_000 + b"x",
    "headings": b"<h2>hello</h2><p>x y z</p>" * 100_000,
    "just below the model's limit": b"<h2>hello</h2><p>x y z</p>" * 2_900,
    "a feed of entries": b"<rss><channel>" + b"<item><title>x</title>" * 200_000,
    "a feed of entities": b'<!DOCTYPE r [<!ENTITY a "' + b"&b;" * 500_000 + b'">]><rss><channel><title>&a;</title>',
    "a list of small objects": b"[" + b'{"a":1,"b":[1,2,3],"c":"x"},' * 170_000 + b"1]",
    "lines of small objects": b'{"a":1,"b":[1,2,3],"c":"x"}\n' * 170_000,
    "deep lists of data": b"[" * 2_400_000 + b"]" * 2_400_000,
    "data of one text": b'{"a":"' + b"x" * 4_900_000 + b'"}',
    "xml of small elements": b'<?xml version="1.0"?><r>' + b'<a b="c">d</a>' * 340_000 + b"</r>",
    "xml of deep elements": b'<?xml version="1.0"?><r>' + b"<a>" * 1_600_000,
    "a document of attributes": build_odf("text", f"<text:p {' '.join(ATTRIBUTES)}/>" * 20_000),
    "a document of merged cells": build_docx(
        "<w:tbl>"
        + build_table_row('<w:vMerge w:val="restart"/>|' + "y" * 30_000, "b")
        + build_table_row("<w:vMerge/>|", "b") * 9_000
        + "</w:tbl>"
    ),
    "a calendar of events": b"BEGIN:VCALENDAR\r\n" + b"BEGIN:VEVENT\r\nSUMMARY:x\r\nEND:VEVENT\r\n" * 100_000,
    "a calendar of parameters": b"BEGIN:VCALENDAR\r\nSUMMARY" + b";a=b" * 1_200_000 + b":x\r\n",
    "a notebook of objects": b'{"nbformat":4,"cells":[' + b"{}," * 1_600_000 + b"{}]}",
    "an archive of one long text": build_zip({"a.txt": b"hello text x\n" * 4_600_000}),
    "a message of short lines": b"From: a@b.example\nSubject: x\n\n" + b"hi\n" * 1_600_000,
    "a message of parameters": b"Subject: x\nContent-Type: text/plain" + b"; a*0=x" * 600_000 + b"\n\nx",
    "an archive of long attributes": LONG_ATTRIBUTES,
    "fences of code": b"```\n" * 1_200_000,
    "a text document of one paragraph": build_odf("text", f"<text:p>{'hello text x ' * 4_500_000}</text:p>"),
    "a workbook of merged cells": build_xlsx({"S": build_worksheet(["a", "b"], after=MERGED_CELLS)}),
    "rich text of a picture": rb"{\rtf1 {\pict " + b"ff" * 20_000_000 + b"}x}",
    "rich text of single characters": rb"{\rtf1 " + rb"\u8364?" * 700_000 + b"}",
    "a text of headings": b"# hello text\n\n" * 350_000,
    "zeros in a page": b"<!DOCTYPE html><p>" + b"\0" * 4_900_000,
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
    run = subprocess.run(command, input=HOSTILE_PAGES[name], capture_output=True, check=False, timeout=120)
    assert run.returncode == 0, run.stderr.decode()[-2_000:]
    cost = json.loads(run.stdout)
    assert cost["megabytes"] < 60
    # Not a measurement of speed: work that grows with the square of these pages takes minutes.
    assert cost["seconds"] < 20
