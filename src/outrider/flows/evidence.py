"""Compare an element's recorded evidence with a candidate's, kind by kind."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from outrider.flows.flow import Target
from outrider.flows.name_words import (
    POLITE_WORDS,
    compare_names,
    find_meaning,
    is_other_price,
    list_meanings,
    list_units,
    split_words,
)

# Attributes that identify an element; the others only describe it.
STRONG_ATTRIBUTES = (
    "id",
    "name",
    "data-testid",
    "data-test",
    "data-test-id",
    "data-cy",
    "data-qa",
    "data-action",
    "href",
)
# Kinds of evidence that are independent of its name and of one another, as messages name them.
KIND_TITLES = {
    "attributes": "its attributes",
    "form": "its form",
    "order": "its place among the controls",
    "text": "the text next to it",
    "heading": "its heading",
    "icon": "its icon",
}
PIECE_MARK = " · "  # between the texts of different elements


@dataclass(frozen=True)
class ElementCandidate:
    """An element of the page that may be the target.

    Attributes:
        ref: Its reference.
        title: How messages name it.
        address: The address that a press on it opens; empty if the markup names none.
        traits: See `Target.traits`.
        disabled: Whether it cannot be used now; a page that is still loading may enable it.
        frame_url: The address of its frame's document; empty for the page's own.
    """

    ref: str
    role: str = ""
    name: str = ""
    row: str = ""
    near: str = ""
    under: str = ""
    inside: str = ""
    path: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    equals: int = 1
    title: str = ""
    address: str = ""
    traits: Mapping[str, str] = field(default_factory=dict)
    disabled: bool = False
    frame_url: str = ""

    @classmethod
    def from_evidence(cls, evidence: Mapping[str, Any]) -> "ElementCandidate":
        """Build it from the evidence that the page's script gives."""
        names = ("ref", "role", "name", "row", "near", "under", "inside", "path", "attributes", "equals", "title")
        given = {name: evidence[name] for name in (*names, "traits", "disabled") if name in evidence}
        return cls(**given, address=str(evidence.get("target") or ""))


def list_agreeing_kinds(target: Target, candidate: ElementCandidate) -> set[str]:
    """Return the kinds of evidence, apart from role and name, that agree with a candidate."""
    kinds = {
        "attributes": has_steady_attribute(target, candidate),
        "form": _is_same_form(target, candidate),
        "order": _is_same_order(target, candidate),
        "text": _is_same_text(target, candidate),
        "heading": bool(target.under) and not _has_other_heading(target, candidate),
        "icon": _is_same_trait("icon", target, candidate),
    }
    return {kind for kind, agrees in kinds.items() if agrees}


def find_contradiction(target: Target, candidate: ElementCandidate) -> str | None:
    """Return the evidence against a candidate, as a sentence; None if there is none."""
    is_reordered = _has_same_pieces(target, candidate) and _simplify(target.row) in _split_pieces(candidate.near)
    is_translated = has_other_language(target, candidate)
    # A field whose only label is the text of its row has a translated row as well.
    is_same_field = is_translated and _is_same_form(target, candidate) and has_steady_attribute(target, candidate)
    if target.row and differs(target.row, candidate.row) and not (is_reordered or is_same_field):
        if not candidate.row:
            return "its row no longer exists"
        return f"it is in the row {candidate.row!r}, not {target.row!r}"
    # In another language, its heading and the texts next to it are not evidence.
    if other := _find_other_subject(target, candidate):
        return other
    if not is_translated and _has_other_heading(target, candidate) and not _may_change_heading(target, candidate):
        return f"it is under {candidate.under!r}, not {target.under!r}"
    is_same_use = _is_same_form(target, candidate) or _is_same_trait("icon", target, candidate)
    may_move = bool(list_same_attributes(target, candidate)) or (is_same_use and _is_only(target, candidate))
    if differs(target.inside, candidate.inside) and not may_move:
        return f"it is in {candidate.inside or 'no landmark'}, not {target.inside or 'in none'}"
    return None


def _find_other_subject(target: Target, candidate: ElementCandidate) -> str:
    """Return what shows that a candidate belongs to something else, or ""."""
    if identifier := _find_lost_identifier(target.near, candidate.near):
        return f"the text next to it is {candidate.near!r}, not {identifier!r}"
    prices = target.traits.get("price", ""), candidate.traits.get("price", "")
    is_bought = bool(list_meanings(split_words(target.name)) & {"buy", "basket"})
    if all(prices) and is_other_price(*prices, is_bought=is_bought):
        return f"the price next to it is {prices[1]!r}, not {prices[0]!r}"
    if has_other_language(target, candidate):
        return ""
    return find_other_column(target, candidate) or find_other_text(target, candidate)


def find_other_column(target: Target, candidate: ElementCandidate) -> str:
    """Return the other column or month of a candidate, as a sentence, or ""."""
    columns = target.traits.get("column", ""), candidate.traits.get("column", "")
    if all(columns) and differs(*columns) and not has_steady_attribute(target, candidate):
        return f"it is in {columns[1]!r}, not {columns[0]!r}"
    captions = target.traits.get("caption", ""), candidate.traits.get("caption", "")
    if all(captions) and differs(*captions):
        return f"it is in {captions[1]!r}, not {captions[0]!r}"
    heads = target.traits.get("head", ""), candidate.traits.get("head", "")
    likeness = compare_names(*heads, is_field=True) if all(heads) else "same"
    if likeness == "opposed" or (likeness == "other" and not has_steady_attribute(target, candidate)):
        return f"its column is {heads[1]!r}, not {heads[0]!r}"
    return ""


def find_other_text(target: Target, candidate: ElementCandidate) -> str:
    """Describe in a sentence how the text next to a candidate differs, or return ""."""
    units, present_units = list_units(target.near), list_units(candidate.near)
    if units and present_units and not units & present_units:
        present_names, names = ", ".join(sorted(present_units)), ", ".join(sorted(units))
        return f"the text next to it is {candidate.near!r}, in {present_names}, not {names}"
    has_near = remove_dates(target.near) != ""
    if has_near and not has_telling_row(target) and not _is_same_text(target, candidate):
        return f"the text next to it is {candidate.near!r}, not {target.near!r}"
    titles, present_titles = list_row_titles(target), list_row_titles(candidate)
    if titles and present_titles and not titles & present_titles:
        return f"the text next to it is {candidate.near!r}, not {target.near!r}"
    return ""


def has_other_language(target: Target, candidate: ElementCandidate) -> bool:
    """Return whether the page declares another language than when it was recorded."""
    languages = target.traits.get("language", ""), candidate.traits.get("language", "")
    return all(languages) and languages[0] != languages[1]


def has_telling_row(target: Target | ElementCandidate) -> bool:
    """Return whether its row has a unique name; a short number only gives the row's position."""
    if target.traits.get("twins"):
        return False
    min_digits = 4
    return len(re.findall(r"[^\W\d_]", target.row)) > 1 or bool(re.search(rf"\d{{{min_digits},}}", target.row))


def list_row_titles(element: Target | ElementCandidate) -> set[str]:
    """Return the longer texts of a row besides its name, such as a mail's subject."""
    if not has_telling_row(element):
        return set()
    pieces = {re.sub(r"\d+", "#", _simplify(each)) for each in remove_dates(element.near).split(PIECE_MARK)}
    min_letters = 8
    return {
        each
        for each in pieces - {re.sub(r"\d+", "#", _simplify(element.row))}
        if len(each.split()) > 1 and len(re.findall(r"[^\W\d_]", each)) >= min_letters
    }


def remove_dates(near: str) -> str:
    """Return the texts next to an element, without dates, which change.

    A date on its own, as in calendars, stays.
    """
    return PIECE_MARK.join(each for each in near.split(PIECE_MARK) if not _is_day(each)) or near


def _is_day(text: str) -> bool:
    months = split_words(
        "january february march april may june july august september october november december januar februar märz mai "
        "juni juli oktober dezember janvier février mars avril juin juillet août septembre octobre novembre décembre "
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre gennaio febbraio "
        "aprile maggio giugno luglio settembre ottobre dicembre janeiro fevereiro março maio junho julho setembro "
        "outubro novembro dezembro januari februari maart mei augustus"
    )
    min_letters = 3  # of an abbreviation
    words = re.findall(r"[^\W\d_]+", text.casefold())
    known = [word for word in words if len(word) >= min_letters and any(month.startswith(word) for month in months)]
    if known:
        has_day = re.search(r"(?<!\d)\d{1,2}(?!\d)", text)
        return has_day is not None and all(word in known or word in ("de", "of", "th", "st") for word in words)
    near_days = ("today", "yesterday", "heute", "gestern", "aujourd'hui", "hier", "hoy", "ayer", "oggi", "ieri", "hoje")
    is_date = re.fullmatch(r"\d{1,4}([./-])\d{1,2}\1(\d{1,4})?", text.strip())
    return bool(is_date or re.fullmatch(r"\d{1,2}:\d{2}", text.strip())) or text.strip().casefold() in near_days


def has_steady_attribute(target: Target, candidate: ElementCandidate) -> bool:
    """Return whether an identifying attribute without digits agrees; digits are often positions."""
    return any(not re.search(r"\d", target.attributes[name]) for name in list_same_attributes(target, candidate))


def list_same_attributes(target: Target, candidate: ElementCandidate) -> list[str]:
    """List the identifying attributes that agree."""
    wanted = target.attributes
    return [name for name in STRONG_ATTRIBUTES if name in wanted and candidate.attributes.get(name) == wanted[name]]


def differs(recorded: str | None, present: str) -> bool:
    """Return whether a text was recorded and has changed."""
    return recorded is not None and _simplify(recorded) != _simplify(present)


def _has_other_heading(target: Target, candidate: ElementCandidate) -> bool:
    """Return whether the heading above has changed; a count in brackets that only one of them has is ignored."""
    count = re.compile(r"\s*\((\d+)\)$")
    recorded, present = target.under, candidate.under
    if recorded and bool(count.search(recorded)) != bool(count.search(present)):
        plain = count.sub("", present)
        if not differs(count.sub("", recorded), plain):
            return False
    return differs(recorded and count.sub(r" \1", recorded), count.sub(r" \1", present))


def find_other_choice(
    target: Target, candidate: ElementCandidate, chosen: Collection[str] = (), settable: Collection[str] = ()
) -> str:
    """Return which other effect a press would have: a changed choice in its form, a new cost, or a reversed switch.

    Args:
        target: The recorded button.
        candidate: The current button.
        chosen: The keys of fields that this run has set itself.
        settable: The keys of fields that any step of the flow sets, perhaps in an earlier run of the same page.
    """
    if has_other_language(target, candidate):
        return ""
    if "on" in target.traits and candidate.traits.get("on", target.traits["on"]) != target.traits["on"]:
        return f"it was {target.traits['on']} and is {candidate.traits['on']} now, so pressing it would do the opposite"
    recorded, present = (
        dict(pair.split("=", 1) for pair in each.traits.get("choices", "").split("; ") if "=" in pair)
        for each in (target, candidate)
    )
    for key in (recorded.keys() & present.keys()) - set(chosen):
        likeness = compare_names(recorded[key], present[key], is_field=True)
        if likeness not in ("same", "akin"):
            return f"{key!r} was {recorded[key]!r} and is {present[key]!r} now, and the flow does not set it"
    return _find_addition(
        target, candidate, recorded, {key: present[key] for key in present.keys() - set(chosen) - set(settable)}
    )


def _find_addition(
    target: Target, candidate: ElementCandidate, recorded: Mapping[str, str], present: Mapping[str, str]
) -> str:
    """Return the price or ticked box that is new in the form; a renamed box is not new."""
    if not target.traits:
        return ""  # written by hand, so the earlier state is unknown
    if "costs" in candidate.traits and "costs" not in target.traits:
        return f"there is a price next to it now, {candidate.traits['costs']!r}"
    lost = [key for key in recorded.keys() - present.keys() if recorded[key] == "true"]
    added = sorted(key for key in present if key not in recorded and present[key] == "true")
    return f"{added[0]!r} is new and ticked, and the flow does not set it" if len(added) > len(lost) else ""


def name_choice(attributes: Mapping[str, str], name: str) -> str:
    """Return the key of a field in the `choices` of a button next to it: see `scripts/evidence.js`."""
    return (attributes.get("name") or attributes.get("id") or name)[:60]


def _may_change_heading(target: Target, candidate: ElementCandidate) -> bool:
    """Return whether an element can be the same under another heading.

    Another heading usually means that the place now shows something else, unless the row identifies the subject.
    """
    is_same_attribute = bool(list_same_attributes(target, candidate))
    if is_same_attribute and has_telling_row(target):
        return True
    is_steady = has_steady_attribute(target, candidate)
    is_only = _is_only(target, candidate)
    if is_steady and is_only and (differs(target.inside, candidate.inside) or not candidate.under):
        return True  # the same element, moved
    is_placed = _is_same_order(target, candidate) or _is_same_form(target, candidate)
    is_same = _is_same_text(target, candidate) or (is_placed and (is_steady or is_only))
    return is_same and _is_reworded_heading(target.under or "", candidate.under)


def _is_reworded_heading(recorded: str, present: str) -> bool:
    """Return whether a heading only has more words; an added word that looks like a name means another subject."""
    meanings = [
        {find_meaning(word) or word for word in split_words(each) - POLITE_WORDS} for each in (recorded, present)
    ]
    if meanings[0] == meanings[1] != set():
        return True
    words, new_words = recorded.split(), present.split()
    if not words or not {each.casefold() for each in words} <= {each.casefold() for each in new_words}:
        return False
    known = {each.casefold() for each in words}
    usual = {"our", "your", "my", "the", "new", "edit", "manage", "general", "all"}
    added = [(index, each) for index, each in enumerate(new_words) if each.casefold() not in known]
    return all(each.casefold() in usual or (index > 0 and each.isalpha() and each.islower()) for index, each in added)


def _is_only(target: Target, candidate: ElementCandidate) -> bool:
    """Return whether it was and is the only element with its role and name."""
    return target.equals == candidate.equals == 1


def _is_same_text(target: Target, candidate: ElementCandidate) -> bool:
    """Compare the row, or the text next to the element.

    Numbers such as prices may change if the element's attributes still identify it.
    """
    if has_telling_row(target) and not differs(target.row, candidate.row):
        return True
    if remove_dates(target.near) and _has_same_pieces(target, candidate):
        return True
    if has_telling_row(target) or not remove_dates(target.near):
        return False
    is_same_attribute = bool(list_same_attributes(target, candidate))
    near, present_near = (re.sub(r"\d+", "#", text) for text in (target.near, candidate.near))
    if is_same_attribute and not differs(near, present_near):
        return True
    if not (is_same_attribute or _is_same_order(target, candidate)):
        return False
    pieces = target.near.split(PIECE_MARK)
    present = {_simplify(each) for each in candidate.near.split(PIECE_MARK)}
    worded = ([each for each in pieces if not re.search(pattern, each)] for pattern in (r"\d", r"^[\W\d_]*$"))
    return any(
        any(re.search(r"[^\W\d_]{2}", each) for each in kept) and {_simplify(each) for each in kept} <= present
        for kept in worded
    )


def _is_same_form(target: Target, candidate: ElementCandidate) -> bool:
    return all(_is_same_trait(name, target, candidate) for name in ("form", "sends"))


def _is_same_order(target: Target, candidate: ElementCandidate) -> bool:
    """Compare its place among the controls around it: its number, and the names of its neighbours."""
    if not target.traits.get("order"):
        return False
    beside = [
        compare_names(target.traits[name], candidate.traits.get(name, ""), is_field=True) in ("same", "akin")
        for name in ("after", "before")
        if target.traits.get(name)
    ]
    if _is_same_trait("order", target, candidate):
        return has_other_language(target, candidate) or any(beside) or not beside
    return len(beside) == 2 and all(beside)


def _is_same_trait(name: str, target: Target, candidate: ElementCandidate) -> bool:
    return bool(target.traits.get(name)) and target.traits[name] == candidate.traits.get(name)


def _split_pieces(near: str) -> list[str]:
    return sorted(_simplify(each) for each in remove_dates(near).split(PIECE_MARK))


def _has_same_pieces(target: Target, candidate: ElementCandidate) -> bool:
    """Return whether both have the same texts next to them.

    The columns may be in another order.
    """
    return _split_pieces(target.near) == _split_pieces(candidate.near)


def _find_lost_identifier(recorded: str, present: str) -> str:
    """Return an email address or code (GT-100) that another one has replaced."""
    texts = [[word.strip(".,;:()<>[]") for word in text.casefold().split()] for text in (recorded, present)]
    for kind in (r"[^\s@]+@[^\s@]+", r"#\d{2,}|[^\W\d_]{1,5}[-_]\d{2,}[\w-]*"):
        before, after = ([word for word in words if re.fullmatch(kind, word)] for words in texts)
        if before and after and not set(before) & set(after):
            return before[0]
    return ""


def _simplify(text: str) -> str:
    return " ".join(text.replace(PIECE_MARK, " ").casefold().split())
