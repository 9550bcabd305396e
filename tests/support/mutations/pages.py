"""Small applications that log the intent of each press, and flows on them.

Every control has a `data-intent`, which no evidence uses; a mutation that changes the meaning of a control also changes
it.
"""

from dataclasses import dataclass
from typing import Any


def build_rows(names: tuple[str, ...], row: str) -> str:
    """Repeat the markup for each name; `{}` is the name, `{n}` its number, `{low}` the name in lower case."""
    return "".join(row.format(name, n=number, low=name.lower()) for number, name in enumerate(names, 1))


TEAS = ("Assam", "Ceylon", "Darjeeling", "Sencha")
PAGES = {
    "order": (
        "<header><a href=/order>Home</a></header><main><h1>Order</h1><p>Fill in the form.</p><form id=order class=box>"
        "<label>Name <input id=name name=name data-intent=name></label>"
        "<label>Street <input id=street name=street autocomplete=street-address data-intent=street></label>"
        "<label>Size <select id=size name=size data-intent=size><option>Small<option>Large</select></label>"
        "<label><input type=checkbox id=gift name=gift data-intent=gift> Gift</label>"
        "<p><button type=button id=cancel class=plain data-intent=cancel>Cancel</button>"
        "<button id=send class=main data-intent=send>Send order</button></p></form></main><footer>Imprint</footer>"
    ),
    "table": (
        "<main><h1>Teas</h1><table id=teas class=list><thead><tr><th>Tea<th>Price<th>Actions</thead><tbody>"
        + build_rows(
            TEAS,
            "<tr class=row><td>{0}<td>{n}.50<td><button id=edit-{n} data-intent='edit {0}'>Edit</button>"
            "<button id=delete-{n} onclick=\"say('Deleted {0}')\" data-intent='delete {0}'>Delete</button></tr>",
        )
        + "</tbody></table></main>"
    ),
    "cards": (
        "<div class=page><h1>Shop</h1><p>Fresh today</p><div class=grid>"
        + build_rows(
            TEAS,
            "<div class=card><div class=title>{0}</div><div class=price>{n}.00</div>"
            "<button class=add id=add-{n} onclick=\"say('Added {0}')\" data-intent='add {0}'>Add to cart</button>"
            "</div>",
        )
        + "</div><a id=checkout href='#paid' onclick=\"say('Paid')\" data-intent=checkout>Checkout</a></div>"
    ),
    "settings": (
        "<main><h1>Settings</h1>"
        "<section class=part><h2>Profile</h2><label>Nickname <input id=nick name=nick data-intent=nick></label>"
        "<button id=save-profile data-intent='save profile' onclick=\"say('Profile saved')\">Save</button></section>"
        "<section class=part><h2>Delivery</h2><label>City <input id=city name=city data-intent=city></label>"
        "<button id=save-delivery data-intent='save delivery' onclick=\"say('Delivery saved')\">Save</button></section>"
        "<section class=part><h2>Danger</h2><button id=close data-intent=close>Close account</button></section></main>"
    ),
    "inbox": (
        "<nav><a href='#all' data-intent=all>All mail</a> <a href='#spam' data-intent=spam>Spam</a></nav>"
        "<main><h1>Inbox</h1><ul id=mails class=list>"
        + build_rows(
            ("Invoice", "Greetings", "Newsletter"),
            "<li class=mail><b>{0}</b> <label><input type=checkbox id=pick-{n} data-intent='pick {0}'> Select</label>"
            "<button id=open-{n} data-intent='open {0}'>Open</button></li>",
        )
        + "</ul><div role=toolbar>"
        "<button id=archive data-intent=archive onclick=\"say('Archived')\">Archive (3)</button>"
        "<button id=trash data-intent=trash>Delete</button></div></main>"
    ),
    "wizard": (
        "<main><h1>Account</h1><form id=who><label>E-mail <input id=mail name=mail type=email data-intent=mail></label>"
        "<label>Password <input id=secret name=secret type=password data-intent=secret></label></form>"
        "<div class=buttons><a id=back href=/table data-intent=back>Back</a>"
        "<a id=next href=/finish data-intent=next>Next</a></div></main>"
    ),
    "finish": (
        "<main><h1>Nearly there</h1><label><input id=terms type=checkbox name=terms data-intent=terms> I agree</label>"
        "<button id=finish data-intent=finish onclick=\"say('Welcome')\">Finish</button></main>"
    ),
}
# The actions of a flow on its first page: tool, selector and value; `target` is the control that mutations change.
Step = tuple[str, str, Any]


@dataclass(frozen=True)
class RecordedTask:
    """A recorded task, and the selector of the control that mutations change.

    Attributes:
        in_row: Whether that control is one of several of its name, in rows or sections.
    """

    page: str
    steps: tuple[Step, ...]
    target: str
    in_row: bool = False


TASKS = {
    "order tea": RecordedTask(
        "order",
        (
            ("inputText", "#name", "Ada"),
            ("inputText", "#street", "Hill Road"),
            ("selectOption", "#size", ["Large"]),
            ("selectOption", "#gift", True),
            ("clickElement", "#send", None),
        ),
        "#send",
    ),
    "delete a row": RecordedTask("table", (("clickElement", "#delete-2", None),), "#delete-2", in_row=True),
    "edit the last row": RecordedTask("table", (("clickElement", "#edit-4", None),), "#edit-4", in_row=True),
    "buy from a card": RecordedTask(
        "cards", (("clickElement", "#add-3", None), ("clickElement", "#checkout", None)), "#add-3", in_row=True
    ),
    "check out": RecordedTask("cards", (("clickElement", "#checkout", None),), "#checkout"),
    "save one of two": RecordedTask(
        "settings",
        (("inputText", "#city", "Graz"), ("clickElement", "#save-delivery", None)),
        "#save-delivery",
        in_row=True,
    ),
    "save the first": RecordedTask(
        "settings", (("clickElement", "#save-profile", None),), "#save-profile", in_row=True
    ),
    "archive a mail": RecordedTask(
        "inbox", (("selectOption", "#pick-2", True), ("clickElement", "#archive", None)), "#archive"
    ),
    "open a mail": RecordedTask("inbox", (("clickElement", "#open-3", None),), "#open-3", in_row=True),
    "walk through": RecordedTask(
        "wizard",
        (
            ("inputText", "#mail", "ada@example.org"),
            ("inputText", "#secret", "hunter2"),
            ("clickElement", "#next", None),
            ("selectOption", "#terms", True),
            ("clickElement", "#finish", None),
        ),
        "#finish",
    ),
}

# The texts of these pages, reworded.
WORDS = {
    "german": {
        "Home": "Startseite", "Order": "Bestellung", "Fill in the form.": "Bitte ausfüllen.", "Name": "Name",
        "Street": "Straße", "Size": "Größe", "Gift": "Geschenk", "Cancel": "Abbrechen",
        "Send order": "Bestellung absenden", "Imprint": "Impressum", "Teas": "Tees", "Tea": "Tee", "Price": "Preis",
        "Actions": "Aktionen", "Edit": "Bearbeiten", "Delete": "Löschen", "Shop": "Laden",
        "Fresh today": "Heute frisch", "Add to cart": "In den Korb", "Checkout": "Zur Kasse",
        "Settings": "Einstellungen", "Profile": "Profil", "Nickname": "Spitzname", "Save": "Speichern",
        "Delivery": "Lieferung", "City": "Ort", "Danger": "Gefahr", "Close account": "Konto schließen",
        "All mail": "Alle Nachrichten", "Spam": "Spam", "Inbox": "Posteingang", "Select": "Auswählen",
        "Open": "Öffnen", "Archive (3)": "Archivieren (3)", "Account": "Konto", "E-mail": "E-Mail",
        "Password": "Passwort", "Back": "Zurück", "Next": "Weiter", "Nearly there": "Fast geschafft",
        "I agree": "Ich stimme zu", "Finish": "Fertigstellen",
    },
    "synonyms": {
        "Name": "Your name", "Street": "Street and number", "Gift": "It is a gift", "Cancel": "Abort",
        "Send order": "Submit order", "Edit": "Change", "Delete": "Remove", "Add to cart": "Add to your cart",
        "Checkout": "Proceed to checkout", "Nickname": "Your nickname", "Save": "Apply", "City": "Your city",
        "Select": "Select this", "Open": "View", "Archive (3)": "Archive these (3)", "E-mail": "Email address",
        "Password": "Your password", "Next": "Continue", "I agree": "I agree to the terms",
        "Finish": "Complete", "Fresh today": "Just arrived",
    },
}  # fmt: skip
