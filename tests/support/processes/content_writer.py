"""A process that adds, changes and deletes contents until it is killed; what it was told is done, it prints.

Run as `python content_writer.py FOLDER SEED [BYTES]`: each line on its output is an acknowledged change, as JSON. With
BYTES no file may grow beyond so many, as on a full disk; the error that ends it then is its last line.
"""

import json
import random
import resource
import sys
from pathlib import Path

import anyio

from outrider.content import Content, Draft
from outrider.core.context import Call
from outrider.core.db import Database
from outrider.core.errors import NotFound, Unavailable

CALL = Call(session="crash")
WORDS = ("tea", "coffee", "water", "leaf", "bean", "steam", "cup", "kettle", "morning", "evening")


async def main(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    database = Database.file(folder / "outrider.db")
    content = Content(database, folder / "content")
    kept: list[str] = [each.id for each in (await content.records(CALL, limit=1_000))[0]]
    number = 0
    while True:
        number += 1
        own = f"unique{seed}x{number}"
        text = f"{own}\n" + " ".join(chance.choices(WORDS, k=chance.choice((5, 400, 3_000))))
        what = chance.choice(("add", "add", "update", "delete")) if kept else "add"
        try:
            if what == "add":
                record = await content.add(CALL, Draft(text))
                kept.append(record.id)
            elif what == "update":
                record = await content.update(CALL, chance.choice(kept), Draft(text))
            else:
                gone = kept.pop(chance.randrange(len(kept)))
                await content.delete(CALL, gone)
                say({"deleted": gone})
                continue
        except NotFound:  # another process was faster
            continue
        say({"kept": record.id, "version": record.version, "own": own})


def say(what: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def run(arguments: list[str]) -> None:
    """The same as a function, for `forked.Nursery`."""
    folder, seed, *most = arguments
    if most:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(most[0]), resource.RLIM_INFINITY))
    try:
        anyio.run(main, Path(folder), int(seed))
    except Unavailable as error:
        say(error.to_dict())


if __name__ == "__main__":
    run(sys.argv[1:])
