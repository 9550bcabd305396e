"""Read the same pages through `app.call` in this process."""

import json
import sys
import time

import anyio

from outrider import load, open_app

AT_ONCE = 8


async def main(settings: str, url: str, first: int, last: int) -> None:
    sizes: list[int] = []
    limit = anyio.CapacityLimiter(AT_ONCE)
    async with open_app(load(json.loads(settings))) as app:

        async def read_page(number: int) -> None:
            async with limit:
                sizes.append(len((await app.call("web_fetch", url=f"{url}/{number}", max_chars=200_000)).text))

        await read_page(last)
        started, used = time.perf_counter(), time.process_time()
        async with anyio.create_task_group() as tasks:
            for number in range(first, last):
                tasks.start_soon(read_page, number)
        wall, cpu = time.perf_counter() - started, time.process_time() - used
    print(json.dumps({"wall": wall, "cpu": cpu, "chars": sum(sizes)}))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
