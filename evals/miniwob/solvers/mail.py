"""Tasks in a mail program."""

import re

from evals.miniwob.player import Player, View, quotes, solves


@solves(
    "email-inbox", "email-inbox-delete", "email-inbox-important", "email-inbox-noscroll", "email-inbox-reply",
    "email-inbox-star-reply", "email-inbox-forward", "email-inbox-nl-turk", "email-inbox-forward-nl",
    "email-inbox-forward-nl-turk",
)  # fmt: skip
async def mail(player: Player, goal: str) -> None:
    view = await player.look()
    senders = [
        line for at, line in enumerate(view.lines) if at and re.fullmatch(r"<e[a-z]*\d+>", view.lines[at - 1].strip())
    ]
    said = re.search(r'"(.*)"', goal)
    about = goal.replace(said.group(), "") if said else goal
    sender = _sender(senders, about)
    if re.search(r"\b(trash|delete|remove|erase|get rid)", about, re.IGNORECASE):
        await player.click(view.below(_line(view, sender), ".trash"))
        return
    if re.search(r"\b(star|important|favorite)", about, re.IGNORECASE):
        await player.click(view.below(_line(view, sender), ".star"))
        return
    await player.click(view.things[[each.line for each in view.things].index(_line(view, sender) - 1)])
    if said or re.search("reply", about, re.IGNORECASE):
        await _reply(player, said.group(1) if said else _unquoted(about))
        return
    await _forward(player, _receiver(about, sender))


def _line(view: View, text: str) -> int:
    return next(at for at, line in enumerate(view.lines) if line.strip() == text)


def _sender(senders: list[str], goal: str) -> str:
    named = [name for name in senders if re.search(rf"\b{name}(?:'s|s)?\b", goal)]
    if len(named) < 2:
        return named[0]
    for pattern in (r"\b(?:from|by) {}", r"{}'?s (?:\w+ )?(?:e-?mail|message)", r"{} (?:sent|wrote)", r"{}'s"):
        for name in named:
            if re.search(pattern.format(name), goal):
                return name
    return next(name for name in named if not re.search(rf"\bto {name}", goal))


def _receiver(goal: str, sender: str) -> str:
    names = [name for name in re.findall(r"\b[A-Z][a-z]+(?=\b)", goal) if name not in (sender, "I", *OPENINGS)]
    return names[-1]


OPENINGS = frozenset(
    {"Find", "Forward", "Send", "Please", "Ask", "Automatically", "Can", "Copy", "Could", "Give", "Go", "Let", "Locate",
     "Look", "Make", "Open", "Pull", "Primary", "Remind", "Resend", "Search", "Select", "Take", "The", "Will", "In",
     "Navigate", "Email", "Highlight", "Foward", "FOrward"}
)  # fmt: skip


async def _reply(player: Player, text: str) -> None:
    await player.click((await player.look()).one(re.compile("reply", re.IGNORECASE)))
    await player.type((await player.look()).one(role="textbox"), text)
    await player.click("#send-reply")


def _unquoted(goal: str) -> str:
    return quotes(goal)[0]


async def _forward(player: Player, receiver: str) -> None:
    await player.click((await player.look()).one(re.compile("forward", re.IGNORECASE)))
    await player.type((await player.look()).one(role="textbox"), receiver)
    await player.click("#send-forward")
