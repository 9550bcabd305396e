// Live updates. `subscribe({calls: (changes) => …})` continues from the page's state (its data-feed), and after an
// interruption from the last change, so that each change arrives once. A hidden page disconnects, because browsers open
// only six connections to a server; it catches up when it is visible again.

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
      close(); // the browser's own retry gives up permanently after an answer that is not a stream
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
