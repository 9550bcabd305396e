"""Which element a flow means: the same one though much has changed, and none that only looks like it."""

from dataclasses import replace

import pytest

from outrider.flows.evidence import ElementCandidate
from outrider.flows.flow import Target
from outrider.flows.matching import match_target

DELETE = Target(
    role="button",
    name="Delete",
    row="Ceylon",
    under="Teas",
    inside="main",
    path="main > table > button",
    attributes={"id": "delete-2"},
    equals=3,
)
CEYLON = ElementCandidate(
    "e2", "button", "Delete", "Ceylon", "", "Teas", "main", "main > table > button", {"id": "delete-2"}, 3, "<button>"
)
ASSAM = replace(CEYLON, ref="e1", row="Assam", attributes={"id": "delete-1"})
SAVE = Target(role="button", name="Save", under="Profile", inside="main", attributes={"id": "save"}, equals=1)
SAVED = ElementCandidate("e5", "button", "Save", "", "", "Profile", "main", "", {"id": "save"}, 1, "<button>")
FIELD = Target(
    role="textbox", name="Street", under="Order", inside="form", attributes={"name": "street", "type": "text"}, equals=1
)
FILLED = ElementCandidate(
    "e7", "textbox", "Street", "", "", "Order", "form", "", {"name": "street", "type": "text"}, 1, "<input>"
)


@pytest.mark.parametrize(
    ("case", "target", "candidates", "expected"),
    [
        ("as it was", DELETE, [ASSAM, CEYLON], "e2"),
        (
            "the rows have moved and the numbers with them",
            DELETE,
            [replace(CEYLON, attributes={"id": "delete-1"}), replace(ASSAM, attributes={"id": "delete-2"})],
            "e2",
        ),
        ("the heading is reworded, but row and id are the same", DELETE, [replace(CEYLON, under="Our teas")], "e2"),
        (
            "its row is gone and another has its id",
            DELETE,
            [replace(ASSAM, attributes={"id": "delete-2"})],
            "not_found",
        ),
        ("two rows have its name", DELETE, [CEYLON, replace(CEYLON, ref="e9")], "ambiguous"),
        ("the id is new", SAVE, [replace(SAVED, attributes={"id": "s1"})], "e5"),
        ("a count in brackets", SAVE, [replace(SAVED, name="Save (3)")], "e5"),
        ("another name in the same place", SAVE, [replace(SAVED, name="Delete")], "changed"),
        ("another heading in the same place", SAVE, [replace(SAVED, under="Account of Grace")], "changed"),
        ("another place with the same id", SAVE, [replace(SAVED, under="", inside="header")], "e5"),
        ("another place without the id", SAVE, [replace(SAVED, under="", inside="header", attributes={})], "changed"),
        ("a twin elsewhere", SAVE, [SAVED, replace(SAVED, ref="e6", inside="footer", under="", attributes={})], "e5"),
        ("a twin beside it", SAVE, [SAVED, replace(SAVED, ref="e6", attributes={})], "ambiguous"),
        ("a link with the same id", SAVE, [replace(SAVED, role="link")], "e5"),
        ("a link without the id", SAVE, [replace(SAVED, role="link", attributes={})], "not_found"),
        ("nothing", SAVE, [], "not_found"),
        ("written by hand", Target(name="Save"), [SAVED], "e5"),
        ("written by hand, and there are two", Target(name="Save"), [SAVED, replace(SAVED, ref="e6")], "ambiguous"),
        ("another text beside it", SAVE.model_copy(update={"near": "Ada"}), [replace(SAVED, near="Eve")], "changed"),
        ("another price beside it", SAVE.model_copy(update={"near": "3 €"}), [replace(SAVED, near="4 €")], "e5"),
    ],
)
def test_an_element_is_recognised_or_left_alone(
    case: str, target: Target, candidates: list[ElementCandidate], expected: str
):
    match = match_target(target, candidates)
    assert (match.candidate.ref if match.candidate else match.reason) == expected, case


def test_a_field_is_recognised_by_what_its_form_sends_and_a_button_never_is():
    reworded = replace(FILLED, name="Calle")
    match = match_target(FIELD, [reworded], "fill")
    assert match.candidate == reworded
    assert "its form sends it as 'street'" in match.healed[0]
    assert match_target(FIELD, [reworded], "click").reason != "found"
    assert match_target(FIELD, [reworded, replace(reworded, ref="e8")], "fill").reason == "not_found"
    assert match_target(FIELD, [replace(reworded, inside="dialog")], "fill").reason != "found"


def test_links_of_one_name_to_one_address_are_one():
    link = Target(role="link", name="Next", under="", inside="nav", attributes={"href": "/2"}, equals=2)
    top = ElementCandidate(
        "e1", "link", "Next", inside="nav", attributes={"href": "/2"}, equals=2, address="http://x/2"
    )
    assert match_target(link, [top, replace(top, ref="e2")]).candidate == top
    assert match_target(link, [top, replace(top, ref="e2", address="http://x/3")]).reason == "ambiguous"
