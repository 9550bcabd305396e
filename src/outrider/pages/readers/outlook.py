"""Read messages that Outlook saved (msg), in the form of e-mail."""

import struct

from outrider.pages.document import Document
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.mail import build_facts, build_metadata, write_message
from outrider.pages.readers.office97.compound_file import CompoundFile, CompoundFileError
from outrider.pages.readers.office97.outlook_message import read_mail
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error


def read_outlook(source: ReaderInput) -> Document:
    """Return a message, an appointment or a task: headers, text, attachment names, nested messages.

    Raises:
        Unavailable: code `broken_file`.
    """
    kind_name = "Outlook message"
    try:
        mail = read_mail(CompoundFile(source.body))
    except CompoundFileError as error:
        raise build_broken_error(source, kind_name, str(error)) from None
    except (ValueError, IndexError, struct.error):
        raise build_broken_error(source, kind_name, "it is damaged") from None
    if not any((*mail.headers.values(), mail.text, mail.html, mail.rtf, mail.attachments, mail.forwarded)):
        raise build_broken_error(source, kind_name, "it is empty")
    draft = DocumentDraft(source, "mail")
    write_message(draft, mail, 1)
    return draft.build_document(build_facts(mail), metadata=build_metadata(mail))


reader = DocumentReader(
    "outlook", ("application/vnd.ms-outlook",), read_outlook, suffixes=(".msg",), isolated=True, needs_whole_body=True
)
