"""Test that a child's citations keep their sources in the parent's references."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.agents.citations import MAX_REFERENCES, adopt_citations, list_references, rewrite_references
from outrider.core.citations import CitationPool, build_references
from outrider.core.context import Call
from outrider.core.database.database import Database

pytestmark = pytest.mark.anyio
BLOCKS = re.compile(r":cite\[([^\[\]]*)\]")


def build_sources(*names: str) -> dict[str, dict[str, Any]]:
    return {name: {"title": f"source {name}"} for name in names}


def test_the_example_from_the_contract_is_rewritten_as_specified():
    answer = rewrite_references("Paris has 2.1 M people :cite[k3d,zz9].", build_sources("k3d", "zz9"), ["p0q", "7ab"])
    assert answer.text == "Paris has 2.1 M people :cite[p0q,7ab]."
    assert answer.refs == {"p0q": {"title": "source k3d"}, "7ab": {"title": "source zz9"}}


def test_swapped_references_are_each_replaced_once():
    answer = rewrite_references("one :cite[aaa], two :cite[bbb]", build_sources("aaa", "bbb"), ["bbb", "aaa"])
    assert answer.text == "one :cite[bbb], two :cite[aaa]"
    assert answer.refs == {"bbb": {"title": "source aaa"}, "aaa": {"title": "source bbb"}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("twice :cite[aaa,bbb,aaa]", "twice :cite[p0q,7ab]"),
        ("spaces :cite[ aaa , bbb ]", "spaces :cite[p0q,7ab]"),
        ("commas :cite[,aaa,,bbb,]", "commas :cite[p0q,7ab]"),
        ("nobody's :cite[xxx,aaa]", "nobody's :cite[p0q]"),
        ("gone :cite[xxx], with its space", "gone, with its space"),
        ("empty :cite[] too", "empty too"),
        ("outside aaa and [aaa] and cite[aaa]", "outside aaa and [aaa] and cite[aaa]"),
        ("never closed :cite[aaa", "never closed :cite[aaa"),
        ("hidden :ci:cite[xxx]te[zzz]", "hidden"),
        ("no citations at all", "no citations at all"),
        ("", ""),
    ],
)
def test_blocks_are_cleaned_and_nothing_else_is_touched(text: str, expected: str):
    assert rewrite_references(text, build_sources("aaa", "bbb"), ["p0q", "7ab"]).text == expected


def test_no_more_references_are_used_than_the_parent_reserved():
    names = list(build_references()[:70])
    text = " ".join(f"fact{number} :cite[{name}]" for number, name in enumerate(names))
    answer = rewrite_references(text, build_sources(*names), build_references()[1000 : 1000 + MAX_REFERENCES])
    assert len(answer.refs) == MAX_REFERENCES
    assert answer.text.endswith("fact68 fact69")


def test_nested_citation_blocks_are_removed_without_hanging():
    text = ":cite[" * 100 + "xxx" + "]" * 100 + ":ci" * 100 + ":cite[x]" + "te[x]" * 100
    assert not BLOCKS.findall(rewrite_references(text, {}, []).text)


REFERENCE_NAMES = st.sampled_from(build_references()[:12])
INSIDE = st.lists(st.one_of(REFERENCE_NAMES, st.text(":cite[], abx", max_size=6)), max_size=5).map(",".join)
PIECES = st.one_of(st.text(":cite[], abx", max_size=12), INSIDE.map(lambda inside: f" :cite[{inside}]"))


@given(
    st.lists(PIECES, max_size=12).map("".join),
    st.sets(REFERENCE_NAMES),
    st.lists(st.sampled_from(build_references()[:16]), unique=True, max_size=14),
)
def test_a_reference_never_points_to_another_source(text: str, known: set[str], fresh: list[str]):
    answer = rewrite_references(text, build_sources(*known), fresh)
    back = {new: citation["title"].removeprefix("source ") for new, citation in answer.refs.items()}
    named = [block.split(",") for block in BLOCKS.findall(answer.text)]
    assert all(name in back for names in named for name in names)
    assert all(len(set(names)) == len(names) for names in named)
    assert set(back) <= set(fresh)
    assert list(back.values()) == list_references(text, build_sources(*known))[: len(fresh)]
    # Mapped back to the child's references, it is the child's text without unsupported citations.
    again = rewrite_references(
        answer.text, {new: {} for new in back}, [back[new] for new in list_references(answer.text, back)]
    )
    assert again.text == rewrite_references(text, build_sources(*back.values()), list(back.values())).text


async def test_references_come_from_the_slice_that_the_host_reserved(database: Database):
    call = Call(citations=(100, 2))
    answer = await adopt_citations(
        CitationPool(database), call, "a :cite[x1x] b :cite[y2y] c :cite[z3z]", build_sources("x1x", "y2y", "z3z")
    )
    one, two = build_references()[100:102]
    assert answer.text == f"a :cite[{one}] b :cite[{two}] c"
    assert list(answer.refs) == [one, two]


async def test_without_a_slice_two_children_of_one_message_share_no_reference(database: Database):
    citations, call = CitationPool(database), Call(session="s", message="m")
    first = await adopt_citations(citations, call, "a :cite[x1x]", build_sources("x1x"))
    second = await adopt_citations(citations, call, "b :cite[x1x]", build_sources("x1x"))
    assert not first.refs.keys() & second.refs.keys()


async def test_an_answer_without_reserved_references_loses_only_its_citations(database: Database):
    answer = await adopt_citations(
        CitationPool(database), Call(citations=(len(build_references()), 64)), "a :cite[x1x].", build_sources("x1x")
    )
    assert (answer.text, answer.refs) == ("a.", {})
