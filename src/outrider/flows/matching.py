"""Find the page element that a flow means, or refuse to guess.

Role and name must match, one further kind of evidence must agree, and none may point to another element. An element
with another name is only recognized if its words or its meaning agree, and two further kinds of evidence do. In all
other cases the flow stops.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from outrider.flows.evidence import (
    KIND_TITLES,
    STRONG_ATTRIBUTES,
    ElementCandidate,
    differs,
    find_contradiction,
    has_other_language,
    has_steady_attribute,
    list_agreeing_kinds,
    list_same_attributes,
)
from outrider.flows.flow import Target
from outrider.flows.name_words import (
    NameLikeness,
    asks_for_other_value,
    compare_names,
    list_meanings,
    normalize_name,
    split_words,
)

MatchReason = Literal["found", "not_found", "ambiguous", "changed"]
FIELD_KINDS = ("fill", "select", "upload", "check", "uncheck")
TEXT_ROLES = ("textbox", "searchbox", "combobox")
TOGGLE_ROLES = ("checkbox", "switch", "radio")


@dataclass(frozen=True)
class Match:
    """The decision.

    Attributes:
        reason: `found`, or why no element is certain.
        candidate: The element, if found.
        message: The problem, for people and models.
        healed: Differences that did not matter.
    """

    reason: MatchReason
    candidate: ElementCandidate | None = None
    message: str = ""
    healed: tuple[str, ...] = ()


def match_target(target: Target, candidates: Sequence[ElementCandidate], kind: str = "click") -> Match:
    """Choose the candidate that the target means.

    Args:
        target: The recorded element.
        candidates: The page's elements of the same purpose and name, or with one of its attributes; if there are none,
            all of the same purpose.
        kind: The kind of step; a field may be recognized by what its form sends instead of its label.
    """
    named = [each for each in candidates if _fits_role_and_name(target, each)]
    fitting = [each for each in named if find_contradiction(target, each) is None]
    if len(fitting) == 1:
        return _accept(target, fitting[0], is_only=len(named) == 1)
    if fitting:
        return _choose_among(target, fitting)
    # Elements in other rows are different ones, and so are namesakes that existed when it was recorded.
    is_elsewhere = target.row and all(differs(target.row, each.row) for each in named)
    if not named or is_elsewhere or len(named) < target.equals:
        renamed = _match_renamed(target, candidates, kind)
        if renamed.reason != "not_found" or not named or is_elsewhere:
            return renamed
    return Match("changed", message=f"{named[0].title}: {find_contradiction(target, named[0])}")


def _match_renamed(target: Target, candidates: Sequence[ElementCandidate], kind: str) -> Match:
    """Decide when no element has the role, name and row."""
    is_sent = kind in FIELD_KINDS or (kind == "press" and target.role in TEXT_ROLES)
    is_field = is_sent and target.role not in TOGGLE_ROLES  # a check box's label says what a person consents to
    if is_sent and (match := _match_form_field(target, candidates)):
        return match
    if match := _match_link(target, candidates):
        return match
    proven = [each for each in candidates if _is_proven_renamed(target, each, is_field=is_field)]
    if len(proven) == 1:
        kinds = " and ".join(KIND_TITLES[each] for each in sorted(list_agreeing_kinds(target, proven[0])))
        note = f"its name was {target.name!r} and is {proven[0].name!r}; {kinds} agree"
        return Match("found", proven[0], healed=(note, *_list_differences(target, proven[0])))
    if proven:
        titles = ", ".join(each.title for each in proven[:5])
        message = f"{target} has been renamed, and {len(proven)} elements could be it: {titles}"
        return Match("ambiguous", message=message)
    same = [each for each in candidates if has_steady_attribute(target, each)]
    if len(same) == 1:
        return Match("changed", message=f"{target} is now {same[0].role} {same[0].name!r} ({same[0].title})")
    return Match("not_found", message=f"{target} is not on the page")


def _is_proven_renamed(target: Target, candidate: ElementCandidate, *, is_field: bool) -> bool:
    """Return whether a renamed element is certainly the same."""
    if candidate.role != target.role or not (target.name and candidate.name):
        return False
    if find_contradiction(target, candidate) is not None:
        return False
    kinds = list_agreeing_kinds(target, candidate)
    likeness = _compare_with(target, candidate, is_field=is_field)
    if (is_field or target.role in TOGGLE_ROLES) and not _may_be_reworded(target, candidate):
        return False
    needed = {"akin": 2, "similar": 3}.get(likeness)
    if needed and len(kinds) >= needed:
        return True
    if likeness == "opposed" or "order" not in kinds or not has_other_language(target, candidate):
        return False
    # For an unambiguous translation of the same meaning its place is enough; otherwise the other evidence decides.
    meanings = [list_meanings(split_words(name)) for name in (target.name, candidate.name)]
    is_same_meaning = bool(meanings[0]) and meanings[0] == meanings[1]
    is_alone = target.equals < 2
    return (is_same_meaning and is_alone) or len(kinds if is_field else kinds - {"heading"}) > 1


def _compare_with(target: Target, candidate: ElementCandidate, *, is_field: bool = False) -> NameLikeness:
    context = (candidate.row, candidate.under, candidate.near)
    is_translated = has_other_language(target, candidate)
    return compare_names(target.name, candidate.name, context, is_field=is_field, is_translated=is_translated)


def _fits_role_and_name(target: Target, candidate: ElementCandidate) -> bool:
    if normalize_name(candidate.name) != normalize_name(target.name):
        return False
    is_same_attribute = bool(list_same_attributes(target, candidate))
    if target.name and target.role in ("", candidate.role):
        return True
    # A link that became a button, or an element without a name, needs the other evidence as well.
    kinds = list_agreeing_kinds(target, candidate) - {"heading"}
    is_alone = bool(target.name) and target.equals == candidate.equals == 1
    return is_same_attribute or len(kinds) > 1 or (is_alone and "order" in kinds)


def _accept(target: Target, candidate: ElementCandidate, *, is_only: bool) -> Match:
    """Accept the only candidate without a contradiction, if one more kind of evidence agrees."""
    is_same_attribute = bool(list_same_attributes(target, candidate))
    kinds = list_agreeing_kinds(target, candidate)
    is_translated = has_other_language(target, candidate)
    context = bool(target.row) or "text" in kinds
    place = (target.under is not None or target.inside is not None) and not is_translated
    is_handwritten = not (target.attributes or target.row or target.near or place or target.path or target.traits)
    is_told_apart = (
        is_same_attribute or context or (is_only and target.equals < 2) or bool(target.under and not is_only)
    )
    if not is_told_apart and not kinds - {"heading"}:
        return Match("ambiguous", message=f"several elements match {target}, and nothing reliable tells them apart")
    if is_same_attribute or context or place or is_handwritten or kinds:
        return Match("found", candidate, healed=_list_differences(target, candidate))
    return Match("changed", message=f"{candidate.title} has the same name as {target}, but nothing else matches")


def _choose_among(target: Target, fitting: Sequence[ElementCandidate]) -> Match:
    """Choose among candidates without contradictions: only the one that its evidence singles out."""
    same_text = [each for each in fitting if target.near and not differs(target.near, each.near)]
    singled = [each for each in fitting if has_steady_attribute(target, each)]
    # Links with the same name and address are equivalent, for instance above and below a list.
    if len({each.address for each in fitting}) == 1 and fitting[0].address and fitting[0].role == "link":
        return Match("found", fitting[0])
    has_context = bool(target.row or target.near) or target.equals == len(fitting)
    if len(same_text) == 1 and (not singled or singled == same_text):
        return Match("found", same_text[0], healed=_list_differences(target, same_text[0]))
    if len(singled) == 1 and has_context and not same_text:
        return Match("found", singled[0], healed=_list_differences(target, singled[0]))
    if best := _find_outstanding(target, fitting):
        return Match("found", best, healed=_list_differences(target, best))
    titles = ", ".join(each.title for each in fitting[:5])
    return Match("ambiguous", message=f"{len(fitting)} elements match {target}: {titles}")


def _find_outstanding(target: Target, fitting: Sequence[ElementCandidate]) -> ElementCandidate | None:
    """Return the candidate with by far the most agreeing evidence.

    It has at least three kinds, two more than any other.
    """
    enough, ahead = 3, 2
    counts = [len(list_agreeing_kinds(target, each)) for each in fitting]
    best = max(counts)
    rivals = [count for count in counts if count > best - ahead]
    return fitting[counts.index(best)] if best >= enough and len(rivals) == 1 else None


def _match_form_field(target: Target, candidates: Sequence[ElementCandidate]) -> Match | None:
    """Recognize a relabelled field by what its form sends: the same name, type and place."""
    keys = ("name", "type", "autocomplete", "value")
    wanted = {key: target.attributes[key] for key in keys if key in target.attributes}
    if "name" not in wanted:
        return None
    same = [
        each
        for each in candidates
        if each.role == target.role
        and {key: each.attributes[key] for key in keys if key in each.attributes} == wanted
        and not differs(target.inside, each.inside)
        and (not target.row or not differs(target.row, each.row))
        and (target.name or has_other_language(target, each) or not find_contradiction(target, each))
    ]
    if len(same) != 1 or not _may_be_reworded(target, same[0]):
        return None
    note = f"its name was {target.name!r} and is {same[0].name!r}; its form still sends it as {wanted['name']!r}"
    return Match("found", same[0], healed=(note, *_list_differences(target, same[0])))


def _may_be_reworded(target: Target, candidate: ElementCandidate) -> bool:
    """Return whether a field may have this label now; that of a check box must keep its meaning."""
    if candidate.role not in TOGGLE_ROLES:
        return has_other_language(target, candidate) or not asks_for_other_value(target.name, candidate.name)
    likeness = _compare_with(target, candidate)
    return likeness in ("same", "akin") or (likeness != "opposed" and has_other_language(target, candidate))


def _match_link(target: Target, candidates: Sequence[ElementCandidate]) -> Match | None:
    """Recognize a renamed link by its address, unless the text means something else."""
    href = target.attributes.get("href", "")
    if target.role != "link" or href.strip("/#") == "" or any(mark.isdigit() for mark in href):
        return None
    same = [each for each in candidates if each.role == "link" and each.attributes.get("href") == href and each.name]
    fitting = [
        each for each in same if _compare_with(target, each) != "opposed" and find_contradiction(target, each) is None
    ]
    if len(same) != 1 or not fitting or not list_agreeing_kinds(target, same[0]) - {"attributes"}:
        return None
    note = f"its name was {target.name!r} and is {same[0].name!r}; it still leads to {href}"
    return Match("found", same[0], healed=(note, *_list_differences(target, same[0])))


def _list_differences(target: Target, candidate: ElementCandidate) -> tuple[str, ...]:
    """List the differences of an accepted candidate."""
    notes = []
    if target.role and candidate.role != target.role:
        notes.append(f"its role was {target.role} and is {candidate.role}")
    recorded, present = target.attributes, candidate.attributes
    notes += [
        f"its {name} was {recorded[name]!r} and is {present.get(name, '')!r}"
        for name in STRONG_ATTRIBUTES
        if name in recorded and present.get(name) != recorded[name]
    ]
    if differs(target.under, candidate.under):
        notes.append(f"it was under {target.under!r} and is under {candidate.under!r}")
    if differs(target.inside, candidate.inside):
        notes.append(f"it was in {target.inside!r} and is in {candidate.inside!r}")
    return tuple(notes)
