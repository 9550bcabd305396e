"""Read the best pages of a search for passages that answer it."""

from collections.abc import Sequence

import anyio

from outrider.core.errors import OutriderError
from outrider.pages.options import ReadOptions
from outrider.pages.pages import Pages


async def read_passages(pages: Pages, urls: Sequence[str], question: str) -> dict[str, str]:
    """Return the passages of the first pages that answer a question, by address.

    The budget is about 2,000 tokens over three pages and 20 seconds. A page that cannot be read has no entry, and a
    page without a matching passage has an empty text.
    """
    max_pages = 3
    tokens_per_page = 650
    timeout_s = 20.0
    passages: dict[str, str] = {}

    async def read_page(url: str) -> None:
        try:
            page = await pages.read(url, ReadOptions(markdown_first=True))
            excerpts = await pages.find_excerpts(page, question, max_tokens=tokens_per_page)
        except OutriderError:
            return
        passages[url] = "\n\n".join(excerpt.text for excerpt in excerpts)

    with anyio.move_on_after(timeout_s):
        async with anyio.create_task_group() as tasks:
            for url in urls[:max_pages]:
                tasks.start_soon(read_page, url)
    return passages
