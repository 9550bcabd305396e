"""Calendars (iCalendar, RFC 5545): what happens when and where, in order of time."""

import re
from datetime import date, timedelta

from outrider.pages.document import Document, line_of
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.content_lines import Component, Property, components
from outrider.pages.readers.parts.refusals import broken
from outrider.pages.readers.parts.writing import Draft

EVENTS = 2_000
PEOPLE = 20  # of one event that are named
KINDS = {"VEVENT": "", "VTODO": "To do: ", "VJOURNAL": "Note: "}
MOMENT = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})?(Z)?)?")
FACTS = (("location", "where"), ("status", "status"), ("rrule", "repeats"), ("duration", "lasts"), ("url", "link"))


def read(source: Source) -> Document:
    """Each event below its title: when, where, who, how often, and what is told of it; at most 2,000 of them.

    Raises:
        Unavailable: code `broken_file`, if it is no calendar.
    """
    calendars = components(source.text, "VCALENDAR")
    if not calendars:
        raise broken(source, "calendar", "it does not begin as one")
    draft = Draft(source, "calendar")
    title = next((line_of(each.get("x-wr-calname").text or each.get("name").text) for each in calendars), "")
    events = sorted((part for each in calendars for part in each.parts if part.name in KINDS), key=_begin)
    draft.heading(1, title)
    for event in events[:EVENTS]:
        if draft.full:
            draft.cut = True
            break
        _write(draft, event)
    if len(events) > EVENTS:
        draft.add(f"(… {len(events) - EVENTS} more entries were not read)")
    draft.cut = draft.cut or source.cut
    return draft.document({"title": title}, metadata={"entries": len(events)})


def _begin(event: Component) -> str:
    return (event.get("dtstart").value or event.get("due").value).strip()


def _write(draft: Draft, event: Component) -> None:
    draft.heading(2, KINDS[event.name] + (line_of(event.get("summary").text) or "(no title)"))
    facts = [("when", _when(event)), ("due", _moment(event.get("due")))]
    facts += [(word, line_of(event.get(name).text)) for name, word in FACTS]
    facts += [("organizer", _person(event.get("organizer")))]
    people = [_person(each) for each in event.each("attendee")]
    facts += [("with", ", ".join(people[:PEOPLE]) + (f" and {len(people) - PEOPLE} more" if people[PEOPLE:] else ""))]
    for word, fact in facts:
        if fact:
            draft.item(0, f"{word}: {fact}")
    draft.address(event.get("url").value, event.get("summary").text)
    draft.add(event.get("description").text)


def _when(event: Component) -> str:
    begin, end = _moment(event.get("dtstart")), _moment(event.get("dtend"))
    if len(end) == len("2024-01-01"):  # the day after the last one (section 3.6.1)
        end = _day_before(end)
    zone = event.get("dtstart").parameters.get("tzid", "")
    if end and end[:10] == begin[:10] and len(end) > len("2024-01-01"):
        end = end[11:]
    whole = f"{begin} to {end}" if end and end != begin else begin
    return f"{whole} ({zone})" if zone and whole else whole


def _moment(given: Property) -> str:
    """A date or a time as ISO 8601 writes it, UTC as such."""
    found = MOMENT.fullmatch(given.value.strip())
    if not found:
        return line_of(given.value, 60)
    year, month, day, hour, minute, _, utc = found.groups()
    return f"{year}-{month}-{day}" + (f" {hour}:{minute}{' UTC' if utc else ''}" if hour else "")


def _day_before(day: str) -> str:
    try:
        return (date.fromisoformat(day) - timedelta(days=1)).isoformat()
    except (ValueError, OverflowError):
        return day


def _person(given: Property) -> str:
    name, address = line_of(given.parameters.get("cn", "")), line_of(given.value)
    address = address[7:] if address.lower().startswith("mailto:") else address
    return f"{name} <{address}>" if name and address and name != address else name or address


TYPES = ("text/calendar", "text/x-vcalendar", "application/ics")
reader = Reader("calendar", TYPES, read, suffixes=(".ics", ".ical", ".ifb", ".vcs"))
