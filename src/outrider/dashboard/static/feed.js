// Live updates. `subscribe({calls: (changes) => …})` goes on from where the page was made (its data-feed), and after
// any break from where it was: each change comes once. A page nobody looks at listens no more, since browsers open
// only six connections to a server; it catches up when it is seen again.

import { path } from "./base.js";

const RETRY = [500, 1000, 2000, 5000, 10000]; // milliseconds

export function subscribe(handlers, at = document.body.dataset.feed) {
  let source = null;
  let failures = 0;
  let timer = null;
  const topics = Object.keys(handlers);

  const open = () => {
    close();
    const query = at ? new URLSearchParams({ at }) : new URLSearchParams({ topics: topics.join(",") });
    source = new EventSource(path(`/feed?${query}`));
    source.addEventListener("ready", (event) => { failures = 0; at = event.lastEventId; show("live"); });
    for (const topic of topics) {
      source.addEventListener(topic, (event) => {
        at = event.lastEventId;
        handlers[topic](JSON.parse(event.data));
      });
    }
    source.addEventListener("error", () => {
      show("lost");
      close(); // the browser's own retry gives up for good after an answer that is no stream
      timer = setTimeout(open, RETRY[Math.min(failures++, RETRY.length - 1)]);
    });
  };
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const look = () => {
    if (document.hidden) { close(); show("paused"); } else if (!source) open();
  };
  document.addEventListener("visibilitychange", look);
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) look(); });
  look();
  return () => { document.removeEventListener("visibilitychange", look); close(); };
}

const WORDS = { live: "live", lost: "connection lost, trying again", paused: "paused" };

function show(state) {
  const place = document.getElementById("connection");
  place.hidden = false;
  place.dataset.state = state;
  place.textContent = WORDS[state];
}
