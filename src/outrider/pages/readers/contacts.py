"""Read contact cards (vCard 2.1 to 4.0, RFC 6350)."""

from itertools import islice

from outrider.pages.document import Document, to_single_line
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.parsing.content_lines import Component, iter_components
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error


def read_contacts(source: ReaderInput) -> Document:
    """Return each card below its name; at most 5,000 of them. Pictures and keys are left out.

    Raises:
        Unavailable: code `broken_file`, if the file holds no card.
    """
    max_cards = 5_000
    found = (card for card, around in iter_components(source.text) if card is around and card.name == "VCARD")
    cards = list(islice(found, max_cards))
    total = len(cards) + sum(1 for _ in found)
    if not cards:
        raise build_broken_error(source, "contact card", "it does not start with BEGIN:VCARD")
    draft = DocumentDraft(source, "contacts")
    for card in cards:
        if draft.is_full:
            draft.is_cut = True
            break
        _write_card(draft, card)
    if total > max_cards:
        draft.add_block(f"(… {total - max_cards} more cards were not read)")
    draft.is_cut = draft.is_cut or source.is_cut
    return draft.build_document({"title": _format_name(cards[0]) if len(cards) == 1 else ""}, metadata={"cards": total})


def _write_card(draft: DocumentDraft, card: Component) -> None:
    fact_names = (
        ("org", "organisation"), ("title", "position"), ("role", "role"), ("tel", "telephone"), ("email", "e-mail"),
        ("adr", "address"), ("url", "link"), ("bday", "birthday"), ("nickname", "nickname"), ("impp", "chat"),
    )  # fmt: skip
    contact_kinds = frozenset({"home", "work", "cell", "mobile", "fax", "pager", "main", "other"})
    draft.add_heading(2, _format_name(card))
    for name, word in fact_names:
        for entry in card.get_all(name):
            if not entry.fields:
                continue
            types = entry.parameters.get("type", "").lower().split(",")  # for a number or an address
            kinds = ", ".join(kind for kind in types if kind in contact_kinds)
            label = f"{word} ({kinds})" if kinds else word
            draft.add_item(0, f"{label}: {', '.join(map(to_single_line, entry.fields))}")
    draft.add_block(card.get_first("note").text)


def _format_name(card: Component) -> str:
    parts = card.get_first("n").fields
    return to_single_line(card.get_first("fn").text) or to_single_line(" ".join(reversed(parts[:2]))) or "(no name)"


reader = DocumentReader(
    "contacts", ("text/vcard", "text/x-vcard", "text/directory"), read_contacts, suffixes=(".vcf", ".vcard")
)
