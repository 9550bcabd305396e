"""Footnotes in all usual forms of markup."""

import pytest

from outrider.pages.extract import extract


def extract_markdown(body: str) -> str:
    return extract(body, url="https://site.example/a/", main=False).markdown


WIKI = (
    '<p>Fact<sup id="cite_ref-1"><a href="#cite_note-1">[1]</a></sup></p><ol><li id="cite_note-1"><span '
    'class="mw-cite-backlink">^ Jump up: <a href="#cite_ref-1">a</a> <a href="#cite_ref-2">b</a></span> <span>A book.'
    "</span></li></ol>"
)
GITHUB = (
    '<p>Fact<sup><a href="#user-content-fn-1" id="user-content-fnref-1">1</a></sup></p><ol><li id="user-content-fn-1">'
    '<p>A book. <a href="#user-content-fnref-1"><g-emoji>\u21a9</g-emoji></a></p></li></ol>'
)
WORDPRESS = (
    '<p>Fact<sup><a href="#8ab" id="8ab-link">1</a></sup></p><ol><li id="8ab">A book. <a href="#8ab-link">\u21a9</a>'
    "</li></ol>"
)
SPHINX = (
    '<p>Fact<a href="#id3" id="id1">[1]</a></p><aside><aside id="id3"><span>[<a href="#id1">1</a>]</span><p>A book.</p>'
    "</aside></aside>"
)
DOCUTILS = (
    '<p>Fact<a href="#id3" id="id1">1</a></p><dl><dt id="id3"><a href="#id1">1</a></dt><dd><p>A book.</p></dd></dl>'
)
WORD_HTML = '<p>Fact<a href="#_ftn1" name="_ftnref1">[1]</a></p><p><a href="#_ftnref1" name="_ftn1">[1]</a> A book.</p>'
STARRED = '<p>Fact<a href="#note2" name="back2">*</a></p><p><a name="note2"></a>* A book.</p>'

NOWHERE = (  # the place of the mark has lost its name
    '<p>Fact<sup><a href="#f1">1</a></sup></p><ol><li id="f1">A book. <a href="#r1">\u21a9\ufe0e</a></li></ol>'
)


@pytest.mark.parametrize("source", [WIKI, GITHUB, WORDPRESS, SPHINX, DOCUTILS, WORD_HTML, STARRED, NOWHERE])
def test_a_footnote_mark_is_linked_to_its_note_and_back_links_are_removed(source: str):
    assert extract_markdown(source) == "Fact[^1]\n\n[^1]: A book."


def test_named_notes_keep_their_names():
    source = '<p>Fact<a href="#note-a">[note 1]</a></p><p id="note-a">Said of old.</p>'
    assert extract_markdown(source) == "Fact[^note1]\n\n[^note1]: Said of old."


def test_a_note_may_precede_its_mark():
    source = '<p id="a"><a href="#b">1</a> A book.</p><p id="b">Fact<a href="#a">1</a></p>'
    assert extract_markdown(source) == "Fact[^1]\n\n[^1]: A book."


def test_brackets_around_a_back_link_are_removed_but_not_those_of_code():
    source = '<p>Fact<a href="#n" id="r">1</a></p><p id="n">Call f() first (<a href="#r">^</a>)</p>'
    read = extract(source, url="https://site.example/a/", main=False)
    assert read.markdown == "Fact[^1]\n\n[^1]: Call f() first"
    assert read.text == "Fact1\n\nCall f() first"


NOTED = "<h2>Use</h2><p>So<a href=#fn1 id=r1>1</a></p><h2>References</h2><ol><li id=fn1>Low <a href=#r1>up</a></ol>"


@pytest.mark.parametrize(
    ("behind", "is_kept"),
    [("<h2>Links</h2><p>Here", False), ("", True), ("<h3>Books</h3><p>Here", True), ("<p>Here", True)],
)
def test_a_heading_above_notes_only_is_dropped_if_another_section_follows(behind: str, is_kept: bool):
    written = extract(NOTED + behind, url="https://site.example/", main=False).markdown
    assert ("## References" in written) is is_kept
    assert written.endswith("[^1]: Low")
