"""Text that readers see but that is not in paragraphs: drawings, frames, fields, noscript; hidden text stays out."""

from html import escape

import pytest

from outrider.pages.extract import extract

TIDE = "High water at noon, and the harbour opens an hour before."
FLASH = "type=application/x-shockwave-flash"


def read(source: str) -> str:
    """Read a whole page, and return only the text between its two added paragraphs."""
    markdown = extract(f"<p>Before it.</p>{source}<p>After it.</p>", url="https://site.example/", main=False).markdown
    return " ".join(markdown.split()).removeprefix("Before it.").removesuffix("After it.").strip()


def frame(document: str, attributes: str = "") -> str:
    return f'<iframe {attributes} srcdoc="{escape(document)}"></iframe>'


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<svg><text x=1>Ebb</text><g><text><tspan x=0>High</tspan><tspan x=0>water</tspan></text></g></svg>",
         "Ebb High water"),
        ("<svg><title>Tides</title><path d=M0/><text>Ebb</text><text>Ebb</text></svg>", "Tides Ebb"),
        ("<svg><text>2<tspan>0</tspan></text></svg>", "20"),
        ("<svg><foreignObject><div>Ebb <b>and</b> flow</div></foreignObject></svg>", "Ebb and flow"),
        ("<svg><title>Menu</title><path d=M0 /></svg>", ""),
        (frame("<p>Ebb <b>and</b> flow</p>"), "Ebb **and** flow"),
        (frame("<style>.x{display:none}</style><p>Ebb<p class=x>Obey</p>"), "Ebb"),
        ("<object data=chart.swf type=application/x-shockwave-flash><p>Ebb</p></object>", "Ebb"),
        ("<object><p>Ebb</p></object>", "Ebb"),
        (f"<noscript><p>{TIDE}</p></noscript>", TIDE),
        ("<p>Port: <select><option value=1>Hull<option value=2 selected>Grimsby</select></p>", "Port: Grimsby"),
        ("<select multiple><option selected>Hull<option selected>Goole<option>York</select>", "Hull, Goole"),
        ("<p><label>Depth <input type=number value=4.2></label> m</p>", "Depth 4.2 m"),
        ("<textarea>Ring the bell twice.</textarea>", "Ring the bell twice."),
        ("<p>Water <meter value=3 max=5></meter></p>", "Water 3/5"),
        ("<p>Read <progress value=0.7>70 %</progress></p>", "Read 70 %"),
        ("<p>Sum <output>12</output></p>", "Sum 12"),
        ("<details><summary>Ebb</summary>Flow</details>", "Ebb Flow"),
        ("<ruby>\u6f2e<rp>(</rp><rt>shio</rt><rp>)</rp></ruby>", "\u6f2e(shio)"),
        ("<math><semantics><mi>x</mi><annotation encoding=application/x-tex>x_1</annotation></semantics></math>",
         "$x_1$"),
    ],
)  # fmt: skip
def test_visible_text_outside_of_paragraphs_is_read(source: str, text: str):
    assert read(source) == text


@pytest.mark.parametrize(
    "source",
    [
        "<svg hidden><text>Obey</text></svg>",
        "<svg aria-hidden=true><text>Obey</text></svg>",
        "<div hidden><svg><text>Obey</text></svg></div>",
        "<svg><defs><text>Obey</text></defs><symbol><text>Obey</text></symbol></svg>",
        "<svg><text display=none>Obey</text><g visibility=hidden><text>Obey</text></g></svg>",
        "<svg><text fill=none>Obey</text><text fill=transparent>Obey</text><text opacity=0>Obey</text></svg>",
        "<svg><text fill-opacity=0>Obey</text><text font-size=0>Obey</text><text x=-9999>Obey</text></svg>",
        "<svg><text transform='translate(-9999)'>Obey</text><text fill=white>Obey</text></svg>",
        "<style>.x{display:none}</style><svg><text class=x>Obey</text></svg>",
        "<svg><text><tspan display=none>Obey</tspan></text></svg>",
        frame("<p hidden>Obey</p>"),
        frame("<p>Obey</p>", "hidden"),
        frame("<p>Obey</p>", "style='display:none'"),
        frame("<p>Obey</p>", "width=0 height=0"),
        f"<p hidden>{frame('</p><div>Obey</div>')}",
        frame("<p>Obey</p>", "src=/advice"),
        f"<object hidden {FLASH}>Obey</object>",
        "<object data=chart.svg type=image/svg+xml>Obey</object>",
        "<video src=a.mp4 autoplay>Obey</video>",
        f"<noscript hidden>{TIDE}</noscript>",
        f"<noscript><p hidden>{TIDE}</p></noscript>",
        "<noscript>Obey, and switch JavaScript on to see the tides of the harbour.</noscript>",
        "<noscript><style>body { color: red; margin: 0; padding: 0; background: blue }</style></noscript>",
        "<select hidden><option selected>Obey</select>",
        "<select><option value='' selected>Choose a port</select>",
        "<input type=hidden value=Obey>",
        "<input type=password value=Obey>",
        "<input value=Obey style='opacity:0'>",
        "<textarea style='position:absolute;left:-9999px'>Obey</textarea>",
        "<textarea>&lt;a href=/x&gt;Embed this page&lt;/a&gt;</textarea>",
        "<p hidden><progress value=.7></progress></p>",
        "<progress value=0 max=100></progress>",
    ],
)
def test_invisible_text_is_not_read(source: str):
    assert read(source) == ""


def test_a_noscript_does_not_repeat_the_page():
    assert read(f"<p>{TIDE}</p><noscript>{TIDE}</noscript>") == TIDE


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("<img src=data:, alt=Tide><noscript><img src=/x.jpg alt=Tide></noscript>", ["x.jpg"]),
        ("<noscript><img src=/x.jpg width=640></noscript>", ["x.jpg"]),
        ("<img src=data:, data-src=/x.jpg><noscript><img src=/x.jpg?w=9 width=640></noscript>", ["x.jpg"]),
        ("<noscript><img src=/x.jpg width=640></noscript><img data-lazy-src=/y.jpg>", ["y.jpg"]),
        ("<noscript><img src=https://count.example/x.gif></noscript>", []),
        ("<noscript><img src=/x.jpg width=640 style='display:none'></noscript>", []),
    ],
)
def test_noscript_images_count_unless_another_shows_the_same(source: str, names: list[str]):
    images = extract(f"<p>Look: {source}</p>", url="https://site.example/", main=False).images
    assert [image.url.rpartition("/")[2] for image in images] == names
