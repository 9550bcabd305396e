"""Bytes become the text that their author wrote, even if the server declares otherwise."""

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.pages.extract import extract
from outrider.pages.mime.charset import decode_body, detect_wide_charset
from outrider.pages.mime.latin_charsets import CHARSET_TABLES
from outrider.pages.mime.sniff import detect_mime_type

SAMPLES = {
    "shift_jis": "日本語の文章は漢字とひらがなとカタカナで書かれています。東京は日本の首都です。",
    "gbk": "中文网页有时用国标码写成，汉字很多，所以检测不难。北京是中国的首都。",
    "windows-1251": "Русский текст в старой кодировке ещё встречается на многих сайтах.",
    "iso-8859-8": "עברית נכתבת מימין לשמאל, וקידודים ישנים עדיין קיימים ברשת.",
    "euc-kr": "한국어 문서는 오래된 부호화로 쓰인 것도 있습니다. 서울은 수도입니다.",
    "big5": "繁體中文網頁常用大五碼編寫。臺北是臺灣的首都。",
    "windows-1252": "Où est passée la garçonne? Être ou ne pas être — “œuvre”.",
}


@pytest.mark.parametrize("label", SAMPLES)
def test_a_declared_charset_is_used(label: str):
    codec = {"shift_jis": "cp932", "big5": "big5hkscs", "euc-kr": "cp949"}.get(label, label)
    assert decode_body(SAMPLES[label].encode(codec), label)[0] == SAMPLES[label]


@pytest.mark.parametrize("label", SAMPLES)
def test_the_documents_declared_charset_is_used_if_the_server_gives_none(label: str):
    codec = {"shift_jis": "cp932", "big5": "big5hkscs", "euc-kr": "cp949"}.get(label, label)
    page = f'<html><head><meta http-equiv="Content-Type" content="text/html; charset={label}">{SAMPLES[label]}'
    assert decode_body(page.encode(codec))[0] == page


@pytest.mark.parametrize("label", ["shift_jis", "gbk", "windows-1251", "euc-kr"])
def test_an_undeclared_charset_is_detected(label: str):
    text = SAMPLES[label] * 4
    assert decode_body(text.encode({"shift_jis": "cp932", "euc-kr": "cp949"}.get(label, label)))[0] == text


def test_persian_and_thai_are_detected_by_their_letters():
    persian = "اين صفحه به زبان فارسي نوشته شده است و گاهي هنوز با حروف قديمي ديده مي شود"
    thai = "หน้าเว็บภาษาไทยรุ่นเก่ายังใช้รหัสอักขระแบบเดิมอยู่บ้าง"
    assert decode_body(persian.encode("cp1256")) == (persian, "windows-1256")
    assert decode_body(thai.encode("cp874")) == (thai, "windows-874")


@pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1251", "gbk", "us-ascii"])
def test_utf8_with_another_declared_charset_is_still_utf8(declared: str):
    assert decode_body("Ж — 漢字 — é".encode(), declared) == ("Ж — 漢字 — é", "utf-8")


@pytest.mark.parametrize(
    "label", ["utf-8", None, "klingon-1", "utf-7", "replacement", "\x00", "hex", "base64", "rot13"]
)
def test_an_unknown_or_useless_label_is_ignored(label: str | None):
    assert decode_body("naïve café".encode(), label)[0] == "naïve café"


@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe", "utf-16le"),
        (b"\xfe\xff", "utf-16be"),
        (b"\xff\xfe\0\0", "utf-32le"),
        (b"\0\0\xfe\xff", "utf-32be"),
    ],
)
def test_a_byte_order_mark_beats_every_declaration(mark: bytes, codec: str):
    assert decode_body(mark + "Grüße 漢字".encode(codec), "windows-1251")[0] == "Grüße 漢字"


def test_a_declaration_after_many_scripts_is_found():
    page = "<script>" + "x" * 3_000 + '</script><meta charset="windows-1251">Привет'
    assert decode_body(page.encode("windows-1251"))[0].endswith("Привет")


def test_a_meta_element_that_claims_utf16_is_ignored():
    assert decode_body(b'<meta charset="utf-16">plain words')[0].endswith("plain words")


def test_utf8_truncated_within_a_character_stays_utf8():
    assert decode_body("漢字かな".encode()[:-1])[0].startswith("漢字か")


def test_utf8_with_a_broken_byte_stays_utf8():
    body = "Все люди рождаются свободными".encode() * 5 + b"\xff" + "и равными".encode()
    assert "равными" in decode_body(body, "utf-8")[0]


@given(st.binary(max_size=300), st.one_of(st.none(), st.text(max_size=12), st.sampled_from(sorted(SAMPLES))))
def test_any_bytes_and_any_label_are_decoded(body: bytes, label: str | None):
    assert isinstance(decode_body(body, label)[0], str)


TEXT_BY_LANGUAGE = {
    "ru": "Гавань была углублена в 1851 году, чтобы большие корабли могли выгружать зерно. Купцы построили склады.",
    "he": "הנמל של העיר נחפר בשנת 1851 כדי שאוניות גדולות יוכלו לפרוק בו תבואה מכל רחבי הים.",
    "el": "Το λιμάνι της πόλης βυθοκορήθηκε το 1851 ώστε να δέχεται μεγάλα πλοία.",
    "ja": "港は1851年に浚渫され、より大きな船が穀物を陸揚げできるようになった。",
    "fr": "Où est passée la garçonne, créée à l'été dernier, près de là où naquit l'été? Être ou ne pas être.",
}


@pytest.mark.parametrize(
    ("language", "codec", "declared"),
    [
        ("ru", "cp1251", "iso-8859-1"),
        ("ru", "koi8-r", "iso-8859-1"),
        ("ru", "koi8-r", "windows-1251"),
        ("ru", "cp1251", "koi8-r"),
        ("he", "cp1255", "iso-8859-1"),
        ("el", "iso-8859-7", "windows-1252"),
        ("ja", "cp932", "iso-8859-1"),
    ],
)
def test_a_charset_that_the_text_contradicts_is_ignored(language: str, codec: str, declared: str):
    assert decode_body(TEXT_BY_LANGUAGE[language].encode(codec), declared)[0] == TEXT_BY_LANGUAGE[language]


@pytest.mark.parametrize(
    ("language", "codec"), [("ru", "cp1251"), ("ru", "koi8-r"), ("he", "cp1255"), ("fr", "cp1252")]
)
def test_a_charset_that_fits_the_text_is_used(language: str, codec: str):
    assert decode_body(TEXT_BY_LANGUAGE[language].encode(codec), codec)[0] == TEXT_BY_LANGUAGE[language]


def test_a_documents_charset_overrides_the_servers_default():
    page = '<meta charset="windows-1251">Да'
    assert decode_body(page.encode("cp1251"), "iso-8859-1")[0] == page


@pytest.mark.parametrize("declared", [None, "iso-8859-1", "utf-8"])
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "iso2022-jp", "euc-jp"])
def test_japanese_is_read_in_every_encoding(codec: str, declared: str | None):
    page = f"<html><head><title>x</title></head><body><p>{TEXT_BY_LANGUAGE['ja']}</p></body></html>"
    assert decode_body(page.encode(codec), declared)[0] == page
    assert detect_mime_type("text/html", page.encode(codec)) == "text/html"
    assert extract(page.encode(codec)).text == TEXT_BY_LANGUAGE["ja"]


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("cp1250", "Port został pogłębiony, aby większe statki mogły wyładowywać zboże; żegluga kwitła. "),
        ("iso8859-2", "Přístav byl prohlouben, aby větší lodě mohly vykládat obilí. Život byl těžký. "),
        ("cp1254", "Liman daha büyük gemilerin tahıl boşaltabilmesi için derinleştirildi; şehir büyüdü. "),
    ],
)
def test_text_that_latin1_cannot_encode_is_not_read_as_latin1(codec: str, text: str):
    assert decode_body((text * 3).encode(codec), "iso-8859-1")[0] == text * 3


@pytest.mark.parametrize("text", ["Où était l'été? Près de là, à Noël. ", "Größere Schiffe löschten früher Öl. "])
def test_text_that_latin1_can_encode_is_read_as_declared(text: str):
    assert decode_body((text * 9).encode("cp1252"), "iso-8859-1") == (text * 9, "windows-1252")


def test_ukrainian_is_distinguished_from_russian():
    text = "Її життя змінилося, коли гавань поглибили; її кораблі ґрунтовно й гарно біліли. "
    assert decode_body((text * 3).encode("koi8-u"))[0] == text * 3


@pytest.mark.parametrize("declared", [None, "iso-8859-1", "utf-8", "windows-1251"])
def test_an_invalid_byte_in_utf8_damages_no_other_character(declared: str | None):
    body = "<p>Grüße aus Köln, schöne Möwen über der Förde</p>".encode() + b"\xfc<p>Ende"
    assert decode_body(body, declared)[0].startswith("<p>Grüße aus Köln, schöne Möwen über der Förde</p>")


@pytest.mark.parametrize("body", [b"\x01\x00\x02\x00\x05\x00\xf0\xff" * 99, b"\0" * 600, b"a\0" * 5])
def test_binary_data_with_zero_bytes_is_not_wide_text(body: bytes):
    assert detect_wide_charset(body) == ""


# The beginning of a text in each of these languages, as old Windows, DOS and Macintosh programs stored it.
UNDECLARED = {
    "fr": "Le phare a été bâti à l'entrée du port, où la mer est très dangereuse. Les pêcheurs français l'ont réclamé.",
    "de": "Der Leuchtturm steht über der Mündung, wo große Schiffe früher häufig auf Grund liefen. Er wäre nötig.",
    "es": "El faro está en la península, donde el año pasado se perdió un barco pequeño. ¿Quién lo encenderá mañana?",
    "pl": "Latarnia morska stoi na skale, gdzie każdego roku rozbijały się łodzie. Światło widać z daleka, też w mgle.",
    "cs": "Maják stojí na skále, kde se každý rok rozbíjely lodě. Světlo je vidět z velké dálky, přestože bývá mlha.",
    "tr": "Deniz feneri kayanın üstündedir; her yıl gemiler orada batıyordu. Işık çok uzaktan görülür, siste bile.",
    "vi": "Ngọn hải đăng đứng trên mỏm đá, nơi mỗi năm tàu thuyền bị đắm. Ánh sáng được nhìn thấy từ rất xa.",
}


@pytest.mark.parametrize(
    ("language", "codec"),
    [
        ("fr", "cp1252"), ("fr", "mac_roman"), ("fr", "cp850"), ("de", "cp1252"), ("de", "mac_roman"), ("de", "cp850"),
        ("es", "mac_roman"), ("es", "cp850"), ("pl", "cp1250"), ("pl", "iso-8859-2"), ("pl", "mac_latin2"),
        ("pl", "cp852"), ("cs", "cp1250"), ("cs", "iso-8859-2"), ("cs", "cp852"), ("tr", "cp1254"),
    ],
)  # fmt: skip
def test_the_charset_of_latin_text_is_detected_by_its_language(language: str, codec: str):
    text = UNDECLARED[language]
    assert decode_body(text.encode(codec), markup=False)[0] == text


@pytest.mark.parametrize("name", ["viscii", "tcvn"])
def test_vietnamese_in_viscii_and_tcvn_is_read(name: str):
    codec = {letter: 128 + at for at, letter in reversed(list(enumerate(CHARSET_TABLES[name])))}
    body = bytes(codec.get(letter, ord(letter) % 128) for letter in UNDECLARED["vi"])
    assert decode_body(body, markup=False) == (UNDECLARED["vi"], name)


def test_vietnamese_in_windows_1258_with_combining_tones_is_read():
    tones = dict.fromkeys("\u0300\u0301\u0303\u0309\u0323")
    letters = [normalize("NFD", letter) for letter in UNDECLARED["vi"]]
    parted = [normalize("NFC", "".join(each for each in letter if each not in tones)) for letter in letters]
    behind = ["".join(each for each in letter if each in tones) for letter in letters]
    text = "".join(letter + tone for letter, tone in zip(parted, behind, strict=True))
    assert decode_body(text.encode("cp1258"), markup=False) == (text, "windows-1258")


def test_russian_in_mac_cyrillic_is_distinguished_from_windows_1251():
    text = "Маяк стоит на скале, где каждый год разбивались корабли. Его огонь, большая и яркая лампа, виден издалека."
    assert decode_body(text.encode("mac_cyrillic"), markup=False)[0] == text
    assert decode_body(text.encode("cp1251"), markup=False)[0] == text


@pytest.mark.parametrize("codec", ["utf-32le", "utf-32be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_utf32_page_is_recognised_as_a_page(codec: str, mark: str):
    body = (mark + "<!DOCTYPE html><html><body><p>Grüße 漢字</p></body></html>").encode(codec)
    assert detect_mime_type("", body) == "text/html"
    assert decode_body(body)[0].endswith("<p>Grüße 漢字</p></body></html>")


def test_binary_four_byte_numbers_are_not_text():
    body = b"".join(number.to_bytes(4, "little") for number in range(400))
    assert detect_wide_charset(body) == ""
    assert detect_mime_type("", body) == "application/octet-stream"
