"""Detect the language of a text, as far as there is a stemmer for it."""

from outrider.core.language import identify_language

STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "no": "norwegian",
    "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
# Frequent words that hardly occur in texts of other languages, two of them together least of all.
ENGLISH_WORDS = frozenset({"the", "of", "and", "with", "which", "from", "that", "are"})


def detect_language(text: str, declared: str = "") -> str:
    """Return the name of the stemmer for a text; empty where there is none.

    Args:
        text: The text. Where it is too short to tell, ASCII counts as English: words are indexed unstemmed, too, so a
            wrong guess costs little.
        declared: A BCP 47 tag that the document itself declares; it takes precedence.
    """
    min_chars = 40  # a shorter text does not tell its language
    min_probability = 0.5  # a list of names and numbers has less
    short_chars = 500  # in a shorter one, terms of a subject mislead the detector
    sample_chars = 20_000
    if known := STEMMERS.get(declared.lower().split("-")[0]):
        return known

    sample = text[:sample_chars]
    if len(sample) < short_chars and sample.isascii() and len(ENGLISH_WORDS.intersection(sample.lower().split())) > 1:
        return "english"
    if len(sample) >= min_chars:
        detected, probability = identify_language(sample)
        if detected in STEMMERS and probability > min_probability:
            return STEMMERS[detected]
    return "english" if sample.isascii() else ""
