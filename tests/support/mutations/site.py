"""A site whose pages change like real websites."""

import json
from dataclasses import dataclass
from typing import Any

from support.mutations.kinds import HELPERS, MUTATIONS
from support.mutations.pages import PAGES, TASKS, WORDS
from support.mutations.unseen_kinds import UNSEEN_MUTATIONS
from support.mutations.unseen_pages import UNSEEN_PAGES, UNSEEN_TASKS, UNSEEN_WORDS

ALL_MUTATIONS = MUTATIONS | UNSEEN_MUTATIONS
ALL_TASKS = TASKS | UNSEEN_TASKS
ALL_PAGES = UNSEEN_PAGES | PAGES
ALL_WORDS = {name: UNSEEN_WORDS.get(name, {}) | WORDS.get(name, {}) for name in UNSEEN_WORDS | WORDS}

LOGGER = """<script>
const log = (intent) => {
  const all = JSON.parse(localStorage.log || '[]');
  if (all.at(-1) !== intent) all.push(intent);
  localStorage.log = JSON.stringify(all);
};
addEventListener('click', (event) => {
  const path = event.composedPath().filter((each) => each.matches);
  const control = path.find((each) => each.matches('button,a,[type=submit],[role=button],[role=tab],[role=switch]'));
  if (event.isTrusted && control) log(control.dataset.intent || 'other');
}, true);
addEventListener('input', (event) => log(event.composedPath()[0].dataset.intent || 'other'), true);
const say = (text) => { document.querySelector('[role=status]').textContent = text; };
window.drawn = () => {};
addEventListener('submit', (event) => {
  if (event.target.getAttribute('action')) return;
  event.preventDefault();
  say('Done');
});
</script>"""
STATUS = "<p role=status></p>"


@dataclass
class MutatingSite:
    """An ASGI application that serves the pages with the current mutation."""

    mutation: str = ""
    target: str = ""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (message := await receive())["type"] != "lifespan.shutdown":
                await send({"type": f"{message['type']}.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        body = ALL_PAGES.get(scope["path"].strip("/"), "<h1>Nothing here</h1>")
        html = f"<!doctype html><html lang=en><title>Shop</title><body>{LOGGER}{body}{STATUS}{self._write_mutation()}"
        headers = [(b"content-type", b"text/html; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": html.encode()})

    def _write_mutation(self) -> str:
        if not self.mutation:
            return ""
        body = f"const target = targetOf({json.dumps(self.target)}); {ALL_MUTATIONS[self.mutation].script}"
        # A page without the target stays unchanged.
        guarded = f"if (targetOf({json.dumps(self.target)})) {{ {body} }}"
        # A page rendered by its script is changed after rendering.
        begin = "if (!document.getElementById('root')) window.drawn();"
        words = f"const WORDS = {json.dumps(ALL_WORDS)};"
        return f"<script>{{ {words} {HELPERS} window.drawn = () => {{ {guarded} }}; {begin} }}</script>"
