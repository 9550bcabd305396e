"""Pictures are found behind the placeholders of lazy loading."""

import pytest

from outrider.pages.extract import extract


def list_addresses(source: str) -> list[str]:
    return [image.url for image in extract(f"<p>Look {source}", url="https://site.example/a/", main=False).images]


@pytest.mark.parametrize(
    "given",
    [
        "src=data:image/gif;base64,R0 data-src=/x.jpg",
        "src=/placeholder.gif data-srcset='/s.jpg 320w, /x.jpg 1280w, /m.jpg 640w'",
        "src=spacer.png srcset='/s.jpg 1x, /x.jpg 2x'",
        "src=data:, srcset='/s.jpg, /x.jpg 1.5x'",
        "src=/img/blank.gif nitro-lazy-src=/x.jpg",
        "src=data:image/png;base64,aa data-cfsrc=/x.jpg",
        "src='' data-lzl-src=/x.jpg data-alt='not / this'",
        "ng-src=/x.jpg",
        "src=static/image/common/loading.gif file=/x.jpg",
        "src=data:, data-pinned='{\"src\": \"/y.jpg\"}' data-original-srcset='/s.jpg 1w, /x.jpg 2w'",
        "src=/x.jpg srcset='/s.jpg 1x, /l.jpg 2x'",
    ],
)
def test_the_picture_is_found_behind_its_placeholder(given: str):
    assert list_addresses(f"<img {given}>") == ["https://site.example/x.jpg"]


def test_addresses_in_a_set_may_hold_commas():
    assert list_addresses("<img srcset='/c,w_4/s.jpg 400w,/c,w_8/s.jpg 800w'>") == ["https://site.example/c,w_8/s.jpg"]


@pytest.mark.parametrize("image", ["<img alt=x>", "<img src=data:image/gif;base64,R0>"])
def test_a_pictures_address_is_found_in_its_sources(image: str):
    source = f"<picture><source srcset='/s.webp 1x, /x.webp 2x'><source srcset=/y.jpg>{image}</picture>"
    assert list_addresses(source) == ["https://site.example/x.webp"]


def test_an_image_with_an_address_takes_precedence_over_sources():
    assert list_addresses("<picture><source srcset=/s.webp><img src=/x.jpg></picture>") == [
        "https://site.example/x.jpg"
    ]


def test_amp_images_are_pictures():
    read = extract("<p>Look<amp-img src=/x.jpg alt='A heron' width=9 height=9></amp-img>there", main=False, images=True)
    assert read.markdown == "Look there"
    read = extract("<p>Look<amp-img src=https://a.example/x.jpg alt='A heron'></amp-img>", main=False, images=True)
    assert read.markdown == "Look ![A heron](https://a.example/x.jpg)"


def test_a_long_srcset_is_read_up_to_a_limit():
    sets = "<img srcset='" + "/a,b/c.jpg 1x, " * 1_000 + "'>" + "<img src=data: data-x-srcset='" + "," * 15_000 + "'>"
    assert len(list_addresses(sets)) == 1
