"""Declared ingredients, steps and answers are content wherever a page shows them."""

import json
from typing import Any

from outrider import extract

SOUP_STORY = "".join(
    f"<p>The dish came to us from the harbour, where cooks have made it since the {number}th summer of the market, "
    "and every family there has its own way of cutting the leeks and of keeping the broth clear.</p>"
    for number in range(20, 28)
)
SHELF = (
    "<aside class='sidebar widget shop-widget'><h4>Shop</h4>{}</aside><footer><a href=/a>About</a> "
    "<a href=/b>Contact</a> <a href=/c>Newsletter</a></footer>"
)
INGREDIENTS = ["2 leeks", "300 g waxy potatoes", "1 litre fish stock", "80 ml cream", "1 bunch dill"]


def build_page(declared: dict[str, Any], shown: str) -> str:
    script = json.dumps({"@context": "https://schema.org", **declared})
    menu = "<nav><a href=/1>Recipes</a> <a href=/2>Dill</a> <a href=/3>Leeks</a></nav>"
    return (
        f"<html><head><title>Harbour soup</title><script type='application/ld+json'>{script}</script></head>"
        f"<body>{menu}<article><h1>Harbour soup</h1>{SOUP_STORY}</article>{SHELF.format(shown)}</body></html>"
    )


def write_cards(texts: list[str]) -> str:
    parts = (text.partition(" ") for text in texts)
    return "".join(
        f"<div class='product-card'><b>{amount}</b><div><a href='/shop/{name}'>{name}</a></div></div>"
        for amount, _, name in parts
    )


def test_declared_ingredients_are_kept_with_their_amounts():
    page = build_page(
        {"@type": "Recipe", "name": "Harbour soup", "recipeIngredient": INGREDIENTS}, write_cards(INGREDIENTS)
    )
    text = " ".join(extract(page).text.split())
    assert [each for each in INGREDIENTS if each not in text] == []
    assert "Newsletter" not in text


def test_the_same_cards_are_left_out_without_the_declaration():
    text = extract(build_page({"@type": "Article", "headline": "Harbour soup"}, write_cards(INGREDIENTS))).text
    assert "waxy potatoes" not in text


def test_parts_are_recognised_with_other_units():
    shown = [each.replace("300 g", "10.5 oz").replace("80 ml", "3 fl oz") for each in INGREDIENTS]
    page = build_page({"@type": "Recipe", "recipeIngredient": INGREDIENTS}, write_cards(shown))
    assert "10.5 oz waxy potatoes" in " ".join(extract(page).text.split())


def test_declared_steps_within_sections_are_kept():
    steps = ["Wash the leeks and cut them into rings.", "Simmer the potatoes in the stock.", "Stir in cream and dill."]
    sections = [{"@type": "HowToSection", "itemListElement": [{"@type": "HowToStep", "text": step} for step in steps]}]
    page = build_page(
        {"@type": "Recipe", "recipeInstructions": sections},
        "".join(f"<div><a href=/s>{step}</a></div>" for step in steps),
    )
    text = extract(page).text
    assert [step for step in steps if step not in text] == []


def test_words_of_a_menu_are_not_taken_for_declared_parts():
    page = build_page({"@type": "Recipe", "recipeIngredient": INGREDIENTS}, "<a href=/d>Dill</a> <a href=/l>Leeks</a>")
    assert "Recipes" not in extract(page).text


def test_declared_questions_are_kept_with_their_answers():
    known = {"May it be frozen?": "Without cream, yes.", "Which fish suits it?": "Any white one from cold water."}
    entries = [
        {"@type": "Question", "name": question, "acceptedAnswer": {"@type": "Answer", "text": f"<p>{answer}</p>"}}
        for question, answer in known.items()
    ]
    shown = "".join(f"<div><a href=/q>{question}</a></div><div>{answer}</div>" for question, answer in known.items())
    text = extract(build_page({"@type": "FAQPage", "mainEntity": entries}, shown)).text
    assert [part for pair in known.items() for part in pair if part not in text] == []
