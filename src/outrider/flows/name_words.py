"""Compare two element names by their words and actions.

Synonyms and translations of the usual verbs are known, so that "Save" may become "Speichern" but never "Delete".
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Literal

NameLikeness = Literal["same", "akin", "similar", "other", "opposed"]
# Verbs of one meaning in English, German, French, Spanish, Italian, Portuguese and Dutch; `*` matches any ending.
ACTION_WORDS = {
    "save": "save saved saving apply update updating aktualisier* speicher* sichern übernehmen enregistrer sauvegarder "
    "appliquer guarda* aplicar salva* applica* gravar opslaan toepassen",
    "send": "send sending submit submitting abschicken absenden send* einreichen envoyer soumettre envia* mandar "
    "invia* verzend* versturen indienen",
    "delete": "delet* remov* discard* erase* wip* destroy* purg* trash* lösch* entfern* verwerf* supprim* efface* "
    "elimin* borrar suprimir quitar cancella rimuov* exclu* apagar verwijder* wissen",
    "cancel": "cancel* abort* abbrech* abbruch absag* storn* annul* anula*",
    "close": "close closing schließ* schliess* fermer cerrar chiud* fechar sluit*",
    "terminate": "deactivat* terminat* disable disabling deaktiv* kündig* résilier désactiv* desactiv* disattiv* "
    "deactiveer* opzeggen",
    "next": "next continu* proceed* advance weiter* fortfahren suivant* siguiente avanti prosegu* próximo avançar "
    "volgende verder",
    "back": "back previous zurück* retour précédent* atrás anterior volver indietro voltar terug vorige",
    "edit": "edit editing modify modif* chang* bearbeit* änder* modifica* editar wijzig* bewerk*",
    "add": "add adding create creating insert hinzufüg* anleg* erstell* ajouter créer añadir agregar crear aggiung* "
    "crea adicionar criar toevoegen aanmaken",
    "search": "search find suche* suchen finden rechercher chercher busca* cerca* procurar zoek*",
    "open": "open opening view show öffn* anzeig* ansehen ouvrir afficher voir abrir ver apri mostra* mostrar openen "
    "bekijk* toon*",
    "sign_in": "sign_in signin log_in login anmeld* einlogg* connexion connecter iniciar_sesión acceder accedi entrar "
    "inloggen aanmelden",
    "sign_out": "sign_out signout log_out logout abmeld* auslogg* déconne* cerrar_sesión esci sair uitloggen afmelden",
    "register": "sign_up signup register registr* registrier* inscri* iscri* cadastr* inschrijv*",
    "buy": "buy buying checkout check_out pay paying payment purchas* kauf* bezahl* zahl* kasse acheter payer paiement "
    "compra* pagar pago acquista* paga* kopen betal* afrekenen",
    "accept": "accept* agree* allow* approv* akzept* zustimm* erlaub* genehmig* accepter autoris* acept* permit* "
    "accett* consent* aceit* accepteer* toestaan",
    "decline": "declin* reject* deny refus* ablehn* verweiger* recha* rifiut* recus* weiger* afwijz*",
    "archive": "archiv*",
    "publish": "publish* veröffentlich* publi*",
    "download": "download* herunterladen télécharg* descarg* scarica* baixar",
    "upload": "upload* hochladen téléverser subir carica* carregar",
    "reset": "reset* clear* zurücksetz* leeren réinitialis* restablec* limpiar reimpost* limpar",
    "reply": "reply* respond* antwort* répond* rispond* antwoord*",
    "forward": "forward* weiterleit* transfér* reenvi* inoltra* encaminh* doorsturen",
    "move": "move moving verschieb* déplac* mover sposta* verplaats*",
    "copy": "copy* duplicat* kopier* copie* copia*",
    "subscribe": "subscribe subscribing abonn* suscrib* abbona*",
    "unsubscribe": "unsubscrib* abbestell* désabonn* desuscrib*",
    "finish": "finish* complet* done abschließ* fertig* terminer terminar finaliz* conclu* voltooi* afronden",
    "undo": "undo* revert* rückgängig* rétablir deshacer ripristina* desfazer",
    "block": "block* suspend* spam ban sperr* bloqu* blocc* report melden",
}
# Common words of labels, which also have meanings.
FIELD_WORDS = {
    "name": "name nom nombre nome naam",
    "email": "email mail correo courriel emailadresse",
    "street": "street straße strasse rue calle rua straat",
    "city": "city town stadt ort ville ciudad città cidade plaats",
    "phone": "phone telephone telefon téléphone teléfono telefono telefone telefoon",
    "password": "password passwort kennwort contraseña senha wachtwoord",
    "title": "title titel titre título titolo",
    "subject": "subject betreff objet asunto oggetto assunto onderwerp",
    "message": "message nachricht mensaje messaggio mensagem bericht",
    "guests": "guests gäste personnes huéspedes ospiti hóspedes gasten",
    "quantity": "quantity menge anzahl quantité cantidad quantità quantidade aantal",
    "price": "price preis prix precio prezzo preço prijs",
    "date": "date datum fecha",
    "help": "help hilfe aide ayuda aiuto ajuda hulp",
    "basket": "basket cart warenkorb korb panier cesta carrito carrello carrinho winkelwagen",
    "settings": "settings einstellungen paramètres ajustes configuración impostazioni definições instellingen",
}
# If one of these is new in a name, a press would do more or something else.
RISKY_ACTIONS = {"delete", "terminate", "buy", "publish", "unsubscribe", "reset", "sign_out", "block", "cancel"}
PHRASES = re.compile(
    r"\b(sign|log) (in|out|up)\b|\b(check) (out)\b|\b(iniciar|cerrar) (sesión)\b|\b(do) (not)\b|\b(plus) (tard)\b"
)


def split_words(text: str) -> set[str]:
    """Return the words of a text; a verb of two words is one word."""
    plain = re.sub(r"\be-(?=mail)", "e", _simplify(text).replace("’", "'"))
    plain = PHRASES.sub(lambda match: "_".join(each for each in match.groups() if each), plain)
    return set(re.findall(r"[\w']+|[>→»]", plain))


def _simplify(text: str) -> str:
    return " ".join(text.casefold().split())


# Words that change the meaning of a name, and words that do not.
ALTERING_WORDS = split_words(
    "all every everything everyone each none not no never don't do_not without except only later again anyway "
    "instead other another old new confirm repeat first last second alternative test draft copy template "
    "permanently forever alle alles jede nicht ohne nur später erneut andere alt neu bestätigen wiederholen "
    "erste letzte endgültig tout tous toutes toute sans sauf seulement plus_tard autre confirmer todo todos toda "
    "todas sin solo otro otra confirmar tutto tutti tutte senza altro conferma niet zonder alleen"
)
OBJECT_WORDS = split_words(
    "form request order account application details data page file document information entry comment review booking "
    "formular anfrage bestellung konto antrag angaben daten seite datei dokument eintrag kommentar buchung formulaire "
    "demande commande compte page fichier formulario solicitud pedido cuenta datos página archivo"
)
CONFIRM_WORDS = {"confirm", "confirmer", "confirmar", "conferma", "bestätigen", "bevestigen"}
POLITE_WORDS = split_words(
    "a an the this that these those selected your my our its to of for in on at and now please here go ahead let's "
    "us me it up changes änderungen modifications cambios modifiche alterações wijzigingen "
    "der die das den dem ein eine dein deine deinen ihr ihre ihren mein meine unser unsere jetzt bitte "
    "hier zu zum zur le la les l un une votre vos mon ma mes notre el los las su sus tu mi il lo gli i tuo suo o os "
    "as de het een uw jouw mijn du des del della di da do et und y e en > → »"
)

# Languages whose words for failures are known.
KNOWN_LANGUAGES = {"en", "de", "fr", "es", "it", "pt", "nl"}
FAILURE_WORDS = split_words(
    "error errors failed failure invalid required missing wrong not no cannot can't couldn't unable denied rejected "
    "expired fehler fehlgeschlagen gescheitert ungültig ungültige erforderlich fehlt fehlen falsch nicht kein keine "
    "keinen leider konnte abgelehnt abgelaufen erreur échec échoué invalide requis manquant pas aucun impossible "
    "refusé expiré fallo falló fallado inválido inválida obligatorio falta incorrecto ningún imposible rechazado "
    "caducado errore errori fallito fallita valido obbligatorio manca mancante non nessun impossibile scaduto erro "
    "erros falhou não obrigatório nenhum impossível expirado fout fouten mislukt ongeldig verplicht ontbreekt niet "
    "geen onmogelijk verlopen"
)


def compare_names(
    recorded: str,
    present: str,
    context: Iterable[str] = (),
    *,
    is_field: bool = False,
    is_translated: bool = False,
) -> NameLikeness:
    """Compare a recorded name with the current one.

    Args:
        recorded: The recorded name.
        present: The current name.
        context: The texts around the element; the name may have adopted words from them.
        is_field: Whether it is a field, whose label may have become longer.
        is_translated: Whether the page is in another language now.

    Returns:
        `same` for equal names, `akin` if the words or the meaning agree and nothing is added, `similar` if an addition
        does not change the action, `other` if the names do not decide it, `opposed` if the meaning is different.
    """
    if normalize_name(recorded) == normalize_name(present):
        return "same"
    before, after = split_words(normalize_name(recorded)), split_words(normalize_name(present))
    meanings, new_meanings = list_meanings(before), list_meanings(after)
    altered = after - before if is_translated else before ^ after
    altered -= CONFIRM_WORDS if before & CONFIRM_WORDS and after & CONFIRM_WORDS else set()
    if altered & ALTERING_WORDS or any(each[0].isdigit() for each in before ^ after):
        return "opposed"
    if (meanings and new_meanings and not meanings & new_meanings) or (new_meanings - meanings) & RISKY_ACTIONS:
        return "opposed"
    around = set().union(*map(split_words, context))
    actions, new_actions = meanings & ACTION_WORDS.keys(), new_meanings & ACTION_WORDS.keys()
    usual = {word for word in before | after if find_meaning(word) in ACTION_WORDS.keys() | meanings}
    lost, gained = (words - usual - POLITE_WORDS for words in (before - after, after - before))
    if meanings & RISKY_ACTIONS and lost and gained and not is_translated:
        return "opposed"  # "Delete member", "Delete whole team"
    kept = (before & after - POLITE_WORDS) or (meanings & new_meanings)
    kept |= {word for word in before - POLITE_WORDS if {f"{word}s", word.removesuffix("s")} & after}
    added = gained - around
    if not kept or (not is_field and actions != new_actions):
        return "other"
    # "Save" may add what it saves; "Reply privately" or "Place weekly order" are other actions.
    dropped = {word for word in lost if not {f"{word}s", word.removesuffix("s")} & after}
    new = {word for word in added if not {f"{word}s", word.removesuffix("s")} & before}
    is_longer = not dropped and all(find_meaning(word) in FIELD_WORDS or word in OBJECT_WORDS for word in new)
    return "akin" if is_field or not added else "similar" if is_longer else "other"


def asks_for_other_value(recorded: str, present: str) -> bool:
    """Return whether a reworded label asks for another value, or for another unit."""
    before, after = split_words(recorded), split_words(present)
    gained = after - before
    if gained & UNIT_WORDS or (before & UNIT_WORDS) - after or any(each[0].isdigit() for each in before ^ after):
        return True
    # "Year of birth" in place of "Year of licence", "Price per piece" in place of "Price"
    is_qualified = any(each in LINKING_WORDS for each in after)
    return bool(before & after - POLITE_WORDS) and is_qualified and bool(gained - POLITE_WORDS - LINKING_WORDS)


MEASURE_WORDS = split_words(
    "cent cents euro euros eur usd dollar dollars pound pounds gbp franc francs percent prozent kg g gram grams lb lbs "
    "oz ounce ounces ton tons tonne tonnes mg ml cl l liter liters litre litres gallon gallons mm cm m km meter meters "
    "metre metres inch inches foot feet ft yard yards mile miles pcs piece pieces pack packs packet packets box boxes "
    "dozen carton cartons pallet pallets thousand thousands million millions celsius fahrenheit kelvin gross net "
    "brutto netto stück"
)
UNIT_WORDS = MEASURE_WORDS | split_words(
    "second seconds minute minutes hour hours day days week weeks month months year years minuten stunden tage wochen "
    "monate jahre"
)
LINKING_WORDS = split_words(
    "of per in for by as from je pro von für der des por par en de du del della di do da van"  # including genitives
)


def list_units(text: str) -> set[str]:
    """Return the units of the numbers in a text, except units of time."""
    found = re.findall(r"\d\s?(%|€|\$|£|°\s?[cfCF]|[^\W\d_]+)|([€$£])\s?\d", text)
    units = {(after or before).casefold().replace(" ", "") for after, before in found}
    return {each for each in units if each in MEASURE_WORDS or not each.isalpha()}


def is_other_price(recorded: str, present: str, *, is_bought: bool) -> bool:
    """Return whether a price has another currency, or has risen although a press would buy."""
    signs = [re.sub(r"[\d.,\s]", "", each) for each in (recorded, present)]
    return signs[0] != signs[1] or (is_bought and read_amount(present) > read_amount(recorded))


def read_amount(price: str) -> float:
    """Read a price with a comma or point; before three digits it separates thousands."""
    figures = re.sub(r"[^\d.,]", "", price).rstrip(".,")
    whole = re.sub(r"[.,](?=\d{3}(?:\D|$))", "", figures).replace(",", ".")
    return float(whole) if whole.count(".") <= 1 else float(whole.replace(".", ""))


@cache
def find_meaning(word: str) -> str:
    """Return the meaning of a known word; empty for other words."""
    exact, beginnings = _index_meanings()
    if word in exact:
        return exact[word]
    return next((action for start, action in beginnings if word.startswith(start)), "")


def list_meanings(words: Iterable[str]) -> set[str]:
    """Return the meanings of words; of "proceed to payment", only the payment counts."""
    meanings = {meaning for word in words if word not in POLITE_WORDS and (meaning := find_meaning(word))}
    return meanings - {"next"} or meanings


@cache
def _index_meanings() -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """Return the meanings of whole words, and of prefixes, longest first."""
    meanings = ACTION_WORDS | FIELD_WORDS
    pairs = [(word, meaning) for meaning, words in meanings.items() for word in words.split()]
    exact = {word: meaning for word, meaning in pairs if not word.endswith("*")}
    starts = [(word[:-1], meaning) for word, meaning in pairs if word.endswith("*")]
    beginnings = sorted(starts, key=lambda pair: -len(pair[0]))
    return exact, tuple(beginnings)


def normalize_name(name: str) -> str:
    """Return a lower-case name without extra space, final punctuation and count."""
    return re.sub(r"\s*[(\[]\d+[)\]]$", "", _simplify(name)).rstrip(" :*…")
