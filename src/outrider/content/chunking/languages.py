"""Which language a text is in, as far as there is a stemmer for it."""

from resiliparse.parse.lang import detect_fast

STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "no": "norwegian",
    "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip


def detect_language(text: str, declared: str = "") -> str:
    """The name of the stemmer for the text; empty where there is none.

    Args:
        text: The text itself. Where it is too short to tell, plain Latin letters count as English: words are kept
            unstemmed, too, so a wrong guess costs little.
        declared: A BCP 47 tag that the document itself names, which is believed.
    """
    min_chars = 40  # characters below which nothing can be told
    sample_chars = 20_000  # characters that tell a language
    if known := STEMMERS.get(declared.lower().split("-")[0]):
        return known

    sample = text[:sample_chars]
    found = detect_fast(sample)[0] if len(sample) >= min_chars else ""
    if found in STEMMERS:
        return STEMMERS[found]
    return "english" if sample.isascii() else ""
