"""A site of made-up pages with the weight and the clutter of real ones: `python -m bench.pages` serves it."""

import asyncio
import random
import sys

KINDS = 60  # different bodies; every address is its own page
SEED = 20_261
SYLLABLES = "ka lo mi ren tas vo du shi par nel ost qui bra ten wol fex jun gri pal sod ura em ith".split()  # noqa: SIM905
MENU = 60
SCRIPT_CHARS = 18_000


class Writer:
    """Writes pages; the same seed writes the same pages."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._words = ["".join(self._random.choices(SYLLABLES, k=self._random.randint(1, 4))) for _ in range(4_000)]

    def page(self, kind: int) -> str:
        """One of four layouts: article, documentation, list of products, discussion."""
        self._random.seed(SEED + kind)
        layouts = (self._article, self._manual, self._shop, self._forum)
        title = self._sentence(6)
        return (
            f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{title}</title>"
            f'<meta property="og:title" content="{title}"><link rel=stylesheet href=/style.css>'
            f"<style>{self._css()}</style><script>{self._script()}</script></head><body>"
            f'<header class="site-header">{self._menu()}</header><div class="layout">'
            f'<aside class="sidebar">{self._menu()}<div class="ad-slot">{self._sentence(20)}</div></aside>'
            f"<main>{layouts[kind % 4](title)}</main></div>"
            f'<footer class="footer">{self._menu()}<p>{self._sentence(30)}</p></footer></body></html>'
        )

    def _article(self, title: str) -> str:
        parts = "".join(
            f"<h2>{self._sentence(5)}</h2>{self._paragraphs(6)}<figure><img src=/i.jpg></figure>" for _ in "12345"
        )
        return f"<article><h1>{title}</h1><p class=byline>By {self._sentence(2)}</p>{parts}</article>"

    def _manual(self, title: str) -> str:
        code = "\n".join(
            f"def {word}({other}):\n    return {other}"
            for word, other in zip(self._some(8), self._some(8), strict=True)
        )
        rows = "".join(f"<tr><td><code>{word}</code></td><td>{self._sentence(12)}</td></tr>" for word in self._some(25))
        parts = "".join(
            f"<section><h2>{self._sentence(4)}</h2>{self._paragraphs(3)}<pre><code>{code}</code></pre></section>"
            for _ in "1234"
        )
        return f"<h1>{title}</h1>{parts}<table><tr><th>Name</th><th>Meaning</th></tr>{rows}</table>"

    def _shop(self, title: str) -> str:
        cards = "".join(
            f'<div class="product-card"><a href="/p/{number}"><img src=/t.jpg alt=""><h3>{self._sentence(4)}</h3></a>'
            f'<span class="price">{number}.99</span><p>{self._sentence(18)}</p></div>'
            for number in range(48)
        )
        return f'<h1>{title}</h1><p>{self._sentence(40)}</p><div class="grid">{cards}</div>'

    def _forum(self, title: str) -> str:
        posts = "".join(
            f'<div class="post" id="p{number}"><div class="author">{self._sentence(1)}</div>'
            f'<div class="content">{self._paragraphs(2)}<blockquote>{self._sentence(15)}</blockquote></div></div>'
            for number in range(25)
        )
        return f"<h1>{title}</h1>{posts}"

    def _paragraphs(self, count: int) -> str:
        return "".join(
            f"<p>{' '.join(self._sentence(self._random.randint(8, 24)) for _ in '12345')}</p>" for _ in range(count)
        )

    def _sentence(self, length: int) -> str:
        return " ".join(self._some(length)).capitalize() + "."

    def _some(self, count: int) -> list[str]:
        return self._random.choices(self._words, k=count)

    def _menu(self) -> str:
        return f"<nav><ul>{''.join(f'<li><a href=/{word}>{word}</a></li>' for word in self._some(MENU))}</ul></nav>"

    def _script(self) -> str:
        return ";".join(f"var {word}=[{number}]" for number, word in enumerate(self._some(SCRIPT_CHARS // 16)))

    def _css(self) -> str:
        return "".join(f".{word}{{margin:0 auto;padding:4px}}" for word in self._some(120))


class Site(asyncio.Protocol):
    """Answers every GET on a kept connection; `/n` is page n."""

    bodies: tuple[bytes, ...] = ()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        assert isinstance(self._transport, asyncio.Transport)
        path = data.split(b" ", 2)[1].rpartition(b"/")[2]
        if not path.isdigit():
            self._transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return
        body = self.bodies[int(path) % KINDS]
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode() + body)


async def main() -> None:
    """Serves until it is ended; prints its address."""
    writer = Writer(SEED)
    Site.bodies = tuple(writer.page(kind).encode() for kind in range(KINDS))
    server = await asyncio.get_running_loop().create_server(Site, "127.0.0.1", 0)
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
