"""Parse dates of publication in some thirty languages.

Only complete, unambiguous dates count: the language decides how 04/03/2024 reads, and without one no date is returned.
The time of an update is not the time of publication.
"""

import re
import unicodedata
from datetime import date
from functools import lru_cache

# Dates as software writes them. A year with a month alone counts only if it is declared.
ISO_DATE_PATTERN = re.compile(
    r"(\d{4})-(\d{2})(?:-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?)?(?!\d)"
)
COMPACT_DATE_PATTERN = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)(?!\d)")
MIN_PAGE_YEAR, MAX_PAGE_YEAR = 1990, 2099
MAX_DATE_LINE_CHARS = 160
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
FINNISH_MONTHS = (  # without abbreviations, which mean other months in other languages
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
    (
        rf"(?<![\d.,:/]){DAY_FRAGMENT}[ -](?:de |del |of )?{MONTH_NAME_FRAGMENT}"
        rf"[.,]{{0,2}}[ -](?:de |del )?{YEAR_FRAGMENT}"
    ),
    rf"(?<![^\W\d_]){MONTH_NAME_FRAGMENT}\.? {DAY_FRAGMENT},? ?{YEAR_FRAGMENT}",
    rf"(?<!\d)(?P<d>\d{{1,2}}) tháng {MONTH_FRAGMENT}(?:,| năm)? ?{YEAR_FRAGMENT}",
    rf"(?<!\d)(?P<y>\d{{4}})\. {MONTH_NAME_FRAGMENT} {DAY_FRAGMENT}",
    rf"(?<![\d./-])(?P<a>\d{{1,2}})(?P<mark>[./-]) ?(?P<b>\d{{1,2}})(?P=mark) ?{YEAR_FRAGMENT}",
)
# Beginnings of words for events other than publication, such as updates and registrations.
OTHER_EVENT_SOURCE = (
    r"updat|modif|\blast\b|revis|review|edited|check|aktualis|geändert|stand:|mis à jour|mise à jour|actualizad|"
    r"atualizad|aggiornat|bijgewerkt|uppdater|opdater|oppdater|päivite|aktualiz|güncelle|actualizat|frissít|обновл|измен|оновлен|"
    r"ενημερ|更新|修改|수정|업데이트|تحديث|עודכן|अपडेट|อัปเดต|cập nhật|diperbarui|join|regist|member|©|copyright|expire|"
    r"deadline|born|until|valid"
)
# Beginnings of words for publication.
PUBLISHED_SOURCE = r"publi|post|veröff|erschien|gepub|wrote|writt|press release|filed"


def parse_declared_date(value: str) -> str:
    """Return a declared date or time in ISO 8601, or ""."""
    value = value.strip()
    if match := ISO_DATE_PATTERN.match(value):
        is_valid = _is_valid_day(match[1], match[2], match[3] or "1")
        return match[0].replace(" ", "T", 1).replace(" ", "") if is_valid else ""
    if match := COMPACT_DATE_PATTERN.match(value):
        return f"{match[1]}-{match[2]}-{match[3]}" if _is_valid_day(*match.groups()) else ""
    return next(iter(find_line_dates(value)), "")


def _is_valid_day(year: str, month: str, day: str) -> bool:
    min_declared_year = 1900
    unset_clock_dates = ("1970-01-01", "1969-12-31")
    if not min_declared_year <= int(year) <= MAX_PAGE_YEAR or f"{year}-{month}-{day}" in unset_clock_dates:
        return False
    try:
        return bool(date(int(year), int(month), int(day)))
    except ValueError:
        return False


def find_line_dates(line: str, language: str = "") -> list[str]:
    """Return a short line's publication dates as ISO 8601.

    Dates of updates, registrations and the like are left out.

    Args:
        line: A block's text. Lines of more than 160 characters have no dates.
        language: A BCP 47 tag, or "", which decides the order of day and month.
    """
    max_spaces = 5  # a longer line with a full stop is a sentence of a story
    if len(line) > MAX_DATE_LINE_CHARS or not any(map(str.isdigit, line)):
        return []
    is_sentence = line[-1:] in ".!?。！？।" and line.count(" ") > max_spaces
    if is_sentence and not _compile_published_pattern().search(line):
        return []
    dates = match_dates(line, language)
    edges = [0, *(end for _, end, _ in dates)]
    pairs = zip(dates, edges, strict=False)
    return [day for (start, _, day), before in pairs if not _compile_other_pattern().search(line, before, start)]


def match_dates(line: str, language: str = "", min_year: int = MIN_PAGE_YEAR) -> list[tuple[int, int, str]]:
    """Return the start, end and ISO 8601 form of each date in a line, in their order."""
    dates: list[tuple[int, int, str]] = []
    used_years: set[int] = set()  # each year belongs to one date
    for pattern in _compile_date_patterns():
        for match in pattern.finditer(line):
            day = _format_match(match.groupdict(), language.lower(), min_year)
            if day and match.start("y") not in used_years:
                used_years.add(match.start("y"))
                dates.append((match.start(), match.end(), day))
    return sorted(dates)


def is_other_event(line: str) -> bool:
    """Return whether a line is about an update, a registration or the like."""
    return len(line) <= MAX_DATE_LINE_CHARS and _compile_other_pattern().search(line) is not None


@lru_cache(maxsize=1)
def _compile_date_patterns() -> list[re.Pattern[str]]:
    return [re.compile(shape) for shape in DATE_SOURCES]


@lru_cache(maxsize=1)
def _compile_published_pattern() -> re.Pattern[str]:
    return re.compile(PUBLISHED_SOURCE, re.IGNORECASE)


@lru_cache(maxsize=1)
def _compile_other_pattern() -> re.Pattern[str]:
    return re.compile(OTHER_EVENT_SOURCE, re.IGNORECASE)


def _format_match(groups: dict[str, str | None], language: str, min_year: int) -> str:
    """Return a match's date, or "" if it is invalid or ambiguous."""
    buddhist_offset_years = 543  # of the Thai calendar
    year = int(groups["y"] or 0)
    year -= buddhist_offset_years if year > MAX_PAGE_YEAR + 100 else 0
    if groups.get("name"):
        month, day = _build_month_table().get(_fold_word(groups["name"] or ""), 0), int(groups["d"] or 0)
    elif groups.get("a"):
        day, month = _order_day_month(int(groups["a"] or 0), int(groups["b"] or 0), groups["mark"] or "", language)
    else:
        month, day = int(groups["m"] or 0), int(groups["d"] or 0)
    try:
        return date(year, month, day).isoformat() if min_year <= year <= MAX_PAGE_YEAR else ""
    except ValueError:
        return ""


def _order_day_month(first: int, second: int, mark: str, language: str) -> tuple[int, int]:
    """Return day and month, or zeros if the order is ambiguous."""
    month_first_languages = ("en-us", "en-ph", "fil")  # 04/03 is in April
    ambiguous_languages = ("en", "en-ca")
    if mark == "." or first > 12 or first == second:
        return first, second
    if second > 12 or language.startswith(month_first_languages):
        return second, first
    return (0, 0) if not language or language in ambiguous_languages else (first, second)


@lru_cache(maxsize=1)
def _build_month_table() -> dict[str, int]:
    """Build the month of each name and abbreviation that no other month shares."""
    months_by_abbreviation: dict[str, set[int]] = {}
    for row in (*MONTH_NAMES, GREEK_MONTHS):
        for month, name in enumerate(map(_fold_word, row.split()), start=1):
            for abbreviation in (name[:3], name[:4]):
                months_by_abbreviation.setdefault(abbreviation, set()).add(month)
    abbreviations = {word: min(months) for word, months in months_by_abbreviation.items() if len(months) == 1}
    full_names = (
        (name, month)
        for row in (*MONTH_NAMES, GREEK_MONTHS, FINNISH_MONTHS)
        for month, name in enumerate(row.split(), start=1)
    )
    return abbreviations | {_fold_word(name): month for name, month in full_names}


def _fold_word(word: str) -> str:
    """Return a lower-case word without accents, Hebrew prefixes and variants of alef."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return plain.replace("\u0623", "\u0627").removeprefix("\u05d1") if plain > "\u0590" else plain
