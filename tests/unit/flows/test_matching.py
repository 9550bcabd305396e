"""A flow finds its element on a changed page, and never a lookalike."""

from dataclasses import replace
from typing import Any

import pytest

from outrider.flows.conditions import PageMessages, find_success, find_translation
from outrider.flows.evidence import ElementCandidate, find_other_choice
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
        (
            "the same is done to another thing",
            SAVE.model_copy(update={"name": "Delete member"}),
            [replace(SAVED, name="Delete whole team", under="Profile")],
            "changed",
        ),
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
def test_an_element_is_recognised_only_if_the_match_is_safe(
    case: str, target: Target, candidates: list[ElementCandidate], expected: str
):
    match = match_target(target, candidates)
    assert (match.candidate.ref if match.candidate else match.reason) == expected, case


def test_a_field_is_recognised_by_its_form_name_and_a_button_never_is():
    reworded = replace(FILLED, name="Way")
    match = match_target(FIELD, [reworded], "fill")
    assert match.candidate == reworded
    assert "its form still sends it as 'street'" in match.healed[0]
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


SEND = Target(
    role="button",
    name="Send order",
    under="Order",
    inside="form",
    equals=1,
    traits={"order": "3 of 3", "after": "Cancel", "form": "post /order", "sends": "name street", "language": "en"},
)
SENDING = ElementCandidate("e3", "button", "Send order", "", "", "Order", "form", traits=dict(SEND.traits))


def test_a_renamed_button_is_recognised_only_if_meaning_and_context_agree():
    spanish = dict(SEND.traits) | {"language": "es", "after": "Cancelar"}
    cases = [
        ("a synonym", {"name": "Submit order"}, "e3"),
        ("polite words", {"name": "Send your order now"}, "e3"),
        ("a word of its heading", {"name": "Send this order", "under": "Order"}, "e3"),
        ("the opposite", {"name": "Delete order"}, "not_found"),
        ("more than was meant", {"name": "Send all orders"}, "not_found"),
        ("sent and deleted", {"name": "Send and delete order"}, "not_found"),
        ("an unknown word", {"name": "Frobnicate"}, "not_found"),
        ("a synonym in another form", {"name": "Submit order", "traits": {"order": "1 of 9"}}, "not_found"),
        ("a translation", {"name": "Enviar pedido", "under": "Pedido", "traits": spanish}, "e3"),
        ("a translated opposite", {"name": "Eliminar pedido", "under": "Pedido", "traits": spanish}, "not_found"),
        ("a translation of everything", {"name": "Tramitar", "under": "Pedido", "traits": spanish}, "e3"),
        ("another place", {"name": "Tramitar", "traits": spanish | {"order": "1 of 3"}}, "not_found"),
        ("a longer heading", {"under": "Your Order"}, "e3"),
        ("the heading of somebody else", {"under": "Order Grace"}, "changed"),
    ]
    for case, changes, expected in cases:
        match = match_target(SEND, [replace(SENDING, **changes)])
        assert (match.candidate.ref if match.candidate else match.reason) == expected, case
    healed = match_target(SEND, [replace(SENDING, name="Submit order")]).healed
    assert "its name was 'Send order' and is 'Submit order'" in healed[0]
    assert "its form" in healed[0]


def test_a_link_is_recognised_by_its_address_and_an_icon_by_its_row():
    basket = Target(
        role="link", name="Basket", under="", inside="nav", attributes={"href": "/basket"}, traits={"order": "3 of 3"}
    )
    link = ElementCandidate(
        "e1", "link", "Your things", inside="nav", attributes={"href": "/basket"}, traits={"order": "3 of 3"}
    )
    assert match_target(basket, [link]).candidate == link
    assert match_target(basket, [replace(link, name="Sign out")]).reason == "changed"
    assert match_target(basket, [replace(link, attributes={"href": "/out"})]).reason == "not_found"
    star = Target(
        role="button", name="", row="Ada", under="", inside="main", traits={"icon": "star", "order": "1 of 2"}
    )
    drawn = ElementCandidate("e2", "button", "", "Ada", inside="main", traits={"icon": "star", "order": "1 of 2"})
    assert match_target(star, [drawn, replace(drawn, ref="e3", row="Grace")]).candidate == drawn
    assert match_target(star, [replace(drawn, traits={"icon": "bin", "order": "2 of 2"})]).reason == "not_found"


def test_the_subject_of_a_press_is_identified_by_the_rest_of_its_row():
    row = Target(
        role="button", name="Delete", row="Bob", near="Bob · bob@x.example · Editor", under="", inside="main", equals=3
    )
    found = ElementCandidate("e1", "button", "Delete", "Bob", row.near, inside="main", equals=3)
    order = row.model_copy(update={"row": "1045", "near": "1045 · High"})
    month = row.model_copy(update={"row": "", "near": "November 2026", "equals": 1})
    column = row.model_copy(update={"traits": {"column": "To do"}})
    cases: list[tuple[str, Target, dict[str, Any], str]] = [
        ("a namesake", row, {"near": "Bob · b.miller@y.example · Editor"}, "changed"),
        ("another code", row.model_copy(update={"near": "Bob · GT-100"}), {"near": "Bob · GT-200"}, "changed"),
        ("another role of the same person", row, {"near": "Bob · bob@x.example · Owner"}, "e1"),
        ("columns in another order", row, {"row": "Editor", "near": "Editor · bob@x.example · Bob"}, "e1"),
        ("another row with the same role", row, {"row": "Editor", "near": "Editor · eve@x.example · Eve"}, "not_found"),
        ("an order whose state has changed", order, {"row": "1045", "near": "1045 · Low"}, "e1"),
        ("a calendar that shows another month", month, {"row": "", "near": "December 2026", "equals": 1}, "changed"),
        (
            "another day beside what tells it",
            month.model_copy(update={"near": "Rent · 3 November 2026"}),
            {"row": "", "near": "Rent · 4 December 2026", "equals": 1},
            "e1",
        ),
        (
            "another person, and no month",
            month.model_copy(update={"near": "Mark 2026"}),
            {"row": "", "near": "Jane 2026", "equals": 1},
            "changed",
        ),
        ("a card that has moved on", column, {"traits": {"column": "Doing"}}, "changed"),
        ("a card where it was", column, {"traits": {"column": "To do"}}, "e1"),
    ]
    for case, target, changes, expected in cases:
        match = match_target(target, [replace(found, **changes)])
        assert (match.candidate.ref if match.candidate else match.reason) == expected, (case, match.message)


def test_a_check_box_matches_only_if_its_label_means_the_same():
    accept = Target(
        role="checkbox",
        name="I accept the rules of the club",
        under="",
        inside="form",
        attributes={"name": "terms"},
        equals=1,
        traits={"form": "post /join", "sends": "terms", "order": "1 of 2", "language": "en"},
    )
    box = ElementCandidate("e1", "checkbox", "", inside="form", attributes={"name": "terms"}, traits=accept.traits)
    german = {**accept.traits, "language": "de"}
    cases: list[tuple[str, dict[str, Any], bool]] = [
        ("I accept that my data is sold", {}, False),
        ("I do not accept the rules of the club", {}, False),
        ("Something else", {}, False),
        ("I agree to the rules of the club", {}, True),
        ("Ich akzeptiere die Regeln", {"traits": german}, True),
        ("Ich lehne die Regeln nicht ab", {"traits": german}, False),
    ]
    for label, more, is_same in cases:
        match = match_target(accept, [replace(box, name=label, **more)], "check")
        assert (match.candidate is not None) is is_same, label


def test_usual_longer_names_of_the_same_action_are_recognised():
    for name, present in (("Save", "Save changes"), ("Save", "Änderungen speichern"), ("Send", "Send message")):
        target = SEND.model_copy(update={"name": name})
        assert match_target(target, [replace(SENDING, name=present)]).candidate is not None, present
    units = Target(role="textbox", name="Amount", attributes={"name": "sum"}, traits={"head": "Amount"}, equals=1)
    field = ElementCandidate("e1", "textbox", "Amount", attributes={"name": "sum"}, traits={"head": "Amount"})
    assert match_target(units, [field], "fill").candidate == field
    assert match_target(units, [replace(field, traits={"head": "Amount (1.234,56)"})], "fill").reason == "changed"


def test_a_message_in_another_language_counts_unless_it_reports_a_failure():
    before = PageMessages(("Willkommen",))
    said = PageMessages(("Willkommen", "Danke, Ihre Bestellung ist unterwegs."))
    assert find_translation(before, said) == "Danke, Ihre Bestellung ist unterwegs."
    assert find_translation(said, said) == ""
    assert find_translation(before, PageMessages(("Das Feld fehlt",))) == ""
    assert find_translation(before, replace(said, alerts=("Danke",))) == ""


def test_words_that_change_a_meaning_are_not_taken_for_a_rewording():
    presses = [
        ("Pin message", "Unpin message"),
        ("Answer in public", "Answer privately"),
        ("Start order", "Start monthly order"),
        ("Book room", "Book as package tour"),
    ]
    for recorded, present in presses:
        target = SEND.model_copy(update={"name": recorded})
        assert match_target(target, [replace(SENDING, name=present)]).candidate is None, present
    labels = [
        ("Weight", "Weight in pounds", False),
        ("Price", "Price per piece", False),
        ("Weight (kg)", "Weight (lb)", False),
        ("Year of birth", "Year of marriage", False),
        ("Number", "Dozens of 12", False),
        ("Weight", "Your weight", True),
        ("Street", "Road", True),
    ]
    for recorded, present, is_same in labels:
        target = FIELD.model_copy(update={"name": recorded})
        match = match_target(target, [replace(FILLED, name=present)], "fill")
        assert (match.candidate is not None) is is_same, present


def test_cells_named_by_position_match_only_with_the_same_header_and_unit():
    cell = Target(role="textbox", name="C2", row="2", near="2 · Rent · 5 kg", traits={"head": "May", "order": "1 of 4"})
    seen = ElementCandidate("e1", "textbox", "C2", "2", cell.near, traits=cell.traits)
    assert match_target(cell, [seen], "fill").candidate == seen
    for more in (
        {"traits": cell.traits | {"head": "April"}},
        {"near": "2 · Rent · 7 boxes"},
        {"near": "2 · Power · 5 kg"},
    ):
        assert match_target(cell, [replace(seen, **more)], "fill").reason == "changed", more
    unnamed = Target(role="textbox", near="7 · Weber, Ann", attributes={"name": "p_7"}, inside="form", equals=3)
    other = ElementCandidate("e2", "textbox", "", near="7 · Weber, Tom", inside="form", attributes={"name": "p_7"})
    assert match_target(unnamed, [other], "fill").candidate is None
    assert match_target(SAVE, [replace(SAVED, under="Profile (12)")]).candidate is not None
    assert (
        match_target(SAVE.model_copy(update={"under": "Room (2)"}), [replace(SAVED, under="Room (3)")]).candidate
        is None
    )


def test_a_press_with_other_options_selected_beside_it_does_not_match():
    order = SAVE.model_copy(update={"traits": {"choices": "currency=EUR; gift=false", "on": "false", "language": "en"}})
    for choices, is_other in (
        ("currency=EUR; gift=false", False),
        ("currency=USD; gift=false", True),
        ("currency=EUR; gift=true", True),
        ("currency=eur; news=false", False),
        ("currency=eur; news=true", True),
        ("", False),
        (";;=;= ; =", False),
    ):
        candidate = replace(SAVED, traits={"choices": choices, "language": "en"})
        assert bool(find_other_choice(order, candidate)) is is_other, choices
    assert find_other_choice(order, replace(SAVED, traits={"on": "true"}))
    assert not find_other_choice(order, replace(SAVED, traits={"on": "true", "language": "de"}))


def test_a_short_success_message_may_replace_the_expected_text():
    for said, counts in (
        ("Done. Thank you!", True),
        ("Done. Nothing was sent.", False),
        ("Thanks, but the card was declined", False),
        ("Thank you. Saved as draft", False),
        ("Done? Please confirm", False),
        ("Your order was cancelled. Thank you", False),
        ("Stock: 4", False),
        ("Thanks " + "very " * 3 + "much for reading our long and varied news of this week", False),
    ):
        assert bool(find_success(PageMessages(("Hello",)), PageMessages(("Hello", said)))) is counts, said
    assert not find_success(PageMessages(), PageMessages(("Done", "Other")))
    assert not find_success(PageMessages(), PageMessages(("Done",), ("Card refused",)))
