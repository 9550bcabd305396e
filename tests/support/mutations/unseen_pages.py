"""Further applications and flows, written after the rules of recognition were final; no rule was tuned on them."""

from support.mutations.pages import RecordedTask, build_rows

ICON = "<svg viewBox='0 0 8 8' width=16 height=16><path d='{}'/></svg>"
BIN, STAR, PEN = "M1 2h6v5H1z", "M4 0l1 3h3z", "M0 7l5-5 2 2z"
PRESSED = "onclick=\"say('{}')\""

UNSEEN_PAGES = {
    # A mail box of anonymous boxes with ARIA roles and buttons that are only icons.
    "mail": (
        "<div class=css-1a2b3c><div class=css-9f8e7d role=banner><div role=button tabindex=0 class=css-77 "
        f"data-intent=compose {PRESSED.format('New mail')}>Compose</div>"
        "<input aria-label='Search mail' class=css-5 data-intent=search></div>"
        "<div class=css-44 role=main><div class=css-45 role=heading aria-level=1>Messages</div><div role=list>"
        + build_rows(
            ("Ada Lovelace", "Grace Hopper", "Mary Shelley", "Emmy Noether"),
            "<div role=listitem class=css-x{n}><span class=css-q>{0}</span> <span class=css-r>Hello from {low}</span>"
            "<div role=button tabindex=0 aria-label=Star class=css-b data-intent='star {0}'"
            " onclick=\"say('Starred {0}')\">"
            + ICON.format(STAR)
            + "</div><div role=button tabindex=0 aria-label=Delete class=css-b data-intent='delete {0}'"
            " onclick=\"say('Gone {0}')\">" + ICON.format(BIN) + "</div></div>",
        )
        + "</div></div></div>"
    ),
    # A calendar of buttons with numbers, and a panel for the chosen day.
    "calendar": (
        "<main><h1>May</h1><div role=toolbar aria-label=Month><button aria-label='Previous month' data-intent=before>"
        "‹</button><button aria-label='Next month' data-intent=after onclick=\"say('June')\">›</button></div>"
        "<table role=grid><tbody><tr>"
        + "</tr><tr>".join(
            "".join(
                f"<td><button class=day data-intent='day {day}' onclick=\"say('Chosen {day}')\">{day}</button>"
                for day in range(week * 7 + 1, week * 7 + 8)
            )
            for week in range(4)
        )
        + "</tr></tbody></table><section aria-label=Appointment><h2>New appointment</h2>"
        "<label>Title <input class=t data-intent=title></label><label>With <input class=w data-intent=with></label>"
        "<button class=s data-intent=create onclick=\"say('Created')\">Create appointment</button>"
        "<button class=c data-intent=discard>Discard</button></section></main>"
    ),
    # Web components: fields and buttons in shadow roots.
    "components": (
        "<main><h1>Contact</h1><x-field label=Subject key=subject></x-field><x-field label=Message key=message>"
        "</x-field><x-action label='Send message' key=send></x-action><x-action label='Clear form' key=clear></x-action>"
        "</main><script>customElements.define('x-field', class extends HTMLElement { connectedCallback() {"
        "const key = this.getAttribute('key'); this.attachShadow({mode: 'open'}).innerHTML ="
        "`<label>${this.getAttribute('label')} <input part=input data-intent=${key}></label>`; } });"
        "customElements.define('x-action', class extends HTMLElement { connectedCallback() {"
        "const key = this.getAttribute('key'); this.attachShadow({mode: 'open'}).innerHTML ="
        "`<button part=button data-intent=${key}>${this.getAttribute('label')}</button>`;"
        "this.shadowRoot.firstChild.onclick = () => say('Did ' + key); } });</script>"
    ),
    # A list rendered by a script after loading, with test ids and generated ids.
    "tasks": (
        "<div id=root></div><script>setTimeout(() => { document.getElementById('root').innerHTML = `"
        "<h1>To do</h1><div class=Bar_x1><input id=':r1:' placeholder='New task' data-testid=new-task data-intent=new>"
        "<button id=':r2:' data-testid=add-task data-intent=add onclick=\"say('Task added')\">Add</button></div>"
        "<div class=List_y2>"
        + build_rows(
            ("Water plants", "Pay rent", "Call mother"),
            "<div class=Item_z3 role=listitem><span>{0}</span><input type=checkbox aria-label=Done id=':c{n}:'"
            " data-intent='done {0}'><button id=':e{n}:' data-intent='edit {0}' onclick=\"say('Editing {0}')\">"
            "Edit</button><button id=':d{n}:' data-intent='delete {0}' onclick=\"say('Removed {0}')\">Delete</button></div>",
        )
        + "</div><button data-testid=clear-done data-intent='clear done'>Clear done</button>`; drawn(); }, 80)</script>"
    ),
    # A form of groups with radio buttons and a date; the server sends the next page.
    "booking": (
        "<header><a href=/booking>Hotel</a> <a href=/help data-intent=help>Help</a></header><main><h1>Book a room</h1>"
        "<form action=/booked method=get><fieldset><legend>Stay</legend>"
        "<label for=f1>Arrival</label><input id=f1 name=arrival type=date data-intent=arrival>"
        "<label for=f2>Guests</label><input id=f2 name=guests type=number data-intent=guests></fieldset>"
        "<fieldset><legend>Room</legend><label><input type=radio name=room value=single data-intent=single> Single"
        "</label><label><input type=radio name=room value=double data-intent=double> Double</label></fieldset>"
        "<fieldset><legend>Contact</legend><label>E-mail <input name=mail type=email data-intent=mail></label>"
        "<label>Phone <input name=phone type=tel data-intent=phone></label></fieldset>"
        "<input type=submit value='Request booking' data-intent=book><input type=reset value=Reset data-intent=reset>"
        "</form></main>"
    ),
    # Products with links, images and steppers.
    "store": (
        "<nav aria-label=Shop><a href=/store/lamps data-intent=lamps>Lamps</a><a href=/store/chairs data-intent=chairs>"
        "Chairs</a><a href=/store/basket data-intent=basket>Basket (2)</a></nav><main><h1>Chairs</h1>"
        + build_rows(
            ("Oak chair", "Steel chair", "Garden chair"),
            "<article class=p><h3><a href='/store/item-{n}' data-intent='see {0}'>{0}</a></h3><p>{n}9 €</p>"
            "<button class=minus aria-label=Less data-intent='less {0}'>−</button>"
            "<button class=plus aria-label=More data-intent='more {0}'>+</button>"
            "<button class=buy data-intent='buy {0}' onclick=\"say('In the basket: {0}')\">Buy</button></article>",
        )
        + "</main><aside><h2>Newsletter</h2><label>E-mail <input name=news data-intent=news></label>"
        "<button data-intent=subscribe onclick=\"say('Subscribed')\">Subscribe</button></aside>"
    ),
    # Tabs, switches and a table of people.
    "admin": (
        "<main><h1>Team</h1><div role=tablist><button role=tab aria-selected=true data-intent='tab members'>Members"
        "</button><button role=tab data-intent='tab billing' onclick=\"say('Billing shown')\">Billing</button>"
        "<button role=tab data-intent='tab security'>Security</button></div>"
        "<div role=tabpanel aria-label=Members><button role=switch aria-checked=false data-intent=invites"
        " onclick=\"this.ariaChecked = 'true'; say('Invitations on')\">Allow invitations</button>"
        "<table class=people><tr><th>Person<th>Role<th></tr>"
        + build_rows(
            ("Ada", "Grace", "Mary", "Emmy"),
            "<tr data-row={n}><td>{0}<td><select name=role-{n} aria-label=Role data-intent='role {0}'><option>Member"
            "<option>Owner</select><td><button name=suspend-{n} data-intent='suspend {0}'"
            " onclick=\"say('Suspended {0}')\">Suspend</button><button name=remove-{n} data-intent='remove {0}'>"
            "Remove</button></tr>",
        )
        + "</table><button name=invite data-intent=invite onclick=\"say('Invited')\">Invite a person</button></div></main>"
    ),
    "booked": "<main><h1>Thank you</h1></main>",
    "help": "<main><h1>Help</h1></main>",
    "store/basket": "<main><h1>Basket</h1></main>",
    "store/item-2": "<main><h1>Steel chair</h1></main>",
}
UNSEEN_TASKS = {
    "star a mail": RecordedTask(
        "mail",
        (("clickElement", "[data-intent='star Mary Shelley']", None),),
        "[data-intent='star Mary Shelley']",
        True,
    ),
    "delete a mail": RecordedTask(
        "mail",
        (("clickElement", "[data-intent='delete Grace Hopper']", None),),
        "[data-intent='delete Grace Hopper']",
        True,
    ),
    "search mail": RecordedTask(
        "mail",
        (("inputText", "[data-intent=search]", "ada"), ("clickElement", "[data-intent=compose]", None)),
        "[data-intent=compose]",
    ),
    "choose a day": RecordedTask(
        "calendar", (("clickElement", "[data-intent='day 17']", None),), "[data-intent='day 17']"
    ),
    "make an appointment": RecordedTask(
        "calendar",
        (
            ("inputText", "[data-intent=title]", "Dentist"),
            ("inputText", "[data-intent=with]", "Ada"),
            ("clickElement", "[data-intent=create]", None),
        ),
        "[data-intent=create]",
    ),
    "turn the month": RecordedTask("calendar", (("clickElement", "[data-intent=after]", None),), "[data-intent=after]"),
    "write a message": RecordedTask(
        "components",
        (
            ("inputText", "[data-intent=subject]", "Hello"),
            ("inputText", "[data-intent=message]", "How are you?"),
            ("clickElement", "[data-intent=send]", None),
        ),
        "[data-intent=send]",
    ),
    "add a task": RecordedTask(
        "tasks",
        (("inputText", "[data-intent=new]", "Sleep"), ("clickElement", "[data-intent=add]", None)),
        "[data-intent=add]",
    ),
    "finish a task": RecordedTask(
        "tasks",
        (
            ("selectOption", "[data-intent='done Pay rent']", True),
            ("clickElement", "[data-intent='edit Pay rent']", None),
        ),
        "[data-intent='edit Pay rent']",
        True,
    ),
    "remove a task": RecordedTask(
        "tasks",
        (("clickElement", "[data-intent='delete Call mother']", None),),
        "[data-intent='delete Call mother']",
        True,
    ),
    "book a room": RecordedTask(
        "booking",
        (
            ("inputText", "[data-intent=guests]", "2"),
            ("selectOption", "[data-intent=double]", True),
            ("inputText", "[data-intent=mail]", "ada@example.org"),
            ("clickElement", "[data-intent=book]", None),
        ),
        "[data-intent=book]",
    ),
    "ask for help": RecordedTask("booking", (("clickElement", "[data-intent=help]", None),), "[data-intent=help]"),
    "buy a chair": RecordedTask(
        "store",
        (
            ("clickElement", "[data-intent='more Steel chair']", None),
            ("clickElement", "[data-intent='buy Steel chair']", None),
        ),
        "[data-intent='buy Steel chair']",
        True,
    ),
    "subscribe": RecordedTask(
        "store",
        (("inputText", "[data-intent=news]", "ada@example.org"), ("clickElement", "[data-intent=subscribe]", None)),
        "[data-intent=subscribe]",
    ),
    "see the basket": RecordedTask("store", (("clickElement", "[data-intent=basket]", None),), "[data-intent=basket]"),
    "suspend a person": RecordedTask(
        "admin", (("clickElement", "[data-intent='suspend Mary']", None),), "[data-intent='suspend Mary']", True
    ),
    "allow invitations": RecordedTask(
        "admin",
        (("clickElement", "[data-intent=invites]", None), ("clickElement", "[data-intent=invite]", None)),
        "[data-intent=invite]",
    ),
    "show billing": RecordedTask(
        "admin", (("clickElement", "[data-intent='tab billing']", None),), "[data-intent='tab billing']"
    ),
}
UNSEEN_WORDS = {
    "german": {
        "Compose": "Verfassen", "Search mail": "Mails suchen", "Messages": "Nachrichten", "Star": "Markieren",
        "Delete": "Löschen", "Previous month": "Voriger Monat", "Next month": "Nächster Monat", "May": "Mai",
        "New appointment": "Neuer Termin", "Title": "Titel", "With": "Mit", "Create appointment": "Termin anlegen",
        "Discard": "Verwerfen", "Contact": "Kontakt", "Subject": "Betreff", "Message": "Nachricht",
        "Send message": "Nachricht senden", "Clear form": "Formular leeren", "To do": "Zu tun", "New task": "Neue Aufgabe",
        "Add": "Hinzufügen", "Done": "Erledigt", "Edit": "Bearbeiten", "Clear done": "Erledigte leeren",
        "Book a room": "Zimmer buchen", "Stay": "Aufenthalt", "Arrival": "Anreise", "Guests": "Gäste", "Room": "Zimmer",
        "Single": "Einzel", "Double": "Doppel", "E-mail": "E-Mail", "Phone": "Telefon", "Help": "Hilfe",
        "Request booking": "Buchung anfragen", "Reset": "Zurücksetzen", "Lamps": "Lampen", "Chairs": "Stühle",
        "Basket (2)": "Korb (2)", "Less": "Weniger", "More": "Mehr", "Buy": "Kaufen", "Newsletter": "Rundbrief",
        "Subscribe": "Abonnieren", "Team": "Mannschaft", "Members": "Mitglieder", "Billing": "Rechnungen",
        "Security": "Sicherheit", "Allow invitations": "Einladungen erlauben", "Person": "Person", "Role": "Rolle",
        "Suspend": "Sperren", "Remove": "Entfernen", "Invite a person": "Jemanden einladen",
    },
    "synonyms": {
        "Compose": "Write a mail", "Search mail": "Search your mail", "Star": "Mark with a star", "Delete": "Remove",
        "Next month": "Month after", "Title": "Title of the appointment", "With": "With whom",
        "Create appointment": "Add appointment", "Subject": "Your subject", "Message": "Your message",
        "Send message": "Submit message", "New task": "A new task", "Add": "Create", "Done": "Is done", "Edit": "Change",
        "Guests": "Number of guests", "Double": "Double room", "E-mail": "Email address", "Help": "Help and contact",
        "Request booking": "Request the booking", "Basket (2)": "Your basket (2)", "More": "One more", "Buy": "Purchase",
        "Subscribe": "Subscribe now", "Billing": "Billing and invoices", "Allow invitations": "Permit invitations",
        "Suspend": "Suspend this person", "Invite a person": "Invite somebody",
    },
    "spanish": {
        "Compose": "Redactar", "Search mail": "Buscar correo", "Messages": "Mensajes", "Star": "Destacar",
        "Delete": "Eliminar", "Previous month": "Mes anterior", "Next month": "Mes siguiente", "May": "Mayo",
        "New appointment": "Nueva cita", "Title": "Título", "With": "Con", "Create appointment": "Crear cita",
        "Discard": "Descartar", "Contact": "Contacto", "Subject": "Asunto", "Message": "Mensaje",
        "Send message": "Enviar mensaje", "Clear form": "Limpiar formulario", "To do": "Pendiente",
        "New task": "Tarea nueva", "Add": "Añadir", "Done": "Hecho", "Edit": "Editar", "Clear done": "Quitar hechas",
        "Book a room": "Reservar", "Stay": "Estancia", "Arrival": "Llegada", "Guests": "Huéspedes", "Room": "Habitación",
        "Single": "Individual", "Double": "Doble", "E-mail": "Correo", "Phone": "Teléfono", "Help": "Ayuda",
        "Request booking": "Solicitar reserva", "Reset": "Restablecer", "Lamps": "Lámparas", "Chairs": "Sillas",
        "Basket (2)": "Cesta (2)", "Less": "Menos", "More": "Más", "Buy": "Comprar", "Newsletter": "Boletín",
        "Subscribe": "Suscribirse", "Team": "Equipo", "Members": "Miembros", "Billing": "Facturación",
        "Security": "Seguridad", "Allow invitations": "Permitir invitaciones", "Person": "Persona", "Role": "Papel",
        "Suspend": "Suspender", "Remove": "Quitar", "Invite a person": "Invitar a alguien",
        "Order": "Pedido", "Name": "Nombre", "Street": "Calle", "Size": "Tamaño", "Gift": "Regalo", "Cancel": "Cancelar",
        "Send order": "Enviar pedido", "Teas": "Tés", "Tea": "Té", "Price": "Precio", "Actions": "Acciones",
        "Shop": "Tienda", "Add to cart": "Añadir al carrito", "Checkout": "Pagar", "Settings": "Ajustes",
        "Profile": "Perfil", "Nickname": "Apodo", "Save": "Guardar", "Delivery": "Entrega", "City": "Ciudad",
        "Danger": "Peligro", "Close account": "Cerrar cuenta", "All mail": "Todo el correo", "Inbox": "Entrada",
        "Select": "Seleccionar", "Open": "Abrir", "Archive (3)": "Archivar (3)", "Account": "Cuenta",
        "Password": "Contraseña", "Back": "Atrás", "Next": "Siguiente", "Nearly there": "Casi listo",
        "I agree": "Acepto", "Finish": "Terminar",
    },
}  # fmt: skip
