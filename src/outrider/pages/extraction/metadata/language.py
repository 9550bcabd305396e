"""The language of a page: what it declares, unless its text is plainly another's."""

import re

from resiliparse.parse.lang import detect_fast

# What the detector calls otherwise, or cannot tell apart by spelling alone.
LANGUAGE_ALIASES = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "fil": "tl", "yue": "zh", "cmn": "zh"}
SIMILAR_LANGUAGES = ({"hr", "sr", "bs", "sh", "cnr"}, {"id", "ms"}, {"cs", "sk"}, {"no", "da"}, {"hi", "mr", "ne"})
# Languages that few pages are in, each so near to a common one that it would leave that one in doubt.
RARE_LANGUAGES = frozenset(
    {"lb", "fy", "af", "gl", "la", "fo", "mt", "jv", "sd", "sc", "rm", "io", "vo", "eo", "ga", "gd", "br"}
)
# Words of which no text of another language has so many, in characters for each: then what is declared is so.
COMMON_WORDS = {"en": (" the ", " and ", " of ", " to "), "de": (" der ", " die ", " und ", " ist ")}
# Scripts that one living language writes, or nearly so, and the share of a text's characters from which it is that one.
LANGUAGE_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30ff]"), 0.1),
    ("ko", re.compile("[\uac00-\ud7a3]"), 0.3),
    ("zh", re.compile("[\u4e00-\u9fff]"), 0.4),
    ("th", re.compile("[\u0e01-\u0e4e]"), 0.4),
    ("el", re.compile("[\u0386-\u03ce]"), 0.4),
)
DISTINCT_SCRIPT_PATTERN = re.compile(
    "[\u0386-\u03ce\u0e01-\u0e4e\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3]"
)  # any of them


def detect_language(declared: str, text: str) -> str:
    """A BCP 47 tag: the declared one, or the language of a longer text that it cannot be; empty if nothing tells."""
    min_script_chars = 60  # nor below these by its script
    min_word_chars = 200  # below these a text does not tell by its words
    sample_chars = 3_000  # characters of text that are looked at
    sample = text[:sample_chars]
    primary = declared.partition("-")[0].lower()
    primary = LANGUAGE_ALIASES.get(primary, primary)
    if len(sample) >= min_script_chars and not sample.isascii() and (written := _detect_by_script(sample)):
        return declared if primary == written else written
    if len(sample) < min_word_chars or _has_common_words(sample, primary):
        return declared
    return _detect_by_words(sample, primary) or declared


def _has_common_words(sample: str, primary: str) -> bool:
    """Whether a text is full of the commonest words of a language, which costs a thirtieth of a detector."""
    max_chars_per_word = 100
    return sum(map(sample.count, COMMON_WORDS.get(primary, ()))) * max_chars_per_word > len(sample)


def _detect_by_script(sample: str) -> str:
    min_script_share = 0.1
    if len(DISTINCT_SCRIPT_PATTERN.findall(sample)) <= min_script_share * len(sample):
        return ""
    return next(
        (name for name, letters, share in LANGUAGE_SCRIPTS if len(letters.findall(sample)) > share * len(sample)), ""
    )


def _detect_by_words(sample: str, primary: str) -> str:
    """The language that a text plainly is; empty if it may as well be the declared one, or nothing is plain."""
    max_candidates = 8  # languages that are compared
    max_declared_gap = 80  # what is declared is believed if it is no further from the text than this
    # How much nearer to one language than to the next a text must be. Of 1,546 pages with a language of their own, those
    # that were told wrongly (names, prices, lists of products) had 20 or less, texts of sentences 40 and more.
    min_distance_gap = 40
    told = detect_fast(sample, n_results=max_candidates)
    if not isinstance(told, list) or not told or told[0][0] in RARE_LANGUAGES:
        return ""
    found = [each for each in told if each[0] not in RARE_LANGUAGES or each[0] == primary]
    best, distance = found[0]
    if len(found) > 1 and found[1][1] - distance < min_distance_gap:
        return ""
    near = any(language == primary and other - distance < max_declared_gap for language, other in found)
    return "" if near or any({primary, best} <= kin for kin in SIMILAR_LANGUAGES) else best
