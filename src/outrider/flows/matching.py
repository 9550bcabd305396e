"""Decide which element of a page is the one that a flow means, or that none is certain enough.

Evidence is of four independent kinds: role and name; attributes; the row or text around it; heading and landmark. Role
and name must fit. Beyond them one more kind must fit, and none may speak for another element. Everything else stops.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from outrider.flows.flow import Target

MatchReason = Literal["found", "not_found", "ambiguous", "changed"]
FIELD_KINDS = ("fill", "select", "upload")
# Attributes that name one thing; the others only describe it.
STRONG_ATTRIBUTES = ("id", "name", "data-testid", "data-test", "data-test-id", "data-cy", "data-qa", "href")


@dataclass(frozen=True)
class ElementCandidate:
    """An element of the page that may be meant.

    Attributes:
        ref: Its reference.
        title: How messages name it.
        address: The address that a press on it leads to; empty if the markup names none.
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

    @classmethod
    def from_evidence(cls, evidence: Mapping[str, Any]) -> "ElementCandidate":
        """Build it from the evidence that the page's script gives."""
        names = ("ref", "role", "name", "row", "near", "under", "inside", "path", "attributes", "equals", "title")
        given = {name: evidence[name] for name in names if name in evidence}
        return cls(**given, address=str(evidence.get("target") or ""))


@dataclass(frozen=True)
class Match:
    """The decision.

    Attributes:
        reason: `found`, or why none is certain.
        candidate: The element, if found.
        message: What is wrong, for people and models.
        healed: What differed and did not matter.
    """

    reason: MatchReason
    candidate: ElementCandidate | None = None
    message: str = ""
    healed: tuple[str, ...] = ()


def match_target(target: Target, candidates: Sequence[ElementCandidate], kind: str = "click") -> Match:
    """Decide which candidate is meant.

    Args:
        target: What the flow knows.
        candidates: The page's elements of the same purpose and name, or with one of its attributes.
        kind: What is done to it; a field may be recognised by what its form sends instead of its label.
    """
    named = [each for each in candidates if _fits_role_and_name(target, each)]
    fitting = [each for each in named if _find_contradiction(target, each) is None]
    if len(fitting) == 1:
        return _accept(target, fitting[0], is_only=len(named) == 1)
    if fitting:
        return _choose_among(target, fitting)
    if target.row and not any(_plain(each.row) == _plain(target.row) for each in named):
        named = []  # those in other rows are other elements
    if named:
        return Match("changed", message=f"{named[0].title}: {_find_contradiction(target, named[0])}")
    return _match_renamed(target, candidates, kind)


def _match_renamed(target: Target, candidates: Sequence[ElementCandidate], kind: str) -> Match:
    """Decide where nothing has the role, name and row."""
    if kind in FIELD_KINDS and (field_match := _match_form_field(target, candidates)):
        return field_match
    same = [each for each in candidates if _has_steady_attribute(target, each)]
    if len(same) == 1:
        return Match("changed", message=f"{target} is now {same[0].role} {same[0].name!r} ({same[0].title})")
    return Match("not_found", message=f"{target} is not on the page")


def _fits_role_and_name(target: Target, candidate: ElementCandidate) -> bool:
    if target.name and normalize_name(candidate.name) != normalize_name(target.name):
        return False
    if not target.name and (candidate.name or not _count_strong(target, candidate)):
        return False
    # A link that became a button is only the same if its attributes say so as well.
    return not target.role or candidate.role == target.role or _count_strong(target, candidate) > 0


def _find_contradiction(target: Target, candidate: ElementCandidate) -> str | None:
    """Return what speaks against a candidate of the right role and name; None if nothing does."""
    if target.row and _plain(candidate.row) != _plain(target.row):
        return f"it is in the row {candidate.row!r}, not {target.row!r}" if candidate.row else "its row is gone"
    is_same_attribute = _count_strong(target, candidate) > 0
    if target.near and not _has_telling_row(target):
        # Figures may change beside an element that its attributes tell apart: prices, counts, dates.
        texts = [_plain(text) for text in (target.near, candidate.near)]
        texts = [re.sub(r"\d+", "#", text) for text in texts] if is_same_attribute else texts
        if texts[0] != texts[1]:
            return f"beside it is {candidate.near!r}, not {target.near!r}"
    is_row_same = is_same_attribute and _has_telling_row(target)
    if _differs(target.under, candidate.under) and not (is_row_same or _has_moved(target, candidate)):
        return f"it is under {candidate.under!r}, not {target.under!r}"
    if _differs(target.inside, candidate.inside) and not is_same_attribute:
        return f"it is in {candidate.inside or 'no landmark'}, not {target.inside or 'in none'}"
    return None


def _has_telling_row(target: Target) -> bool:
    """Return whether its row has a name of its own, and not only a number, which belongs to the place."""
    return len(re.findall(r"[^\W\d_]", target.row)) > 1


def _differs(recorded: str | None, present: str) -> bool:
    return recorded is not None and _plain(recorded) != _plain(present)


def _has_moved(target: Target, candidate: ElementCandidate) -> bool:
    """Return whether an element under another heading is the same in another place.

    Its attributes must say so, it must be the only one of its name then and now, and it must be in another landmark:
    in the same place another heading means that the place shows something else.
    """
    is_only = target.equals == candidate.equals == 1
    return is_only and _has_steady_attribute(target, candidate) and _differs(target.inside, candidate.inside)


def _has_steady_attribute(target: Target, candidate: ElementCandidate) -> bool:
    """Return whether a telling attribute without a number agrees: numbers are often positions."""
    return any(not re.search(r"\d", target.attributes[name]) for name in _list_same_strong(target, candidate))


def _accept(target: Target, candidate: ElementCandidate, *, is_only: bool) -> Match:
    """Accept the one candidate without a contradiction, if one more kind of evidence speaks for it."""
    strong = _count_strong(target, candidate)
    context = bool(target.row or target.near)
    place = target.under is not None or target.inside is not None
    is_handwritten = not (target.attributes or context or place or target.path)
    is_told_apart = strong > 0 or context or (is_only and target.equals < 2) or bool(target.under and not is_only)
    if not is_told_apart:
        return Match("ambiguous", message=f"several elements are {target}, and too little tells them apart")
    if strong or context or place or is_handwritten:
        return Match("found", candidate, healed=_list_differences(target, candidate))
    return Match("changed", message=f"{candidate.title} has the name of {target}, but nothing else agrees")


def _choose_among(target: Target, fitting: Sequence[ElementCandidate]) -> Match:
    """Choose among several candidates that nothing speaks against: only one that its attributes single out."""
    same_text = [each for each in fitting if target.near and _plain(each.near) == _plain(target.near)]
    singled = [each for each in fitting if _has_steady_attribute(target, each)]
    # Links of one name to one address are one: at the top and the bottom of a list, say.
    if len({each.address for each in fitting}) == 1 and fitting[0].address and fitting[0].role == "link":
        return Match("found", fitting[0])
    has_context = bool(target.row or target.near) or target.equals == len(fitting)
    if len(same_text) == 1 and (not singled or singled == same_text):
        return Match("found", same_text[0], healed=_list_differences(target, same_text[0]))
    if len(singled) == 1 and has_context and not same_text:
        return Match("found", singled[0], healed=_list_differences(target, singled[0]))
    titles = ", ".join(each.title for each in fitting[:5])
    return Match("ambiguous", message=f"{len(fitting)} elements are {target}: {titles}")


def _match_form_field(target: Target, candidates: Sequence[ElementCandidate]) -> Match | None:
    """Recognise a field whose label has changed by what its form sends: the same name, type and place."""
    keys = ("name", "type", "autocomplete", "value")
    wanted = {key: target.attributes[key] for key in keys if key in target.attributes}
    if "name" not in wanted:
        return None
    same = [
        each
        for each in candidates
        if each.role == target.role
        and {key: each.attributes[key] for key in keys if key in each.attributes} == wanted
        and not _differs(target.inside, each.inside)
        and (not target.row or _plain(each.row) == _plain(target.row))
    ]
    if len(same) != 1:
        return None
    note = f"its name was {target.name!r} and is {same[0].name!r}; its form sends it as {wanted['name']!r} as before"
    return Match("found", same[0], healed=(note, *_list_differences(target, same[0])))


def _list_same_strong(target: Target, candidate: ElementCandidate) -> list[str]:
    """List the telling attributes that agree."""
    wanted = target.attributes
    return [name for name in STRONG_ATTRIBUTES if name in wanted and candidate.attributes.get(name) == wanted[name]]


def _count_strong(target: Target, candidate: ElementCandidate) -> int:
    return len(_list_same_strong(target, candidate))


def _list_differences(target: Target, candidate: ElementCandidate) -> tuple[str, ...]:
    """List what is not as it was, of a candidate that was accepted."""
    notes = []
    if target.role and candidate.role != target.role:
        notes.append(f"its role was {target.role} and is {candidate.role}")
    recorded, present = target.attributes, candidate.attributes
    notes += [
        f"its {name} was {recorded[name]!r} and is {present.get(name, '')!r}"
        for name in STRONG_ATTRIBUTES
        if name in recorded and present.get(name) != recorded[name]
    ]
    if _differs(target.under, candidate.under):
        notes.append(f"it was under {target.under!r} and is under {candidate.under!r}")
    if _differs(target.inside, candidate.inside):
        notes.append(f"it was in {target.inside!r} and is in {candidate.inside!r}")
    return tuple(notes)


def normalize_name(name: str) -> str:
    """Return a name without case, spare white space, final punctuation, and a count in brackets at its end."""
    return re.sub(r"\s*[(\[]\d+[)\]]$", "", _plain(name)).rstrip(" :*…")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
