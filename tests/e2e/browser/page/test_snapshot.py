"""The outline has the right content and form, and an element keeps its reference."""

import random
import re
from collections.abc import Iterator

import pytest

from failures.failure_site import FailurePage, OpenFailurePage
from outrider.browser.snapshot.extract_dom import build_dom_map, list_boxes, read_rendered_html, read_selection
from outrider.browser.snapshot.interactable import list_interactable
from outrider.core.errors import InvalidInput, NotFound
from outrider.core.text import count_tokens

WORD_PATTERN = re.compile(r"\w+")
VISIBLE_WORDS = r"""(() => { const words = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) if (walker.currentNode.parentElement.checkVisibility())
  words.push(...(walker.currentNode.data.match(/\w+/g) || [])); return words })()"""


async def read_outline(on: FailurePage, **options: object) -> str:
    """The full outline, without its first line."""
    return str(await on.snapshotter.take_snapshot("full", **options)).partition("\n")[2]  # ty: ignore[invalid-argument-type]


LINES_OF_ELEMENTS = [
    ("<h1>One</h1><h3>Three <a href=/x>x</a></h3>", ["# One", "### Three [x e1]"]),
    ("<p>Read the <a href=/d>docs</a>, or <b>not</b>.</p>", ["Read the [docs e1], or not."]),
    ("<label>Name <input></label>", ['textbox "Name" e1']),
    ("<label for=i>Name</label> <input id=i value=Anna required>", ['textbox "Name" e1 = "Anna" required']),
    ("<input aria-label=A title=B placeholder=C>", ['textbox "A" e1 placeholder "C"']),
    ("<span id=s>By id</span><input aria-labelledby=s aria-label=no>", ['By id textbox "By id" e1']),
    ("<input title=T>", ['textbox "T" e1']),
    ("<input placeholder=P>", ['textbox "P" e1']),
    ("<input type=password aria-label=P value=geheim>", ['password "P" e1 = (hidden)']),
    ("<input type=submit><input type=reset value=Clear>", ['button "Submit" e1 button "Clear" e2']),
    ("<button><img alt=Search src=x></button>", ['button "Search" e1']),
    ("<button aria-label=Close>×</button>", ['button "Close" e1 ×']),
    ("<button id=go></button>", ["button #go e1"]),
    ("<button disabled>Off</button>", ['button "Off" e1 disabled']),
    ("<button aria-pressed=true>B</button>", ['button "B" e1 pressed']),
    ("<input type=checkbox checked aria-label=C>", ['checkbox "C" e1 checked']),
    ("<label><input type=radio name=r> R</label>", ['radio "R" e1']),
    ("<div role=switch aria-checked=true tabindex=0>S</div>", ['switch "S" e1 checked']),
    ("<select aria-label=S><option>A<option selected>B</select>", ['combobox "S" e1 = "B" (A, B)']),
    (
        f"<select aria-label=S>{''.join(f'<option>O{n}' for n in range(50))}</select>",
        ['combobox "S" e1 = "O0" (50 options: O0, O1, O2, O3, …)'],
    ),
    ("<input type=range aria-label=R min=1 max=9 value=4>", ['slider "R" e1 = "4" (1–9)']),
    ("<ul><li>a<li>b <ul><li>c</ul></ul>", ["- a", "- b", "  - c"]),
    ("<nav aria-label=Main><a href=/1>One</a> <a href=/2>Two</a></nav>", ['nav "Main"', " [One e1] [Two e2]"]),
    ("<main><p>text</p></main><footer>end</footer>", ["main", " text", "footer", " end"]),
    ("<article><header>not a landmark</header></article>", ["article", " not a landmark"]),
    ("<form aria-label=F>x</form><form>y</form>", ['form "F"', " x", "y"]),
    ("<fieldset><legend>Group</legend>x</fieldset>", ['group "Group"', " x"]),
    (
        "<table><caption>T</caption><tr><th>A<th>B<tr><td>1<td><a href=/x>x</a></table>",
        ['table "T"', " A | B", " 1 | [x e1]"],
    ),
    ("<table><tr><td><p>layout</p></table>", ["layout"]),
    (
        "<div role=grid><div role=row><span role=gridcell>1</span><span role=gridcell>2</span></div></div>",
        ["grid", " 1 | 2"],
    ),
    ("<img alt=Chart src=x><img alt='' src=y>", ['(img "Chart")']),
    ("<svg width=9 height=9><title>Drawn</title></svg>", ['(img "Drawn")']),
    ("<details><summary>More</summary>hidden</details>", ['button "More" e1 collapsed']),
    ("<details open><summary>More</summary>shown</details>", ['button "More" e1 expanded', "shown"]),
    ("<div style='cursor:pointer'>Card</div>", ["<Card e1>"]),
    ("<div style='cursor:pointer'><span>one</span> <span>thing</span></div>", ["<one thing e1>"]),
    ("<div onclick=1>Old</div>", ["<Old e1>"]),
    ("<div id=d>Own</div><script>d.addEventListener('mousedown', () => 1)</script>", ["<Own e1>"]),
    ("<div id=d>Set</div><script>d.onclick = () => 1</script>", ["<Set e1>"]),
    (
        "<div id=d>Row <i id=s>star</i></div><script>d.onclick = s.onclick = () => 1</script>",
        ["<e1> Row <star e2>"],
    ),
    (
        "<style>i { display: block; height: 9px; background: #ff8000 }</style><i class=dot onclick=1></i>",
        ["<.dot #ff8000 e1>"],
    ),
    (
        "<svg onclick=1 width=90><circle cx=9 cy=9 r=9 fill=red /><rect width=20 height=10 fill=blue /></svg>",
        ["<svg e1> <circle red 18×18 e2> <rect blue 20×10 e3>"],
    ),
    ("<div contenteditable>Written</div>", ['editor e1 = "Written"']),
    ("<div tabindex=0>Focus</div>", ["<Focus e1>"]),
    ("<p style='display:none'>no</p><p style='visibility:hidden'>no</p><p hidden>no</p><p>yes</p>", ["yes"]),
    ("<p style='opacity:0'>no</p><div style='height:0;overflow:hidden'>no</div>yes", ["yes"]),
    ("<script>no</script><style>no{}</style><noscript>no</noscript><template>no</template>yes", ["yes"]),
    ("<pre>one\n  two</pre>", ["one", "  two"]),
    ("<p>a&#8203;b &#x202e;c</p>", ["ab c"]),
    ("<p>x\u0001e1\u0001 y</p>", ["xe1 y"]),
    ("<div style='display:flex'><div>side</div><div>by side</div></div>", ["side by side"]),
    ("<dialog open aria-label=D>in</dialog>", ['dialog "D"', " in"]),
    ("<input type=file aria-label=F><input type=hidden value=no>", ['file "F" e1']),
    ("<progress value=3 max=9 aria-label=P></progress>", ['(progressbar "P" 3 (0–9))']),
    ("<progress aria-label=P></progress><meter min=1 max=5 value=2>", ['(progressbar "P") (meter 2 (1–5))']),
    (
        "<div role=meter aria-label=M aria-valuenow=4 aria-valuemin=1 aria-valuemax=9></div>",
        ['(meter "M" 4 (1–9))'],
    ),
    (
        "<ol start=5><li>five<ol type=a><li>in it</ol><li value=9>nine<li>ten</ol><ol reversed><li>b<li>a</ol>",
        ["5. five", "  a. in it", "9. nine", "10. ten", "2. b", "1. a"],
    ),
    ("<ol style='list-style:none'><li>plain</ol><ol type=I><li><li value=1994>y</ol>", ["- plain", "MCMXCIV. y"]),
    (
        """<style>body { counter-reset: h 2 } h2::before { counter-increment: h;
            content: "§" counter(h, upper-roman) ": " } ol { counter-reset: s; list-style: none }
            li::before { counter-increment: s; content: counters(s, ".") " " }
            </style><h2>A</h2><h2>B</h2><ol><li>a<ol><li>b</ol><li>c</ol><ol><li>d</ol>""",
        ["## §III: A", "## §IV: B", "- 1 a", "  - 1.1 b", "- 2 c", "- 1 d"],
    ),
    (
        "<input type=checkbox id=c hidden><label for=c>Drawn</label>",
        ['checkbox "Drawn" e1'],
    ),
]


async def test_each_kind_of_element_has_its_own_line_format(
    revisit: OpenFailurePage, subtests: pytest.Subtests
) -> None:
    for html, lines in LINES_OF_ELEMENTS:
        with subtests.test(html):
            on = await revisit(f"<!doctype html><title>T</title><body>{html}")
            assert (await read_outline(on)).split("\n") == lines


async def test_open_and_closed_shadow_roots_are_read_and_reached(revisit: OpenFailurePage) -> None:
    on = await revisit(
        """<div id=o></div><div id=c></div><div id=l role=list></div><x-y><b slot=s>slotted</b></x-y><script>
        log = [];
        o.attachShadow({mode: 'open'}).innerHTML = '<p>open <input aria-label=In></p>';
        l.attachShadow({mode: 'open'}).innerHTML = '<li>item</li>';
        const root = c.attachShadow({mode: 'closed'}); root.innerHTML = '<p>closed <button>Press</button></p>';
        root.querySelector('button').onclick = () => log.push('pressed');
        customElements.define('x-y', class extends HTMLElement { constructor() { super();
          this.attachShadow({mode: 'closed'}).innerHTML = 'before <slot name=s></slot> after'; } });
        </script>"""
    )
    text = await read_outline(on)
    assert 'open textbox "In"' in text
    assert "- item" in text
    assert "before slotted after" in text
    found = re.search(r'closed button "Press" (e\d+)', text)
    assert found
    await on.pointer.click(found[1])
    assert await on.read_log() == ["pressed"]


async def test_a_long_value_is_read_on_to_its_end(revisit: OpenFailurePage) -> None:
    fill = "t.value = `${'A1'.repeat(9e3)} end`"
    on = await revisit(f"<textarea readonly aria-label=Long id=t></textarea><script>{fill}</script>")
    ref = re.search(r"root=(e\d+)", await read_outline(on))
    assert ref
    assert ' end"' in await read_outline(on, root=ref[1], offset=8)


async def test_frames_are_shown_in_place_whatever_their_origin(revisit: OpenFailurePage) -> None:
    on = await revisit(
        """<p>before</p>
        <iframe title=Same srcdoc="<p>same</p><iframe title=Deep srcdoc='<button>deep</button>'></iframe>"></iframe>
        <p>between</p><iframe title=Other src="data:text/html,<button>other</button>"></iframe><p>after</p>
        <iframe id=nest title=Nest></iframe><script>let inner = "<p>bottom</p>";
        const escape = (html) => html.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
        for (let n = 0; n < 7; n++) inner = `<iframe srcdoc="${escape(inner)}">`;
        nest.srcdoc = inner;</script>"""
    )
    text = await read_outline(on)
    order = [
        "before",
        'iframe "Same"',
        " same",
        'iframe "Deep"',
        "deep",
        "between",
        'iframe "Other"',
        "other",
        "after",
        "bottom",
    ]
    places = [text.index(each) for each in order]
    assert places == sorted(places)
    assert re.search(r'button "deep" f[a-z]+1', text)


TABLE_HTML = (
    "<h1>Rows</h1><table><tr><th>N<th>Name"
    + "".join(f"<tr><td>{n}<td>Name {n}" for n in range(300))
    + "</table><h2>After</h2>"
)


async def test_the_viewport_is_shown_and_the_rest_outlined(revisit: OpenFailurePage) -> None:
    on = await revisit(TABLE_HTML)
    text = str(await on.snapshotter.take_snapshot())
    assert "1 | Name 1" in text
    assert "Name 250" not in text
    assert re.search(r"… below: After, \d+ rows", text)
    await on.evaluate_js("scrollTo(0, 3000)")
    text = str(await on.snapshotter.take_snapshot())
    assert "… above: Rows" in text
    assert "| Name 1\n" not in text


async def test_an_outline_is_cut_at_its_budget_and_read_on_by_line(revisit: OpenFailurePage) -> None:
    on = await revisit(TABLE_HTML)
    whole = (await read_outline(on, limit=1_000_000)).split("\n")
    read: list[str] = []
    offset: int | None = 0
    while offset is not None:
        taken = await on.snapshotter.take_snapshot("full", limit=1_000, offset=offset)
        assert len(taken.piece.text) <= 1_000
        read += taken.piece.text.split("\n")
        offset = taken.piece.next_offset
        assert offset is None or f"offset={offset}" in str(taken)
    assert read == whole


async def test_further_parts_come_from_the_same_snapshot_until_the_next_action(revisit: OpenFailurePage) -> None:
    on = await revisit(f"<button id=b onclick='1'>B</button>{TABLE_HTML}")
    first = await on.snapshotter.take_snapshot("full", limit=200)
    await on.evaluate_js("document.querySelector('h1').remove()")
    assert (await on.snapshotter.take_snapshot("full", limit=200, offset=1)).piece.total == first.piece.total
    await on.pointer.click("#b")
    assert (await on.snapshotter.take_snapshot("full", limit=200, offset=1)).piece.total == first.piece.total - 1


async def test_controls_below_the_viewport_are_not_in_the_view(revisit: OpenFailurePage) -> None:
    cards = "".join(f"<div><h3>Card {n}</h3><span onclick=1>*</span> <a href=/{n}>Open</a></div>" for n in range(60))
    on = await revisit(f"<style>div {{ height: 100px }}</style><section>{cards}</section>")
    shown = str(await on.snapshotter.take_snapshot())
    assert shown.count("[Open ") == shown.count("### Card") == shown.count("<* ")
    assert "above" not in shown


async def test_the_address_can_be_left_out(revisit: OpenFailurePage) -> None:
    on = await revisit("<title>Here</title><p>text")
    seen = await on.snapshotter.take_snapshot("full")
    assert seen.to_text(address=False) == "Here\ntext"
    assert seen.to_text().startswith("Here · http")


async def test_part_of_a_page_is_shown_by_reference_and_text_is_found(revisit: OpenFailurePage) -> None:
    on = await revisit(
        "<select id=s aria-label=S>" + "".join(f"<option>O{n}" for n in range(50)) + "</select>" + TABLE_HTML
    )
    ref = re.search(r'"S" (e\d+)', await read_outline(on))
    assert ref
    assert "- O49" in await read_outline(on, root=ref[1])
    found = await read_outline(on, find="name 123")
    assert found.split("\n") == ["# Rows", "table (301 rows)", " 123 | Name 123"]


async def test_links_have_their_addresses_on_request(revisit: OpenFailurePage) -> None:
    on = await revisit("<a href=/here>Here</a> <a href=https://example.com/there>There</a>")
    assert "[Here e1](/here)" in await read_outline(on, urls=True)
    assert "(https://example.com/there)" in await read_outline(on, urls=True)


async def test_the_interactive_outline_leaves_out_plain_text(revisit: OpenFailurePage) -> None:
    on = await revisit("<h1>A</h1><p>text</p><nav><a href=/x>x</a></nav><h2>B</h2><p>more</p>")
    text = str(await on.snapshotter.take_snapshot("interactive"))
    assert "text" not in text
    assert "[x e1]" in text


async def test_an_unknown_root_is_reported_as_missing(revisit: OpenFailurePage) -> None:
    on = await revisit("<p>x")
    with pytest.raises(NotFound):
        await on.snapshotter.take_snapshot("full", root="e77")


def generate_page(seed: int) -> str:
    """A page of nested blocks, lists, tables, fields and links; every word of it is visible."""
    rng = random.Random(seed)
    words = (f"w{seed}x{n}" for n in range(10_000))
    return f"<!doctype html><title>G</title><body>{''.join(_block(rng, words, 4) for _ in range(12))}"


def _block(rng: random.Random, words: Iterator[str], deep: int) -> str:
    text = " ".join(next(words) for _ in range(rng.randint(1, 6)))
    inner = [_block(rng, words, deep - 1) for _ in range(rng.randint(1, 3))] if deep else []
    rows = "".join(f"<tr><td>{next(words)}<td>{each}" for each in inner)
    return rng.choice(
        [
            f"<p>{text} <a href=/{text[:4]}>{next(words)} <b>{next(words)}</b></a> <em>{next(words)}</em></p>",
            f"<div>{text}{''.join(inner)}</div>",
            f"<section><h2>{text}</h2>{''.join(inner)}</section>",
            f"<ul>{''.join(f'<li>{each}' for each in [text, *inner])}</ul>",
            f"<table><tr><th>{next(words)}<th>{next(words)}{rows}</table>",
            f"<label>{text} <input></label><button>{next(words)}</button>",
            f"<div style='display:flex'><span>{text}</span>{''.join(inner)}</div>",
            f"<a href=/card><div><h3>{text}</h3><span>{next(words)}</span></div></a>",
            f"<button aria-label='{next(words)}'>{text}</button>",
            f"<div onclick=1>{text}{''.join(inner)}</div>",
            f"<details open><summary>{text}</summary>{''.join(inner)}</details>",
            f"<fieldset><legend>{text}</legend>{''.join(inner)}</fieldset>",
            f"<article><header>{text}</header>{''.join(inner)}<footer>{next(words)}</footer></article>",
        ]
    )


@pytest.mark.parametrize("seed", range(8))
async def test_all_visible_text_is_in_the_full_outline(seed: int, revisit: OpenFailurePage) -> None:
    on = await revisit(generate_page(seed))
    words = set(await on.evaluate_js(VISIBLE_WORDS))
    assert len(words) > 100
    told = set(WORD_PATTERN.findall(await read_outline(on, limit=10_000_000)))
    assert len(words - told) <= 0.005 * len(words), words - told


@pytest.mark.parametrize("seed", range(3))
async def test_references_survive_a_redraw_of_the_page(seed: int, revisit: OpenFailurePage) -> None:
    on = await revisit(generate_page(seed))
    before = await read_outline(on, limit=10_000_000)
    await on.evaluate_js(
        """(() => { for (const e of document.querySelectorAll('*')) e.setAttribute('data-x', '1');
        const all = [...document.body.children]; document.body.append(...all); })()"""
    )
    assert await read_outline(on, limit=10_000_000) == before


async def test_a_small_change_is_reported_as_a_small_difference(revisit: OpenFailurePage) -> None:
    on = await revisit(generate_page(5) + "<p id=changes>old</p><button id=b>B</button>")
    await on.evaluate_js("document.getElementById('b').onclick = () => { changes.textContent = 'new words' }")
    outcome = await on.pointer.click("#b")
    assert outcome.changes.split("\n")[-1] == "+ new words"
    assert count_tokens(str(outcome)) <= 40


async def test_a_completely_changed_page_is_reported_in_full(revisit: OpenFailurePage) -> None:
    on = await revisit(generate_page(5) + "<button id=b>B</button>")
    await on.evaluate_js(
        f"document.getElementById('b').onclick = () => {{ document.body.innerHTML = `{generate_page(6)}` }}"
    )
    outcome = await on.pointer.click("#b")
    assert outcome.changes.startswith("G · ")


async def test_interactable_elements_are_reported_as_data(revisit: OpenFailurePage) -> None:
    on = await revisit("fields.html")
    found = await list_interactable(on.snapshotter)
    by_id = {each["attributes"].get("id"): each for each in found.elements}
    assert found.total == len(found.elements)
    assert not found.truncated
    assert by_id["text"] | {"ref": "", "rect": {}} == {
        "ref": "",
        "rect": {},
        "selector": "#text",
        "tag": "input",
        "role": "textbox",
        "name": "Text",
        "inViewport": True,
        "visible": True,
        "enabled": True,
        "attributes": {"id": "text"},
        "capabilities": ["click", "type"],
        "value": "old",
    }
    assert by_id["letter"]["capabilities"] == ["select"]
    assert by_id["letter"]["options"] == ["Alpha", "Beta", "Gamma"]
    assert by_id["tick"]["capabilities"] == ["click", "check"]
    assert by_id["file"]["capabilities"] == ["upload"]
    assert by_id["password"]["value"] == "(hidden)"
    assert by_id["fixed"]["capabilities"] == ["click"]
    assert "hidden-file" not in by_id
    for each in found.elements:
        assert await on.evaluate_js(f"document.querySelectorAll({each['selector']!r}).length") == 1


async def test_interactable_is_limited_scoped_and_clamped(revisit: OpenFailurePage) -> None:
    on = await revisit("fields.html")
    few = await list_interactable(on.snapshotter, max_elements=0)
    assert len(few.elements) == 1
    assert few.truncated
    assert (await list_interactable(on.snapshotter, selector="#letter")).total == 1
    with pytest.raises(NotFound):
        await list_interactable(on.snapshotter, selector="#nowhere")
    with pytest.raises(InvalidInput):
        await list_interactable(on.snapshotter, selector="[[")
    hidden = await list_interactable(on.snapshotter, include_hidden=True, max_elements=500)
    assert any(each["attributes"].get("id") == "hidden-file" for each in hidden.elements)


async def test_references_of_interactable_elements_can_be_acted_on(revisit: OpenFailurePage) -> None:
    on = await revisit("fields.html")
    tick = next(
        each for each in (await list_interactable(on.snapshotter)).elements if each["attributes"].get("id") == "tick"
    )
    await on.forms.check(tick["ref"])
    assert await on.evaluate_js("document.getElementById('tick').checked")


async def test_the_rendered_document_has_shadow_trees_and_frames_and_no_secrets(revisit: OpenFailurePage) -> None:
    on = await revisit(
        """<p style="display:none">no</p><script>'no'</script><div id=o></div><iframe srcdoc="<p>framed</p>"></iframe>
        <input type=password value=geheim><a href=/rel>rel</a>
        <script>o.attachShadow({mode: 'closed'}).innerHTML = '<p>shadow</p>'
        o.style.height = '20px'</script>"""
    )
    await on.snapshotter.take_snapshot()
    html = (await read_rendered_html(on.snapshotter)).html
    assert "<p>shadow</p>" in html
    assert "<p>framed</p>" in html
    assert f'href="{on.base_url}/rel"' in html
    assert "geheim" not in html
    assert "no" not in re.findall(r">(\w+)<", html)


async def test_the_dom_map_and_the_selected_text_are_returned(revisit: OpenFailurePage) -> None:
    on = await revisit("<div id=a class=b><p>one</p><p>two</p></div>")
    told = await build_dom_map(on.snapshotter, selector="#a")
    assert told["domMap"]["id"] == "a"
    assert [child["text"] for child in told["domMap"]["children"]] == ["one", "two"]
    await on.evaluate_js("getSelection().selectAllChildren(a.firstChild)")
    assert await read_selection(on.snapshotter) == "one"


async def test_only_boxes_in_the_viewport_are_drawn(revisit: OpenFailurePage) -> None:
    on = await revisit("<button>A</button><div style='height:3000px'></div><button>B</button>")
    assert [each["ref"] for each in await list_boxes(on.snapshotter)] == ["e1"]


@pytest.mark.parametrize(
    "html",
    [
        "<form><input name=id><input name=title><input name=children><input name=firstChild><p>here</p></form>",
        "<img name=body><form name=title></form><form name=body></form><p>here</p>",
        "<form><input name=localName><input name=parentNode><input name=parentElement><i>here</i></form>",
        """<form tabindex=0 onclick=1 aria-label=F><input name=hasAttribute><input name=getAttribute>
        <input name=matches><input name=closest><input name=assignedSlot><input name=nodeType>
        <input name=shadowRoot><input name=checkVisibility><input name=inert>
        <input name=getBoundingClientRect><input name=querySelector><input name=querySelectorAll><input name=children>
        <input name=textContent><input name=classList><input name=firstElementChild><ul><li>here</ul></form>""",
        "<p id=outrider>here</p>",
        "<form id=outrider><input name=prefix><input name=call>here</form>",
        "<form lang=en><select name=lang><option>en</select>here",
    ],
)
async def test_a_page_that_shadows_its_own_properties_is_still_read(html: str, revisit: OpenFailurePage) -> None:
    on = await revisit(f"<body>{html}<button id=b>B</button>")
    assert "here" in str(await on.snapshotter.take_snapshot("full"))
    assert "clicked" in str(await on.pointer.click("#b"))
    assert (await list_interactable(on.snapshotter)).total


@pytest.mark.nightly
async def test_a_page_nested_to_the_browsers_limit_is_read(visit: OpenFailurePage) -> None:
    on = await visit("<p>top</p><div id=d></div>")
    await on.evaluate_js(
        """(() => { let e = d; for (let n = 0; n < 1500; n++) { const c = document.createElement('div');
        c.onclick = () => 1; e.append(c); e = c } e.textContent = 'bottom' })()"""
    )
    text = await read_outline(on)
    assert "top" in text
    assert "bottom" in text


@pytest.mark.nightly
async def test_an_endless_page_is_cut(visit: OpenFailurePage) -> None:
    on = await visit("<div id=d></div>")
    await on.evaluate_js("d.innerHTML = '<i>x </i>'.repeat(100000)")
    assert len(str(await on.snapshotter.take_snapshot("full"))) < 20_000


async def test_items_of_a_list_that_listens_to_double_clicks_can_be_opened(revisit: OpenFailurePage) -> None:
    on = await revisit(
        """<script>log = []</script><div id=files><ul>
        <li><span tabindex=0 role=button>notes.txt</span><small>now</small>
        <li><span>sums.ipynb</span><small>1m ago</small></ul></div><ul><li>Only read</ul>
        <script>files.ondblclick = event => log.push(event.target.closest('li').innerText)</script>"""
    )

    outline = (await on.snapshotter.take_snapshot("full")).to_text()
    item = re.search(r"sums\.ipynb.*? (e\d+)|<(e\d+)> sums\.ipynb", outline)

    assert item, outline
    await on.pointer.click(item[1] or item[2], count=2)
    assert "sums.ipynb" in (await on.read_log())[-1]
    assert "- Only read" in outline


async def test_a_diagram_node_is_labelled_with_the_text_of_its_group(revisit: OpenFailurePage) -> None:
    on = await revisit(
        """<script>log = []</script><svg width=400 height=100><g><rect width=120 height=30
        onmousedown="log.push('greeting')" /><g><text x=20 y=20 pointer-events=none>greeting</text></g></g>
        <g><rect x=200 width=120 height=30 onmousedown="log.push('answer')" /><text x=220 y=20>answer</text></g>
        </svg>"""
    )

    outline = (await on.snapshotter.take_snapshot("full")).to_text()
    box = re.search(r'<"greeting" rect 120×30 (e\d+)>', outline)

    assert box, outline
    await on.pointer.click(box[1])
    assert await on.read_log() == ["greeting"]
    assert '<"answer" rect' in outline
