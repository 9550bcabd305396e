"""Galleries of library widgets: outlines have every visible word, and a reference for every control."""

import re
from collections import Counter

from failures.failure_site import PAGE_FOLDER, OpenFailurePage
from outrider.browser.protocol.refs import unescape_refs
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.browser.snapshot.outline import find_refs

GALLERY = PAGE_FOLDER / "gallery"
WORD_PATTERN = re.compile(r"[^\W_]+")


async def test_every_visible_word_and_every_operable_part_is_in_the_outline(visit: OpenFailurePage) -> None:
    oracle = (GALLERY / "oracle.js").read_text("utf-8")
    seen_by_a_reader = f"(refs) => ({oracle})((each) => refs.some((ref) => outrider.elementOf(ref) === each))"
    missing: dict[str, tuple[list[str], list[str]]] = {}
    for path in sorted(GALLERY.glob("*.html")):
        on = await visit(f"gallery/{path.name}")
        outline = (await on.snapshotter.take_snapshot("full", limit=1_000_000)).piece.text
        refs = [ref for line in outline.split("\n") for ref in find_refs(line)]
        report = await on.page.evaluate_in(ISOLATED_WORLD, seen_by_a_reader, refs)
        assert len(report["words"]) >= 20, path.name
        lost = Counter(report["words"]) - Counter(WORD_PATTERN.findall(unescape_refs(outline).lower()))
        if lost or report["unreferred"]:
            missing[path.name] = (sorted(lost), report["unreferred"])
    assert missing == {}


async def test_elements_with_framework_events_at_a_container_have_references(visit: OpenFailurePage) -> None:
    on = await visit(
        """<ul id=list><li><b>React row</b></li><li><b>Plain row</b></li></ul><p><i>Solid row</i></p>
        <p><u>Svelte row</u></p><p><em>Runes row</em></p>
        <p><dfn>React-16 row</dfn></p><p><var>React-15 row</var></p><p class=au-target><cite>Aurelia row</cite></p>
        <div id=box><s class=row>jQuery row</s><s>Other row</s><kbd>Direct row</kbd></div><script>
        const of = (selector) => document.querySelector(selector);
        for (const each of document.querySelectorAll("li, b")) each.__reactProps$1 = {};
        of("b").__reactProps$1 = { onDoubleClick: () => 1 };
        of("dfn").__reactEventHandlers$1 = { onClick: () => 1 };
        of("var").__reactInternalInstance$1 = { _currentElement: { props: { onDoubleClick: () => 1 } } };
        document._$DX_DELEGATE = {}; of("i").$$click = () => 1;
        __svelte = {}; of("u").__dblclick = [() => 1];
        of("em")[Symbol("events")] = { click: () => 1 }; of("p")[Symbol("events")] = { focusin: () => 1 };
        of("cite").delegatedCallbacks = { dblclick: {} };
        box.jQuery3701 = { events: { click: [{ selector: "> kbd" }], dblclick: [{ selector: ".row" }] } };
        jQuery = (root) => ({ find: (own) => ({ get: () => [...root.querySelectorAll(`:scope ${own}`)] }) });
        </script>"""
    )
    outline = (await on.snapshotter.take_snapshot("full")).piece.text
    referred = re.findall(r"<([\w-]+) row e\d+>", outline)
    expected = ["Aurelia", "Direct", "React", "React-15", "React-16", "Runes", "Solid", "Svelte", "jQuery"]
    assert sorted(referred) == expected
    await on.evaluate_js(
        """(() => { list.append(Object.assign(document.createElement('b'), { __reactProps$1: { onClick() {} } }));
        list.lastChild.append('Late row') })()"""
    )
    assert re.search(r"<Late row e\d+>", (await on.snapshotter.take_snapshot("full")).piece.text)


async def test_library_helpers_are_left_out_and_unnamed_controls_distinguished(
    visit: OpenFailurePage,
) -> None:
    on = await visit(
        """<style>.gone { position: absolute; width: 1px; height: 1px; clip: rect(0 0 0 0); overflow: hidden }</style>
        <select id=copy class=gone tabindex=-1 aria-label=Copy><option>A</select><span tabindex=0></span>
        <div id=root><p style="display: none">Menu</p></div><script>root.onclick = () => 1</script>
        <button class="up btn"></button><button class="down btn"></button><button class="m_87cf2631 close btn"></button>
        <label style="display: inline-block; width: 9px; height: 9px; background: gold"><input type=radio class=gone
          aria-label="4 stars"></label>"""
    )
    outline = (await on.snapshotter.take_snapshot("full")).piece.text
    shown = " ".join(re.sub(r"e\d+", "REF", outline).split())
    assert shown == 'button .up REF button .down REF button .close REF radio "4 stars" REF'
    await on.pointer.click(find_refs(outline.split("\n")[-1])[-1])
    assert await on.evaluate_js("document.querySelector('[type=radio]').checked")
