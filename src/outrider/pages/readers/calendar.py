"""Read calendars (iCalendar, RFC 5545), events in order of time."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from heapq import nsmallest

from outrider.pages.document import Document, to_single_line
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.parsing.content_lines import Component, Property, iter_components
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error

KIND_PREFIXES = {"VEVENT": "", "VTODO": "To do: ", "VJOURNAL": "Note: "}
DATE_TIME = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})?(Z)?)?")


def read_calendar(source: ReaderInput) -> Document:
    """Return each event below its title: time, place, people, recurrence and description.

    At most 2,000 events are shown.

    Raises:
        Unavailable: code `broken_file`, if the file holds no calendar.
    """
    max_events = 2_000
    calendar, events, total = _find_first_events(source.text, max_events)
    if calendar is None:
        raise build_broken_error(source, "calendar", "it does not start with BEGIN:VCALENDAR")
    draft = DocumentDraft(source, "calendar")
    title = to_single_line(calendar.get_first("x-wr-calname").text or calendar.get_first("name").text)
    draft.add_heading(1, title)
    for event in events:
        if draft.is_full:
            draft.is_cut = True
            break
        _write_event(draft, event)
    if total > max_events:
        draft.add_block(f"(… {total - max_events} more entries were not read)")
    draft.is_cut = draft.is_cut or source.is_cut
    return draft.build_document({"title": title}, metadata={"entries": total})


def _find_first_events(text: str, limit: int) -> tuple[Component | None, list[Component], int]:
    """Return the first calendar, the earliest events, and the number of all."""
    total, calendar = 0, None

    def iter_events() -> Iterator[Component]:
        nonlocal total, calendar
        for component, around in iter_components(text):
            if around.name == "VCALENDAR" or around.name in KIND_PREFIXES:  # an event saved alone has no calendar
                calendar = calendar or around
                if component.name in KIND_PREFIXES:
                    total += 1
                    yield component

    def find_begin(event: Component) -> str:
        return (event.get_first("dtstart").value or event.get_first("due").value).strip()

    events = nsmallest(limit, iter_events(), key=find_begin)
    return calendar, events, total


def _write_event(draft: DocumentDraft, event: Component) -> None:
    fact_names = (
        ("location", "where"),
        ("status", "status"),
        ("rrule", "repeats"),
        ("duration", "lasts"),
        ("url", "link"),
    )
    max_people = 20
    draft.add_heading(2, KIND_PREFIXES[event.name] + (to_single_line(event.get_first("summary").text) or "(no title)"))
    begin, end = _format_moment(event.get_first("dtstart")), _format_moment(event.get_first("dtend"))
    if len(end) == len("2024-01-01"):
        # The end of an all-day event is exclusive: the day after its last one (section 3.6.1).
        with suppress(ValueError, OverflowError):
            end = (date.fromisoformat(end) - timedelta(days=1)).isoformat()
    zone = event.get_first("dtstart").parameters.get("tzid", "")
    if end and end[:10] == begin[:10] and len(end) > len("2024-01-01"):
        end = end[11:]
    period = f"{begin} to {end}" if end and end != begin else begin
    date_text = f"{period} ({zone})" if zone and period else period
    facts = [("when", date_text), ("due", _format_moment(event.get_first("due")))]
    facts += [(word, to_single_line(event.get_first(name).text)) for name, word in fact_names]
    facts += [("organizer", _format_person(event.get_first("organizer")))]
    people = [_format_person(attendee) for attendee in event.get_all("attendee")]
    more = f" and {len(people) - max_people} more" if len(people) > max_people else ""
    facts += [("with", ", ".join(people[:max_people]) + more)]
    for word, fact in facts:
        if fact:
            draft.add_item(0, f"{word}: {fact}")
    draft.resolve_link(event.get_first("url").value, event.get_first("summary").text)
    draft.add_block(event.get_first("description").text)


def _format_moment(moment: Property) -> str:
    """Return a date or time in ISO 8601, with `UTC` if the value says so."""
    match = DATE_TIME.fullmatch(moment.value.strip())
    if not match:
        return to_single_line(moment.value, 60)
    year, month, day, hour, minute, _, utc = match.groups()
    return f"{year}-{month}-{day}" + (f" {hour}:{minute}{' UTC' if utc else ''}" if hour else "")


def _format_person(person: Property) -> str:
    name, address = to_single_line(person.parameters.get("cn", "")), to_single_line(person.value)
    address = address[7:] if address.lower().startswith("mailto:") else address
    return f"{name} <{address}>" if name and address and name != address else name or address


reader = DocumentReader(
    "calendar",
    ("text/calendar", "text/x-vcalendar", "application/ics"),
    read_calendar,
    suffixes=(".ics", ".ical", ".ifb", ".vcs"),
)
