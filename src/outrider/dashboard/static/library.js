// The library: scrolls the open tab into view, and shows the number of waiting questions.

import { subscribe } from "./feed.js";
import { showWaiting } from "./waiting.js";

document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
subscribe({ questions: (changes) => showWaiting(changes.at(-1).open) });
