"""Calendars (iCalendar, RFC 5545): what happens when and where, in order of time."""

import re
from datetime import date, timedelta

from outrider.pages.document import Document, to_single_line
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.parsing.content_lines import Component, Property, parse_components
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error

KIND_PREFIXES = {"VEVENT": "", "VTODO": "To do: ", "VJOURNAL": "Note: "}
DATE_TIME = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})?(Z)?)?")


def read_calendar(source: ReaderInput) -> Document:
    """Each event below its title: when, where, who, how often, and what is told of it; at most 2,000 of them.

    Raises:
        Unavailable: code `broken_file`, if it is no calendar.
    """
    max_events = 2_000
    calendars = parse_components(source.text, "VCALENDAR")
    if not calendars:
        raise build_broken_error(source, "calendar", "it does not begin as one")
    draft = DocumentDraft(source, "calendar")
    title = next(
        (to_single_line(each.get_first("x-wr-calname").text or each.get_first("name").text) for each in calendars), ""
    )
    events = sorted((part for each in calendars for part in each.children if part.name in KIND_PREFIXES), key=_begin)
    draft.add_heading(1, title)
    for event in events[:max_events]:
        if draft.is_full:
            draft.is_cut = True
            break
        _write_event(draft, event)
    if len(events) > max_events:
        draft.add_block(f"(… {len(events) - max_events} more entries were not read)")
    draft.is_cut = draft.is_cut or source.is_cut
    return draft.build_document({"title": title}, metadata={"entries": len(events)})


def _begin(event: Component) -> str:
    return (event.get_first("dtstart").value or event.get_first("due").value).strip()


def _write_event(draft: DocumentDraft, event: Component) -> None:
    fact_names = (
        ("location", "where"),
        ("status", "status"),
        ("rrule", "repeats"),
        ("duration", "lasts"),
        ("url", "link"),
    )
    max_people = 20  # of one event that are named
    draft.add_heading(2, KIND_PREFIXES[event.name] + (to_single_line(event.get_first("summary").text) or "(no title)"))
    facts = [("when", _format_when(event)), ("due", _format_moment(event.get_first("due")))]
    facts += [(word, to_single_line(event.get_first(name).text)) for name, word in fact_names]
    facts += [("organizer", _format_person(event.get_first("organizer")))]
    people = [_format_person(each) for each in event.get_all("attendee")]
    facts += [
        (
            "with",
            ", ".join(people[:max_people]) + (f" and {len(people) - max_people} more" if people[max_people:] else ""),
        )
    ]
    for word, fact in facts:
        if fact:
            draft.add_item(0, f"{word}: {fact}")
    draft.resolve_link(event.get_first("url").value, event.get_first("summary").text)
    draft.add_block(event.get_first("description").text)


def _format_when(event: Component) -> str:
    begin, end = _format_moment(event.get_first("dtstart")), _format_moment(event.get_first("dtend"))
    if len(end) == len("2024-01-01"):  # the day after the last one (section 3.6.1)
        end = _subtract_day(end)
    zone = event.get_first("dtstart").parameters.get("tzid", "")
    if end and end[:10] == begin[:10] and len(end) > len("2024-01-01"):
        end = end[11:]
    whole = f"{begin} to {end}" if end and end != begin else begin
    return f"{whole} ({zone})" if zone and whole else whole


def _format_moment(given: Property) -> str:
    """A date or a time as ISO 8601 writes it, UTC as such."""
    found = DATE_TIME.fullmatch(given.value.strip())
    if not found:
        return to_single_line(given.value, 60)
    year, month, day, hour, minute, _, utc = found.groups()
    return f"{year}-{month}-{day}" + (f" {hour}:{minute}{' UTC' if utc else ''}" if hour else "")


def _subtract_day(day: str) -> str:
    try:
        return (date.fromisoformat(day) - timedelta(days=1)).isoformat()
    except (ValueError, OverflowError):
        return day


def _format_person(given: Property) -> str:
    name, address = to_single_line(given.parameters.get("cn", "")), to_single_line(given.value)
    address = address[7:] if address.lower().startswith("mailto:") else address
    return f"{name} <{address}>" if name and address and name != address else name or address


CALENDAR_TYPES = ("text/calendar", "text/x-vcalendar", "application/ics")
reader = DocumentReader("calendar", CALENDAR_TYPES, read_calendar, suffixes=(".ics", ".ical", ".ifb", ".vcs"))
