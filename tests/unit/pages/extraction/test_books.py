"""Pages of books have the book's title above their own headline."""

from outrider.pages.extract import extract

OWNERSHIP_TEXT = (
    "Ownership is a set of rules that govern how a program manages memory. All programs have to do so. " * 3
)
OWNERSHIP_HTML = (
    "<title>What Is Ownership? - The Book of Rust</title><div id=menu-bar class=menu-bar>"
    "<h1 class=menu-title>The Book of Rust</h1></div><main><h2 id=own><a class=header href=#own>What Is Ownership?</a>"
    f"</h2><p>{OWNERSHIP_TEXT}</p><h3>Rules</h3><p>{OWNERSHIP_TEXT}</p>"
    "<pre><pre class=playground><code class='language-rust edition2021'>fn main() {}</code></pre></pre></main>"
)


def test_a_chapter_begins_with_its_own_name():
    read = extract(OWNERSHIP_HTML, url="https://site.example/book/ch4.html")
    assert read.markdown.startswith("## What Is Ownership?\n")
    assert read.text.startswith("What Is Ownership?\n")
    assert read.title == "What Is Ownership?"


def test_the_whole_page_keeps_the_name_of_the_book():
    assert extract(OWNERSHIP_HTML, main=False).markdown.startswith("# The Book of Rust\n\n## What Is Ownership?\n")


def test_a_nested_listing_keeps_its_language():
    assert extract(OWNERSHIP_HTML, main=False).markdown.endswith("```rust\nfn main() {}\n```")


def test_a_chapter_heading_may_contain_more_than_the_declared_title():
    page = OWNERSHIP_HTML.replace("<title>What Is", "<title>B - What Is").replace(
        "#own>What Is", "#own>Appendix B: What Is"
    )
    read = extract(page, url="https://site.example/book/appendix-b.html")
    assert read.title == "Appendix B: What Is Ownership?"
    assert read.markdown.startswith("## Appendix B: What Is Ownership?\n")
