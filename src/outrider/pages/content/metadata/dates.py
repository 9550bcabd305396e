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
WRITTEN = re.compile(
    r"(\d{4})-(\d{2})(?:-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?)?(?!\d)"
)
RUN = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)(?!\d)")
NEVER = ("1970-01-01", "1969-12-31")  # what a clock shows that was never set
FIRST = 1900  # year of what can be declared as published
EARLIEST, LATEST = 1990, 2099  # years in which a web page can have been published
LONGEST = 160  # characters of a line that tells it
BUDDHIST = 543  # years by which Thailand's count is ahead
SHORT = (3, 4)  # letters of abbreviations
MONTHS_FIRST = ("en-us", "en-ph", "fil")  # languages in which 04/03 is in April
EITHER = ("en", "en-ca")  # and in which it can be both
# January to December, without accents; languages that share a row's words are not repeated.
NAMES = (
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
GREEK = (
    "ιανουαριου φεβρουαριου μαρτιου απριλιου μαιου ιουνιου ιουλιου αυγουστου σεπτεμβριου οκτωβριου νοεμβριου δεκεμβριου"
)
FINNISH = (  # its abbreviations are other languages' months
    "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesakuuta heinakuuta elokuuta syyskuuta lokakuuta "
    "marraskuuta joulukuuta"
)
D, M = r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|[ºª.])?", r"(?P<m>\d{1,2})"
NAME = r"(?P<name>[^\W\d_](?:[^\W\d_]|[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]){1,14})"
Y = r"(?P<y>\d{4})(?!\d)"
SHAPES = (
    r"(?<!\d)(?P<y>\d{4})([-/.])(?P<m>\d{1,2})\2(?P<d>\d{1,2})(?!\d)",
    rf"(?<!\d)(?P<y>\d{{4}}) ?[年년] ?{M} ?[月월] ?(?P<d>\d{{1,2}}) ?[日号일]",
    rf"(?<![\d.,:/]){D}[ -](?:de |del |of )?{NAME}[.,]{{0,2}}[ -](?:de |del )?{Y}",
    rf"(?<![^\W\d_]){NAME}\.? {D},? ?{Y}",
    rf"(?<!\d)(?P<d>\d{{1,2}}) tháng {M}(?:,| năm)? ?{Y}",
    rf"(?<!\d)(?P<y>\d{{4}})\. {NAME} {D}",
    rf"(?<![\d./-])(?P<a>\d{{1,2}})(?P<mark>[./-]) ?(?P<b>\d{{1,2}})(?P=mark) ?{Y}",
)
# Beginnings of the words by which a line says that something was changed, or that somebody came, but not that the page
# was published.
OTHERS = (
    r"updat|modif|\blast\b|revis|review|edited|check|aktualis|geändert|stand:|mis à jour|mise à jour|actualizad|"
    r"atualizad|aggiornat|bijgewerkt|uppdater|opdater|oppdater|päivite|aktualiz|güncelle|actualizat|frissít|обновл|измен|оновлен|"
    r"ενημερ|更新|修改|수정|업데이트|تحديث|עודכן|अपडेट|อัปเดต|cập nhật|diperbarui|join|regist|member|©|copyright|expire|"
    r"deadline|born|until|valid"
)
# And of those by which it says that it was.
TOLD = r"publi|post|veröff|erschien|gepub|wrote|writt|press release|filed"
WORDS = 5  # of a line that may end in a full stop


def declared_date(value: str) -> str:
    """A date or date-time in ISO 8601 of what was declared as one; empty if it is none."""
    value = value.strip()
    if found := WRITTEN.match(value):
        return found[0].replace(" ", "T", 1).replace(" ", "") if _is_day(found[1], found[2], found[3] or "1") else ""
    if found := RUN.match(value):
        return f"{found[1]}-{found[2]}-{found[3]}" if _is_day(*found.groups()) else ""
    return next(iter(dates_in(value)), "")


def _is_day(year: str, month: str, day: str) -> bool:
    if not FIRST <= int(year) <= LATEST or f"{year}-{month}-{day}" in NEVER:
        return False
    try:
        return bool(date(int(year), int(month), int(day)))
    except ValueError:
        return False


def dates_in(line: str, language: str = "") -> list[str]:
    """The dates that a short line tells, as ISO 8601, without those of changes, of joining and the like.

    Args:
        line: A block's text; one of more than 160 characters tells none.
        language: A BCP 47 tag, which decides between the orders of numbers; may be empty.
    """
    if len(line) > LONGEST or not any(map(str.isdigit, line)) or _is_sentence(line):
        return []
    found = sorted(_all(line, language.lower()))
    edges = [0, *(end for _, end, _ in found)]
    pairs = zip(found, edges, strict=False)
    return [day for (start, _, day), before in pairs if not _others().search(line, before, start)]


def _is_sentence(line: str) -> bool:
    """Whether a line tells a story rather than when and by whom: it ends as sentences do, and is longer."""
    return line[-1:] in ".!?。！？।" and line.count(" ") > WORDS and not _told().search(line)


def is_other(line: str) -> bool:
    """Whether a line speaks of a change, of joining and the like."""
    return len(line) <= LONGEST and _others().search(line) is not None


def _all(line: str, language: str) -> Iterator[tuple[int, int, str]]:
    """Begin, end and date of each; a place is read in one way."""
    taken: set[int] = set()
    for shape in _shapes():
        for match in shape.finditer(line):
            if match.start("y") not in taken and (day := _day(match.groupdict(), language)):
                taken.add(match.start("y"))
                yield match.start(), match.end(), day


@lru_cache(maxsize=1)
def _shapes() -> list[re.Pattern[str]]:
    return [re.compile(shape) for shape in SHAPES]


@lru_cache(maxsize=1)
def _told() -> re.Pattern[str]:
    return re.compile(TOLD, re.IGNORECASE)


@lru_cache(maxsize=1)
def _others() -> re.Pattern[str]:
    return re.compile(OTHERS, re.IGNORECASE)


def _day(found: dict[str, str | None], language: str) -> str:
    """The date of a match; empty if there is no such day, or if it can be read in two ways."""
    year = int(found["y"] or 0)
    year -= BUDDHIST if year > LATEST + 100 else 0
    if found.get("name"):
        month, day = _months().get(_folded(found["name"] or ""), 0), int(found["d"] or 0)
    elif found.get("a"):
        day, month = _ordered(int(found["a"] or 0), int(found["b"] or 0), found["mark"] or "", language)
    else:
        month, day = int(found["m"] or 0), int(found["d"] or 0)
    try:
        return date(year, month, day).isoformat() if EARLIEST <= year <= LATEST else ""
    except ValueError:
        return ""


def _ordered(first: int, second: int, mark: str, language: str) -> tuple[int, int]:
    """Day and month; 0 and 0 where either number can be either."""
    if mark == "." or first > 12 or first == second:
        return first, second
    if second > 12 or language.startswith(MONTHS_FIRST):
        return second, first
    return (0, 0) if not language or language in EITHER else (first, second)


@lru_cache(maxsize=1)
def _months() -> dict[str, int]:
    """The month of each name and of its abbreviations, unless two months share one."""
    found: dict[str, set[int]] = {}
    for row in (*NAMES, GREEK):
        for month, name in enumerate(map(_folded, row.split()), start=1):
            for word in (name[:size] for size in SHORT):
                found.setdefault(word, set()).add(month)
    known = {word: min(months) for word, months in found.items() if len(months) == 1}
    whole = ((name, month) for row in (*NAMES, GREEK, FINNISH) for month, name in enumerate(row.split(), start=1))
    return known | {_folded(name): month for name, month in whole}


def _folded(word: str) -> str:
    """A word in small letters without accents; Hebrew's and Arabic's prefixes and spellings of alef left off."""
    plain = "".join(each for each in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(each))
    return plain.replace("\u0623", "\u0627").removeprefix("\u05d1") if plain > "\u0590" else plain
