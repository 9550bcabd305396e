"""Pictures are saved under safe names, whole or not at all, and never over another file."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.core.errors import OutriderError, Refused, Unavailable
from outrider.core.http import Headers, HttpResponse
from outrider.pages.images import build_file_name, hash_url, save_image
from support.fakes.website import PIXEL_PNG, FakeSite, SiteAnswer, open_pages

pytestmark = pytest.mark.anyio
URL = "https://a.b/picture"
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


def reply(body: bytes = PIXEL_PNG, content_type: str = "image/png") -> HttpResponse:
    return HttpResponse(URL, 200, Headers([("content-type", content_type)]), body)


@pytest.mark.parametrize(
    ("filename", "content_type", "name"),
    [
        (None, "image/png", f"image_{hash_url(URL)}.png"),
        ("", "image/jpeg", f"image_{hash_url(URL)}.jpg"),
        ("cat", "image/gif", "cat.gif"),
        ("cat.webp", "image/webp", "cat.webp"),
        ("cat.JPEG", "image/jpeg", "cat.JPEG"),
        ("cat.png", "image/svg+xml", "cat.png.svg"),
        ("my cat (1).png", "image/png", "my_cat__1_.png"),
        ("../../etc/passwd", "image/png", "passwd.png"),
        ("..\\..\\boot.ini", "image/avif", "boot.ini.avif"),
        ("/", "image/x-icon", f"image_{hash_url(URL)}.icon"),
        ("...", "image/vnd.odd+thing", f"image_{hash_url(URL)}.img"),
        ("猫", "image/png", f"image_{hash_url(URL)}.png"),
        (".bashrc", "image/png", "bashrc.png"),
        ("x" * 400, "image/png", "x" * 120 + ".png"),
        ("a\x00b\n.png", "image/png", "a_b_.png"),
    ],
)
def test_names_follow_the_rule(filename: str | None, content_type: str, name: str):
    assert build_file_name(URL, content_type, filename) == name


@given(st.text(max_size=200))
def test_no_name_leaves_its_folder(filename: str):
    name = build_file_name(URL, "image/png", filename)
    assert Path(name).name == name
    assert name.strip(".") == name
    assert name.isascii()


def test_a_taken_name_gets_the_hash_and_nothing_is_overwritten(folder: Path):
    saved = [save_image(reply(), folder, url=URL, filename="cat.png").path.name for _ in range(3)]
    assert saved == ["cat.png", f"cat_{hash_url(URL)}.png", f"cat_{hash_url(URL)}_2.png"]
    (folder / "dog.png").write_bytes(b"precious")
    save_image(reply(), folder, url=URL, filename="dog.png")
    assert (folder / "dog.png").read_bytes() == b"precious"


def test_a_link_in_the_way_is_not_followed(folder: Path):
    outside = folder.parent / "outside"
    (folder / "cat.png").symlink_to(outside)
    saved = save_image(reply(), folder, url=URL, filename="cat.png")
    assert saved.path.name == f"cat_{hash_url(URL)}.png"
    assert not outside.exists()


def test_the_folder_is_made_and_holds_nothing_else(folder: Path):
    saved = save_image(reply(), folder / "a" / "b", url=URL)
    assert list((folder / "a" / "b").iterdir()) == [saved.path]
    assert saved.path.read_bytes() == PIXEL_PNG
    assert (saved.content_type, saved.size, saved.url) == ("image/png", len(PIXEL_PNG), URL)


@pytest.mark.parametrize(("body", "content_type", "what", "hint"), NO_PICTURES)
def test_what_is_no_picture_says_what_it_is_and_what_to_do_with_that(
    folder: Path, body: bytes, content_type: str, what: str, hint: str
):
    with pytest.raises(Refused) as caught:
        save_image(reply(body, content_type), folder, url=URL)
    assert caught.value.code == "not_an_image"
    assert f"is not an image but {what}" in caught.value.message
    assert caught.value.hint.startswith(hint)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("declared", ["text/html", "application/octet-stream", "text/plain", ""])
def test_a_picture_of_a_wrong_type_is_saved_as_what_it_is(folder: Path, declared: str):
    saved = save_image(reply(PIXEL_PNG, declared), folder, url=URL)
    assert (saved.content_type, saved.path.suffix) == ("image/png", ".png")


def test_the_content_decides_the_extension_and_svg_is_a_file(folder: Path):
    assert save_image(reply(PIXEL_PNG, "image/jpeg"), folder, url=URL, filename="x").path.name == "x.png"
    assert save_image(reply(SVG, "image/svg+xml"), folder, url=URL, filename="x").path.name == "x.svg"


def test_a_file_where_the_folder_should_be_is_told(folder: Path):
    (folder / "file").write_text("x")
    with pytest.raises(Unavailable) as caught:
        save_image(reply(), folder / "file", url=URL)
    assert caught.value.code == "disk"


def test_a_full_disk_is_told_and_leaves_nothing_behind(folder: Path):
    script = """
        import pathlib, resource, signal, sys
        from outrider.core.errors import Unavailable
        from outrider.core.http import Headers, HttpResponse
        from outrider.pages.images import save_image
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        body = b"\\x89PNG\\r\\n\\x1a\\n" + bytes(5000)
        try:
            reply = HttpResponse("https://a.b/x", 200, Headers([("content-type", "image/png")]), body)
            save_image(reply, pathlib.Path(sys.argv[1]), url="x")
        except Unavailable as error:
            print(error.code, error.message)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(folder)], capture_output=True, text=True, check=True
    )
    assert run.stdout.startswith("disk")
    assert "full" in run.stdout
    assert list(folder.iterdir()) == []


async def test_a_picture_of_the_web_is_saved(folder: Path):
    async with open_pages(FakeSite()) as (pages, url):
        saved = await pages.save_image(f"{url}/dot.png", folder, filename="dot")
    assert saved.path == folder.resolve() / "dot.png"
    assert saved.path.read_bytes() == PIXEL_PNG


@pytest.mark.parametrize(("route", "code"), [("/big", "too_large"), ("/page", "not_an_image"), ("/none", "not_found")])
async def test_failures_are_named(folder: Path, route: str, code: str):
    site = FakeSite({"/big": SiteAnswer(PIXEL_PNG.ljust(20_000_001), "image/png"), "/page": SiteAnswer("<p>hi")})
    async with open_pages(site) as (pages, url):
        with pytest.raises(OutriderError) as caught:
            await pages.save_image(url + route, folder)
    assert caught.value.code == code
    assert list(folder.iterdir()) == []
