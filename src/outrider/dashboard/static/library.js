// The library: the open tab comes into sight, and questions that wait are told here, too.

import { subscribe } from "./feed.js";
import { showWaiting } from "./waiting.js";

document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
subscribe({ questions: (changes) => showWaiting(changes.at(-1).open) });
