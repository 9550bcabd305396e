"""Dates as people write them, in some thirty languages, in lines that say when a page was published.

Only what is told whole (day, month and year) and in one way counts: of 04/03/2024 the language decides, and where that
does not say enough there is no date. What was updated then was not published then.
"""

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from functools import lru_cache

# What systems write of a day; the year alone, or with a month, is of use only where it is declared.
ISO_DATE_PATTERN = re.compile(
    r"(\d{4})-(\d{2})(?:-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?)?(?!\d)"
)
COMPACT_DATE_PATTERN = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)(?!\d)")
MIN_PAGE_YEAR, MAX_PAGE_YEAR = 1990, 2099  # years in which a web page can have been published
MAX_DATE_LINE_CHARS = 160  # characters of a line that tells it
# January to December, without accents; languages that share a row's words are not repeated.
MONTH_NAMES = (
    "january february march april may june july august september october november december",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "janner feber maerz april mai juni juli august september oktober november dezember",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "januari februari mars april maj juni juli augusti september oktober november desember",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia",
    "ledna unora brezna dubna kvetna cervna cervence srpna zari rijna listopadu prosince",
    "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
    "januar februar marcius aprilis majus junius julius augusztus szeptember oktober november december",
    "ocak subat mart nisan mayıs haziran temmuz agustos eylul ekim kasım aralık",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
    "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "januari februari maret april mei juni juli agustus september oktober november desember",
    "يناير فبراير مارس ابريل مايو يونيو يوليو اغسطس سبتمبر اكتوبر نوفمبر ديسمبر",
    "ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר",
    "जनवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर",
    "มกราคม กุมภาพันธ์ มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม พฤศจิกายน ธันวาคม",
)
GREEK_MONTHS = (
    "ιανουαριου φεβρουαριου μαρτιου απριλιου μαιου ιουνιου ιουλιου αυγουστου σεπτεμβριου οκτωβριου νοεμβριου δεκεμβριου"
)
FINNISH_MONTHS = (  # its abbreviations are other languages' months
    "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesakuuta heinakuuta elokuuta syyskuuta lokakuuta "
    "marraskuuta joulukuuta"
)
DAY_FRAGMENT, MONTH_FRAGMENT = r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|[ºª.])?", r"(?P<m>\d{1,2})"
MONTH_NAME_FRAGMENT = (
    r"(?P<name>[^\W\d_](?:[^\W\d_]|[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]){1,14})"
)
YEAR_FRAGMENT = r"(?P<y>\d{4})(?!\d)"
DATE_SOURCES = (
    r"(?<!\d)(?P<y>\d{4})([-/.])(?P<m>\d{1,2})\2(?P<d>\d{1,2})(?!\d)",
    rf"(?<!\d)(?P<y>\d{{4}}) ?[年년] ?{MONTH_FRAGMENT} ?[月월] ?(?P<d>\d{{1,2}}) ?[日号일]",
    rf"(?<![\d.,:/]){DAY_FRAGMENT}[ -](?:de |del |of )?{MONTH_NAME_FRAGMENT}[.,]{{0,2}}[ -](?:de |del )?{YEAR_FRAGMENT}",
    rf"(?<![^\W\d_]){MONTH_NAME_FRAGMENT}\.? {DAY_FRAGMENT},? ?{YEAR_FRAGMENT}",
    rf"(?<!\d)(?P<d>\d{{1,2}}) tháng {MONTH_FRAGMENT}(?:,| năm)? ?{YEAR_FRAGMENT}",
    rf"(?<!\d)(?P<y>\d{{4}})\. {MONTH_NAME_FRAGMENT} {DAY_FRAGMENT}",
    rf"(?<![\d./-])(?P<a>\d{{1,2}})(?P<mark>[./-]) ?(?P<b>\d{{1,2}})(?P=mark) ?{YEAR_FRAGMENT}",
)
# Beginnings of the words by which a line says that something was changed, or that somebody came, but not that the page
# was published.
OTHER_EVENT_SOURCE = (
    r"updat|modif|\blast\b|revis|review|edited|check|aktualis|geändert|stand:|mis à jour|mise à jour|actualizad|"
    r"atualizad|aggiornat|bijgewerkt|uppdater|opdater|oppdater|päivite|aktualiz|güncelle|actualizat|frissít|обновл|измен|оновлен|"
    r"ενημερ|更新|修改|수정|업데이트|تحديث|עודכן|अपडेट|อัปเดต|cập nhật|diperbarui|join|regist|member|©|copyright|expire|"
    r"deadline|born|until|valid"
)
# And of those by which it says that it was.
PUBLISHED_SOURCE = r"publi|post|veröff|erschien|gepub|wrote|writt|press release|filed"


def parse_declared_date(value: str) -> str:
    """A date or date-time in ISO 8601 of what was declared as one; empty if it is none."""
    value = value.strip()
    if found := ISO_DATE_PATTERN.match(value):
        return (
            found[0].replace(" ", "T", 1).replace(" ", "") if _is_valid_day(found[1], found[2], found[3] or "1") else ""
        )
    if found := COMPACT_DATE_PATTERN.match(value):
        return f"{found[1]}-{found[2]}-{found[3]}" if _is_valid_day(*found.groups()) else ""
    return next(iter(find_line_dates(value)), "")


def _is_valid_day(year: str, month: str, day: str) -> bool:
    min_declared_year = 1900  # year of what can be declared as published
    unset_clock_dates = ("1970-01-01", "1969-12-31")  # what a clock shows that was never set
    if not min_declared_year <= int(year) <= MAX_PAGE_YEAR or f"{year}-{month}-{day}" in unset_clock_dates:
        return False
    try:
        return bool(date(int(year), int(month), int(day)))
    except ValueError:
        return False


def find_line_dates(line: str, language: str = "") -> list[str]:
    """The dates that a short line tells, as ISO 8601, without those of changes, of joining and the like.

    Args:
        line: A block's text; one of more than 160 characters tells none.
        language: A BCP 47 tag, which decides between the orders of numbers; may be empty.
    """
    if len(line) > MAX_DATE_LINE_CHARS or not any(map(str.isdigit, line)) or _is_sentence(line):
        return []
    found = sorted(_iter_dates(line, language.lower()))
    edges = [0, *(end for _, end, _ in found)]
    pairs = zip(found, edges, strict=False)
    return [day for (start, _, day), before in pairs if not _compile_other_pattern().search(line, before, start)]


def _is_sentence(line: str) -> bool:
    """Whether a line tells a story rather than when and by whom: it ends as sentences do, and is longer."""
    max_words = 5  # of a line that may end in a full stop
    return line[-1:] in ".!?。！？।" and line.count(" ") > max_words and not _compile_published_pattern().search(line)


def is_other_event(line: str) -> bool:
    """Whether a line speaks of a change, of joining and the like."""
    return len(line) <= MAX_DATE_LINE_CHARS and _compile_other_pattern().search(line) is not None


def _iter_dates(line: str, language: str) -> Iterator[tuple[int, int, str]]:
    """Begin, end and date of each; a place is read in one way."""
    taken: set[int] = set()
    for shape in _compile_date_patterns():
        for match in shape.finditer(line):
            if match.start("y") not in taken and (day := _format_match(match.groupdict(), language)):
                taken.add(match.start("y"))
                yield match.start(), match.end(), day


@lru_cache(maxsize=1)
def _compile_date_patterns() -> list[re.Pattern[str]]:
    return [re.compile(shape) for shape in DATE_SOURCES]


@lru_cache(maxsize=1)
def _compile_published_pattern() -> re.Pattern[str]:
    return re.compile(PUBLISHED_SOURCE, re.IGNORECASE)


@lru_cache(maxsize=1)
def _compile_other_pattern() -> re.Pattern[str]:
    return re.compile(OTHER_EVENT_SOURCE, re.IGNORECASE)


def _format_match(found: dict[str, str | None], language: str) -> str:
    """The date of a match; empty if there is no such day, or if it can be read in two ways."""
    buddhist_offset_years = 543  # years by which Thailand's count is ahead
    year = int(found["y"] or 0)
    year -= buddhist_offset_years if year > MAX_PAGE_YEAR + 100 else 0
    if found.get("name"):
        month, day = _build_month_table().get(_fold_word(found["name"] or ""), 0), int(found["d"] or 0)
    elif found.get("a"):
        day, month = _order_day_month(int(found["a"] or 0), int(found["b"] or 0), found["mark"] or "", language)
    else:
        month, day = int(found["m"] or 0), int(found["d"] or 0)
    try:
        return date(year, month, day).isoformat() if MIN_PAGE_YEAR <= year <= MAX_PAGE_YEAR else ""
    except ValueError:
        return ""


def _order_day_month(first: int, second: int, mark: str, language: str) -> tuple[int, int]:
    """Day and month; 0 and 0 where either number can be either."""
    ambiguous_languages = ("en", "en-ca")  # and in which it can be both
    month_first_languages = ("en-us", "en-ph", "fil")  # languages in which 04/03 is in April
    if mark == "." or first > 12 or first == second:
        return first, second
    if second > 12 or language.startswith(month_first_languages):
        return second, first
    return (0, 0) if not language or language in ambiguous_languages else (first, second)


@lru_cache(maxsize=1)
def _build_month_table() -> dict[str, int]:
    """The month of each name and of its abbreviations, unless two months share one."""
    abbreviation_lengths = (3, 4)  # letters of abbreviations
    found: dict[str, set[int]] = {}
    for row in (*MONTH_NAMES, GREEK_MONTHS):
        for month, name in enumerate(map(_fold_word, row.split()), start=1):
            for word in (name[:size] for size in abbreviation_lengths):
                found.setdefault(word, set()).add(month)
    known = {word: min(months) for word, months in found.items() if len(months) == 1}
    whole = (
        (name, month)
        for row in (*MONTH_NAMES, GREEK_MONTHS, FINNISH_MONTHS)
        for month, name in enumerate(row.split(), start=1)
    )
    return known | {_fold_word(name): month for name, month in whole}


def _fold_word(word: str) -> str:
    """A word in small letters without accents; Hebrew's and Arabic's prefixes and spellings of alef left off."""
    plain = "".join(each for each in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(each))
    return plain.replace("\u0623", "\u0627").removeprefix("\u05d1") if plain > "\u0590" else plain
