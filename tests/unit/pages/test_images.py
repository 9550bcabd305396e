"""Pictures are saved under safe names, completely or not at all, and never overwrite a file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.core.errors import OutriderError, Refused
from outrider.core.http import Headers, HttpResponse
from outrider.core.jail import Jail
from outrider.pages.images import build_file_name, build_web_image, hash_url
from support.fakes.website import PIXEL_PNG, FakeSite, SiteAnswer, open_pages

pytestmark = pytest.mark.anyio
IMAGE_URL = "https://a.b/picture"
NO_PICTURES = [
    (b"<html>not found", "image/png", "a web page", "read it as a page"),
    (b"", "image/png", "an empty file", "choose another address"),
    (b"%PDF-1.7", "image/png", "a document of type pdf", "read it as a page"),
    (b"7z\xbc\xaf\x27\x1c" + bytes(18), "image/jpeg", "an archive", "unpack it"),
    (b"\x01\x02\x03" * 50, "image/jpeg", "binary data", "look for"),
    (b"<svg>", "text/xml", "a document of type xml", "read it as a page"),
]
SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder."""
    made = tmp_path / "pictures"
    made.mkdir()
    return made.resolve()


def build_response(body: bytes = PIXEL_PNG, content_type: str = "image/png") -> HttpResponse:
    return HttpResponse(IMAGE_URL, 200, Headers([("content-type", content_type)]), body)


@pytest.mark.parametrize(
    ("filename", "content_type", "name"),
    [
        (None, "image/png", f"image_{hash_url(IMAGE_URL)}.png"),
        ("", "image/jpeg", f"image_{hash_url(IMAGE_URL)}.jpg"),
        ("cat", "image/gif", "cat.gif"),
        ("cat.webp", "image/webp", "cat.webp"),
        ("cat.JPEG", "image/jpeg", "cat.JPEG"),
        ("cat.png", "image/svg+xml", "cat.png.svg"),
        ("my cat (1).png", "image/png", "my_cat__1_.png"),
        ("../../etc/passwd", "image/png", "passwd.png"),
        ("..\\..\\boot.ini", "image/avif", "boot.ini.avif"),
        ("/", "image/x-icon", f"image_{hash_url(IMAGE_URL)}.icon"),
        ("...", "image/vnd.odd+thing", f"image_{hash_url(IMAGE_URL)}.img"),
        ("猫", "image/png", f"image_{hash_url(IMAGE_URL)}.png"),
        (".bashrc", "image/png", "bashrc.png"),
        ("x" * 400, "image/png", "x" * 120 + ".png"),
        ("a\x00b\n.png", "image/png", "a_b_.png"),
    ],
)
def test_file_names_are_built_from_name_type_and_address(filename: str | None, content_type: str, name: str):
    assert build_file_name(IMAGE_URL, content_type, filename) == name


@given(st.text(max_size=200))
def test_no_name_leaves_its_folder(filename: str):
    name = build_file_name(IMAGE_URL, "image/png", filename)
    assert Path(name).name == name
    assert name.strip(".") == name
    assert name.isascii()


def test_a_taken_name_gets_the_hash_and_nothing_is_overwritten(folder: Path):
    image = build_web_image(build_response(), IMAGE_URL, "cat.png")
    jail = Jail(folder)
    (folder / "cat.png").symlink_to(folder.parent / "outside")
    names = [jail.add_file(image.name, image.data, image.name_suffixes) for _ in range(3)]
    assert names == [f"cat_{hash_url(IMAGE_URL)}{ending}.png" for ending in ("", "_2", "_3")]
    assert not (folder.parent / "outside").exists()
    assert (folder / names[0]).read_bytes() == PIXEL_PNG


@pytest.mark.parametrize(("body", "content_type", "what", "hint"), NO_PICTURES)
def test_an_error_names_the_kind_of_a_file_that_is_not_a_picture(body: bytes, content_type: str, what: str, hint: str):
    with pytest.raises(Refused) as caught:
        build_web_image(build_response(body, content_type), IMAGE_URL)
    assert caught.value.code == "not_an_image"
    assert f"is not an image but {what}" in caught.value.message
    assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize("declared", ["text/html", "application/octet-stream", "text/plain", ""])
def test_a_picture_with_a_wrong_declared_type_is_recognised(declared: str):
    image = build_web_image(build_response(PIXEL_PNG, declared), IMAGE_URL)
    assert (image.content_type, Path(image.name).suffix) == ("image/png", ".png")


def test_the_content_decides_the_extension_and_svg_is_a_file():
    assert build_web_image(build_response(PIXEL_PNG, "image/jpeg"), IMAGE_URL, "x").name == "x.png"
    assert build_web_image(build_response(SVG, "image/svg+xml"), IMAGE_URL, "x").name == "x.svg"


async def test_a_picture_is_fetched_from_the_web():
    async with open_pages(FakeSite()) as (pages, url):
        image = await pages.fetch_image(f"{url}/dot.png", "dot")
    assert (image.name, image.data) == ("dot.png", PIXEL_PNG)


@pytest.mark.parametrize(("route", "code"), [("/big", "too_large"), ("/page", "not_an_image"), ("/none", "not_found")])
async def test_failures_have_codes(route: str, code: str):
    site = FakeSite({"/big": SiteAnswer(PIXEL_PNG.ljust(20_000_001), "image/png"), "/page": SiteAnswer("<p>hi")})
    async with open_pages(site) as (pages, url):
        with pytest.raises(OutriderError) as caught:
            await pages.fetch_image(url + route)
    assert caught.value.code == code
