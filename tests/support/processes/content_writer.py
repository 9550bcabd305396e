"""Add, change and delete contents until killed, and print acknowledged changes.

Run as `python content_writer.py FOLDER SEED [BYTES]`: each line on its output is an acknowledged change, as JSON. With
BYTES, no file may grow beyond that size, as on a full disk; the resulting error is its last line.
"""

import json
import random
import resource
import sys
from pathlib import Path

import anyio

from outrider.content.models import ContentDraft
from outrider.content.stores import ContentStores
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import NotFound, Unavailable

CRASH_CALL = Call(session="crash")
SAMPLE_WORDS = ("tea", "coffee", "water", "leaf", "bean", "steam", "cup", "kettle", "morning", "evening")


async def change_contents(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    database = Database.from_file(folder / "outrider.db")
    content = ContentStores(database, folder / "content")
    kept: list[str] = [each.id for each in (await content.list_records(CRASH_CALL, limit=1_000))[0]]
    number = 0
    while True:
        number += 1
        own = f"unique{seed}x{number}"
        text = f"{own}\n" + " ".join(chance.choices(SAMPLE_WORDS, k=chance.choice((5, 400, 3_000))))
        what = chance.choice(("add", "add", "update", "delete")) if kept else "add"
        try:
            if what == "add":
                record = await content.add(CRASH_CALL, ContentDraft(text))
                kept.append(record.id)
            elif what == "update":
                record = await content.update(CRASH_CALL, chance.choice(kept), ContentDraft(text))
            else:
                gone = kept.pop(chance.randrange(len(kept)))
                await content.delete(CRASH_CALL, gone)
                print_report({"deleted": gone})
                continue
        except NotFound:  # another process was faster
            continue
        print_report({"kept": record.id, "version": record.version, "own": own})


def print_report(report: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(report) + "\n")
    sys.stdout.flush()


def run(arguments: list[str]) -> None:
    """Run the same as a function, for `fork_server.ForkServer`."""
    folder, seed, *most = arguments
    if most:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(most[0]), resource.RLIM_INFINITY))
    try:
        anyio.run(change_contents, Path(folder), int(seed))
    except Unavailable as error:
        print_report(error.to_dict())


if __name__ == "__main__":
    run(sys.argv[1:])
