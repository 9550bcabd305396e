"""Serve generated pages as heavy and cluttered as real ones: `python -m bench.generated_site`."""

import asyncio
import random
import sys

PAGE_COUNT = 60  # different bodies; every address is its own page
SEED = 20_261
SYLLABLES = "ka lo mi ren tas vo du shi par nel ost qui bra ten wol fex jun gri pal sod ura em ith".split()  # noqa: SIM905


class PageGenerator:
    """Generate pages; the same seed generates the same ones."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._words = ["".join(self._random.choices(SYLLABLES, k=self._random.randint(1, 4))) for _ in range(4_000)]

    def generate_page(self, kind: int) -> str:
        """Generate a page in one of four layouts: article, manual, shop, forum."""
        self._random.seed(SEED + kind)
        layouts = (self._generate_article, self._generate_manual, self._generate_shop, self._generate_forum)
        title = self._draw_sentence(6)
        return (
            f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{title}</title>"
            f'<meta property="og:title" content="{title}"><link rel=stylesheet href=/style.css>'
            f"<style>{self._generate_css()}</style><script>{self._generate_script()}</script></head><body>"
            f'<header class="site-header">{self._generate_menu()}</header><div class="layout">'
            f'<aside class="sidebar">{self._generate_menu()}'
            f'<div class="ad-slot">{self._draw_sentence(20)}</div></aside>'
            f"<main>{layouts[kind % 4](title)}</main></div>"
            f'<footer class="footer">{self._generate_menu()}<p>{self._draw_sentence(30)}</p></footer></body></html>'
        )

    def _generate_article(self, title: str) -> str:
        parts = "".join(
            f"<h2>{self._draw_sentence(5)}</h2>{self._draw_paragraphs(6)}<figure><img src=/i.jpg></figure>"
            for _ in "12345"
        )
        return f"<article><h1>{title}</h1><p class=byline>By {self._draw_sentence(2)}</p>{parts}</article>"

    def _generate_manual(self, title: str) -> str:
        code = "\n".join(
            f"def {word}({other}):\n    return {other}"
            for word, other in zip(self._draw_words(8), self._draw_words(8), strict=True)
        )
        rows = "".join(
            f"<tr><td><code>{word}</code></td><td>{self._draw_sentence(12)}</td></tr>" for word in self._draw_words(25)
        )
        parts = "".join(
            f"<section><h2>{self._draw_sentence(4)}</h2>{self._draw_paragraphs(3)}<pre><code>{code}</code></pre></section>"
            for _ in "1234"
        )
        return f"<h1>{title}</h1>{parts}<table><tr><th>Name</th><th>Meaning</th></tr>{rows}</table>"

    def _generate_shop(self, title: str) -> str:
        cards = "".join(
            f'<div class="product-card"><a href="/p/{number}"><img src=/t.jpg alt="">'
            f"<h3>{self._draw_sentence(4)}</h3></a>"
            f'<span class="price">{number}.99</span><p>{self._draw_sentence(18)}</p></div>'
            for number in range(48)
        )
        return f'<h1>{title}</h1><p>{self._draw_sentence(40)}</p><div class="grid">{cards}</div>'

    def _generate_forum(self, title: str) -> str:
        posts = "".join(
            f'<div class="post" id="p{number}"><div class="author">{self._draw_sentence(1)}</div>'
            f'<div class="content">{self._draw_paragraphs(2)}'
            f"<blockquote>{self._draw_sentence(15)}</blockquote></div></div>"
            for number in range(25)
        )
        return f"<h1>{title}</h1>{posts}"

    def _draw_paragraphs(self, count: int) -> str:
        return "".join(
            f"<p>{' '.join(self._draw_sentence(self._random.randint(8, 24)) for _ in '12345')}</p>"
            for _ in range(count)
        )

    def _draw_sentence(self, length: int) -> str:
        return " ".join(self._draw_words(length)).capitalize() + "."

    def _draw_words(self, count: int) -> list[str]:
        return self._random.choices(self._words, k=count)

    def _generate_menu(self) -> str:
        menu_links = 60
        items = "".join(f"<li><a href=/{word}>{word}</a></li>" for word in self._draw_words(menu_links))
        return f"<nav><ul>{items}</ul></nav>"

    def _generate_script(self) -> str:
        script_chars = 18_000
        return ";".join(f"var {word}=[{number}]" for number, word in enumerate(self._draw_words(script_chars // 16)))

    def _generate_css(self) -> str:
        return "".join(f".{word}{{margin:0 auto;padding:4px}}" for word in self._draw_words(120))


class SiteProtocol(asyncio.Protocol):
    """Answer each GET on a kept connection; `/n` is page n."""

    bodies: tuple[bytes, ...] = ()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        assert isinstance(self._transport, asyncio.Transport)
        path = data.split(b" ", 2)[1].rpartition(b"/")[2]
        if not path.isdigit():
            self._transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return
        body = self.bodies[int(path) % PAGE_COUNT]
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode() + body)


async def main() -> None:
    """Serve until the process is ended; prints the address."""
    writer = PageGenerator(SEED)
    SiteProtocol.bodies = tuple(writer.generate_page(kind).encode() for kind in range(PAGE_COUNT))
    server = await asyncio.get_running_loop().create_server(SiteProtocol, "127.0.0.1", 0)
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
