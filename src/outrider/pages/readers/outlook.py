"""Messages as Outlook saves them (msg), read as e-mail is."""

import struct

from outrider.pages.document import Document
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.mail import facts, further, write
from outrider.pages.readers.parts.office97.compound import BrokenCompound, Compound
from outrider.pages.readers.parts.office97.outlook import message
from outrider.pages.readers.parts.refusals import broken
from outrider.pages.readers.parts.writing import Draft

KIND = "Outlook message"


def read(source: Source) -> Document:
    """A message, an appointment or a task: its headers, its text, its attachments by name, and messages in it.

    Raises:
        Unavailable: code `broken_file`.
    """
    try:
        mail = message(Compound(source.body))
    except BrokenCompound as error:
        raise broken(source, KIND, str(error)) from None
    except (ValueError, IndexError, struct.error):
        raise broken(source, KIND, "it is damaged") from None
    if not any((*mail.headers.values(), mail.text, mail.html, mail.rtf, mail.attachments, mail.forwarded)):
        raise broken(source, KIND, "nothing stands in it")
    draft = Draft(source, "mail")
    write(draft, mail, 1)
    return draft.document(facts(mail), metadata=further(mail))


reader = Reader("outlook", ("application/vnd.ms-outlook",), read, suffixes=(".msg",), isolated=True, whole=True)
