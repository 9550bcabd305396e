"""Calendars and contact cards in the forms that programs write."""

import pytest

from outrider.core.errors import Unavailable
from outrider.pages.mime.sniff import detect_mime_type
from outrider.pages.reader import ReaderInput
from outrider.pages.registry import find_reader
from support.documents.office_files import read_document

CALENDAR = """BEGIN:VCALENDAR\r
VERSION:2.0\r
X-WR-CALNAME:Harbour events\r
BEGIN:VTIMEZONE\r
TZID:Europe/Vienna\r
BEGIN:STANDARD\r
DTSTART:19961027T030000\r
END:STANDARD\r
END:VTIMEZONE\r
BEGIN:VEVENT\r
SUMMARY:Regatta\\, the big one\\; with fleet\r
DTSTART;TZID=Europe/Vienna:20260704T093000\r
DTEND;TZID=Europe/Vienna:20260704T180000\r
LOCATION:Pier 4\r
RRULE:FREQ=WEEKLY;COUNT=4\r
ORGANIZER;CN="Märsh: Ida":MAILTO:ida@e.org\r
ATTENDEE:mailto:tom@e.org\r
DESCRIPTION:Bring a bo\r
 at.\\nAnd tea.\r
BEGIN:VALARM\r
DESCRIPTION:Ring\r
END:VALARM\r
END:VEVENT\r
BEGIN:VEVENT\r
SUMMARY:Holiday\r
DTSTART;VALUE=DATE:20260106\r
DTEND;VALUE=DATE:20260107\r
END:VEVENT\r
BEGIN:VTODO\r
SUMMARY:Paint the lamp\r
DUE:20260501T120000Z\r
END:VTODO\r
END:VCALENDAR\r
"""
CARDS = """BEGIN:VCARD\r
VERSION:3.0\r
N:Marsh;Ida;;Dr.;\r
FN:Dr. Ida Marsh\r
ORG:Harbour\\, Ltd.;Lights\r
item1.TEL;TYPE=CELL,VOICE:+43 1 234\r
EMAIL;type=INTERNET;type=WORK:ida@e.org\r
ADR;TYPE=work:;;Pier 4;Cape Wend;;1010;Austria\r
NOTE:One\\nTwo\r
PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQ\r
 AAAA\r
END:VCARD\r
BEGIN:VCARD\r
VERSION:2.1\r
N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=A4rz;Th=\r
=C3=A9a\r
TEL;CELL:123\r
END:VCARD\r
"""


def test_a_calendar_lists_its_events_in_order_of_time():
    document = read_document(CALENDAR.encode())
    assert (document.kind, document.title, document.metadata) == ("calendar", "Harbour events", {"entries": 3})
    assert document.markdown == (
        "# Harbour events\n\n"
        "## Holiday\n\n- when: 2026-01-06\n\n"
        "## To do: Paint the lamp\n\n- due: 2026-05-01 12:00 UTC\n\n"
        "## Regatta, the big one; with fleet\n\n"
        "- when: 2026-07-04 09:30 to 18:00 (Europe/Vienna)\n- where: Pier 4\n- repeats: FREQ=WEEKLY;COUNT=4\n"
        "- organizer: Märsh: Ida <ida@e.org>\n- with: tom@e.org\n\n"
        "Bring a boat.\nAnd tea."
    )


def test_contact_cards_list_contact_details_without_pictures():
    document = read_document(CARDS.encode())
    assert document.markdown == (
        "## Dr. Ida Marsh\n\n"
        "- organisation: Harbour, Ltd., Lights\n- telephone (cell): +43 1 234\n- e-mail (work): ida@e.org\n"
        "- address (work): Pier 4, Cape Wend, 1010, Austria\n\nOne\nTwo\n\n"
        "## Théa März\n\n- telephone (cell): 123"
    )


@pytest.mark.parametrize("types", ["type=HOME;type=FAX;type=pref", "HOME;FAX;PREF", 'TYPE="home,fax"', "TYPE=home,fax"])
def test_all_kinds_of_a_number_are_shown_in_every_version_of_cards(types: str):
    card = f"BEGIN:VCARD\nFN:Ida\nTEL;{types}:12\nEND:VCARD"
    assert read_document(card.encode()).markdown == "## Ida\n\n- telephone (home, fax): 12"


@pytest.mark.parametrize(("name", "kind"), [("a.ics", "calendar"), ("a.vcf", "contacts")])
def test_the_suffix_decides_the_reader_and_unsuitable_content_is_reported(name: str, kind: str):
    reader = find_reader(detect_mime_type("text/plain", b"tide", name), name)
    assert reader.name == kind
    with pytest.raises(Unavailable, match="does not start with BEGIN"):
        reader.read(ReaderInput(b"tide", name))


def test_an_event_that_was_saved_alone_is_read():
    event = b"BEGIN:VEVENT\r\nSUMMARY:Regatta\r\nDTSTART;VALUE=DATE:20260704\r\nEND:VEVENT\r\n"
    document = find_reader("text/calendar", "a.ics").read(ReaderInput(event, "a.ics"))
    assert document.markdown == "## Regatta\n\n- when: 2026-07-04"


@pytest.mark.parametrize("text", [CALENDAR, CARDS])
def test_a_truncated_file_is_read_as_far_as_it_goes(text: str):
    half = text[: len(text) * 2 // 3].encode()
    assert ("Regatta" if "VCALENDAR" in text else "Ida Marsh") in read_document(half).markdown


def test_an_svg_is_recognised_by_its_root_element():
    assert detect_mime_type("", b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>') == "image/svg+xml"


def test_malformed_lines_take_no_time():
    odd = "TEL" + ";A=" * 50_000 + '"' * 50_001 + "=x" * 50_000
    document = read_document(f"BEGIN:VCARD\nFN:Ida\n{odd}\n{odd}:1\nEND:VCARD".encode())
    assert document.markdown == "## Ida"
