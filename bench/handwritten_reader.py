"""Read pages with httpx2 and trafilatura alone, in the environment of the peers."""

import asyncio
import json
import sys
import time

import httpx2
import trafilatura

AT_ONCE = 8


async def main(url: str, first: int, last: int) -> None:
    async with httpx2.AsyncClient() as client:
        limit = asyncio.Semaphore(AT_ONCE)

        async def read_page(number: int) -> int:
            async with limit:
                page = await client.get(f"{url}/{number}")
                return len(trafilatura.extract(page.text, output_format="markdown", include_links=True) or "")

        await read_page(last)  # do not measure the one-time setup
        started, used = time.perf_counter(), time.process_time()
        sizes = await asyncio.gather(*(read_page(number) for number in range(first, last)))
        wall, cpu = time.perf_counter() - started, time.process_time() - used
    print(json.dumps({"wall": wall, "cpu": cpu, "chars": sum(sizes)}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
