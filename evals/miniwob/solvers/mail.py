"""Solve tasks in a mail program."""

import re

from evals.miniwob.player import Player, View, find_quotes, solves


@solves(
    "email-inbox", "email-inbox-delete", "email-inbox-important", "email-inbox-noscroll", "email-inbox-reply",
    "email-inbox-star-reply", "email-inbox-forward", "email-inbox-nl-turk", "email-inbox-forward-nl",
    "email-inbox-forward-nl-turk",
)  # fmt: skip
async def use_mail(player: Player, goal: str) -> None:
    view = await player.take_snapshot()
    senders = [
        line for at, line in enumerate(view.lines) if at and re.fullmatch(r"<e[a-z]*\d+>", view.lines[at - 1].strip())
    ]
    answer = re.search(r'"(.*)"', goal)
    about = goal.replace(answer.group(), "") if answer else goal
    sender = _find_sender(senders, about)
    if re.search(r"\b(trash|delete|remove|erase|get rid)", about, re.IGNORECASE):
        await player.click_control(view.find_below(_find_text_line(view, sender), ".trash"))
        return
    if re.search(r"\b(star|important|favorite)", about, re.IGNORECASE):
        await player.click_control(view.find_below(_find_text_line(view, sender), ".star"))
        return
    await player.click_control(
        view.things[[each.line for each in view.things].index(_find_text_line(view, sender) - 1)]
    )
    if answer or re.search("reply", about, re.IGNORECASE):
        await _send_reply(player, answer.group(1) if answer else _remove_quotes(about))
        return
    await _forward_mail(player, _find_receiver(about, sender))


def _find_text_line(view: View, text: str) -> int:
    return next(at for at, line in enumerate(view.lines) if line.strip() == text)


def _find_sender(senders: list[str], goal: str) -> str:
    named = [name for name in senders if re.search(rf"\b{name}(?:'s|s)?\b", goal)]
    if len(named) < 2:
        return named[0]
    for pattern in (r"\b(?:from|by) {}", r"{}'?s (?:\w+ )?(?:e-?mail|message)", r"{} (?:sent|wrote)", r"{}'s"):
        for name in named:
            if re.search(pattern.format(name), goal):
                return name
    return next(name for name in named if not re.search(rf"\bto {name}", goal))


def _find_receiver(goal: str, sender: str) -> str:
    names = [name for name in re.findall(r"\b[A-Z][a-z]+(?=\b)", goal) if name not in (sender, "I", *OPENING_WORDS)]
    return names[-1]


OPENING_WORDS = frozenset(
    {"Find", "Forward", "Send", "Please", "Ask", "Automatically", "Can", "Copy", "Could", "Give", "Go", "Let", "Locate",
     "Look", "Make", "Open", "Pull", "Primary", "Remind", "Resend", "Search", "Select", "Take", "The", "Will", "In",
     "Navigate", "Email", "Highlight", "Foward", "FOrward"}
)  # fmt: skip


async def _send_reply(player: Player, text: str) -> None:
    await player.click_control((await player.take_snapshot()).find_one(re.compile("reply", re.IGNORECASE)))
    await player.type_text((await player.take_snapshot()).find_one(role="textbox"), text)
    await player.click_control("#send-reply")


def _remove_quotes(goal: str) -> str:
    return find_quotes(goal)[0]


async def _forward_mail(player: Player, receiver: str) -> None:
    await player.click_control((await player.take_snapshot()).find_one(re.compile("forward", re.IGNORECASE)))
    await player.type_text((await player.take_snapshot()).find_one(role="textbox"), receiver)
    await player.click_control("#send-forward")
