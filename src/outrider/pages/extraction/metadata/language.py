"""Determine a page's language: the declared one unless the text is clearly another."""

import re

from outrider.core.language import identify_language

# Other names of the detector, and languages that it cannot distinguish by spelling.
LANGUAGE_ALIASES = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "fil": "tl", "yue": "zh", "cmn": "zh"}
SIMILAR_LANGUAGES = ({"hr", "sr", "bs", "sh", "cnr"}, {"id", "ms"}, {"cs", "sk"}, {"no", "da"}, {"hi", "mr", "ne"})
# Scripts of one living language, or nearly so, and the least share of a text's characters.
LANGUAGE_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30ff]"), 0.1),
    ("ko", re.compile("[\uac00-\ud7a3]"), 0.3),
    ("zh", re.compile("[\u4e00-\u9fff]"), 0.4),
    ("th", re.compile("[\u0e01-\u0e4e]"), 0.4),
    ("el", re.compile("[\u0386-\u03ce]"), 0.4),
)
DISTINCT_SCRIPT_PATTERN = re.compile("[\u0386-\u03ce\u0e01-\u0e4e\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")


def detect_language(declared: str, text: str) -> str:
    """Return a BCP 47 tag, or "" if nothing indicates a language.

    This is the declared language, or that of a longer text that cannot be in it.
    """
    min_script_chars, min_script_share = 60, 0.1  # to detect a language by its script
    min_word_chars = 200  # to detect a language by its words
    max_chars_per_common_word = 100  # then the declared language is right, which is faster than a detector
    common_words = {"en": (" the ", " and ", " of ", " to "), "de": (" der ", " die ", " und ", " ist ")}
    sample_chars = 3_000
    sample = text[:sample_chars]
    primary = declared.partition("-")[0].lower()
    primary = LANGUAGE_ALIASES.get(primary, primary)
    if len(sample) >= min_script_chars and not sample.isascii():
        has_script = len(DISTINCT_SCRIPT_PATTERN.findall(sample)) > min_script_share * len(sample)
        for name, letters, share in LANGUAGE_SCRIPTS if has_script else ():
            if len(letters.findall(sample)) > share * len(sample):
                return declared if primary == name else name
    word_count = sum(map(sample.count, common_words.get(primary, ())))
    if len(sample) < min_word_chars or word_count * max_chars_per_common_word > len(sample):
        return declared
    return _detect_by_words(sample, primary) or declared


def _detect_by_words(sample: str, primary: str) -> str:
    """Return the language that a text clearly is, or "".

    It is "" if the language may be the declared one.
    """
    min_probability = 0.95  # names and prices have less
    found, probability = identify_language(sample)
    language = LANGUAGE_ALIASES.get(found, found)
    is_declared = language == primary or any({primary, language} <= similar for similar in SIMILAR_LANGUAGES)
    return "" if is_declared or probability < min_probability else language
