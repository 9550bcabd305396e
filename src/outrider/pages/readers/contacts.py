"""Contact cards (vCard 2.1 to 4.0, RFC 6350): people and how to reach them."""

from outrider.pages.document import Document, line_of
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.content_lines import Component, Property, components
from outrider.pages.readers.parts.refusals import broken
from outrider.pages.readers.parts.writing import Draft

CARDS = 5_000
FACTS = (
    ("org", "organisation"), ("title", "position"), ("role", "role"), ("tel", "telephone"), ("email", "e-mail"),
    ("adr", "address"), ("url", "link"), ("bday", "birthday"), ("nickname", "nickname"), ("impp", "chat"),
)  # fmt: skip
KINDS = frozenset({"home", "work", "cell", "mobile", "fax", "pager", "main", "other"})


def read(source: Source) -> Document:
    """Each card below its name; at most 5,000 of them. Pictures and keys are left out.

    Raises:
        Unavailable: code `broken_file`, if it holds no card.
    """
    cards = components(source.text, "VCARD")
    if not cards:
        raise broken(source, "contact card", "it does not begin as one")
    draft = Draft(source, "contacts")
    for card in cards[:CARDS]:
        if draft.full:
            draft.cut = True
            break
        _write(draft, card)
    if len(cards) > CARDS:
        draft.add(f"(… {len(cards) - CARDS} more cards were not read)")
    draft.cut = draft.cut or source.cut
    return draft.document({"title": _name(cards[0]) if len(cards) == 1 else ""}, metadata={"cards": len(cards)})


def _write(draft: Draft, card: Component) -> None:
    draft.heading(2, _name(card))
    for name, word in FACTS:
        for given in card.each(name):
            draft.item(0, f"{word}{_kind(given)}: {', '.join(map(line_of, given.fields))}" if given.fields else "")
    draft.add(card.get("note").text)


def _name(card: Component) -> str:
    parts = card.get("n").fields
    return line_of(card.get("fn").text) or line_of(" ".join(reversed(parts[:2]))) or "(no name)"


def _kind(given: Property) -> str:
    """What a number or an address is for, in brackets; version 2.1 writes it without the name of a parameter."""
    told = given.parameters.get("type", "").lower().split(",")
    known = [each for each in told if each in KINDS]
    return f" ({', '.join(known)})" if known else ""


TYPES = ("text/vcard", "text/x-vcard", "text/directory")
reader = Reader("contacts", TYPES, read, suffixes=(".vcf", ".vcard"))
