// One run, live: the server renders finished steps, and this script shows the text that is being written.

import { fragment } from "./base.js";
import { subscribe } from "./feed.js";
import { seldom, showWaiting } from "./waiting.js";
import "./whole.js";

const MOST = 120; // steps to keep while following a long run
const run = document.querySelector(".run");
const live = document.getElementById("live");
const path = location.pathname.replace(/\/$/, "");
let atEnd = run.dataset.atEnd === "yes";

// Addresses of steps also work for steps that are not shown on this part.
const wanted = location.hash.match(/^#step-(\d+)$/);
if (wanted && !document.getElementById(`step-${wanted[1]}`) && !new URLSearchParams(location.search).has("after")) {
  location.replace(`${path}/steps/${wanted[1]}`);
}

// Text being written: pieces arrive about once a second and are shown over that second.
const queues = { thought: "", said: "" };
let step = 0;
let writing = 0;

function write() {
  writing = 0;
  let more = false;
  for (const [name, rest] of Object.entries(queues)) {
    if (!rest) continue;
    const many = Math.max(1, Math.ceil(rest.length / 30));
    const place = live.querySelector(`.${name}`);
    place.hidden = false;
    place.append(rest.slice(0, many));
    queues[name] = rest.slice(many);
    more ||= queues[name] !== "";
  }
  if (more) writing = requestAnimationFrame(write);
}

function say(name, data) {
  if (data.step !== step) hush(data.step);
  live.hidden = !atEnd;
  queues[name] += data.text;
  writing ||= requestAnimationFrame(write);
}

function hush(next = 0) {
  step = next;
  for (const name of Object.keys(queues)) {
    queues[name] = "";
    const place = live.querySelector(`.${name}`);
    place.textContent = "";
    place.hidden = true;
  }
  live.hidden = true;
}

const refreshAbout = seldom(async () => {
  const fresh = await fragment(`${path}?part=about`);
  const about = document.getElementById("about"); // read only now, because the person may have begun to write meanwhile
  const writes = about.contains(document.activeElement) && document.activeElement.matches("input, textarea");
  const typed = [...about.querySelectorAll(".question input[name=reason], .question textarea")].some((each) => each.value);
  const ids = (from) => [...from.querySelectorAll(".question")].map((each) => each.id).join();
  if ((writes || typed) && ids(fresh) === ids(about)) return; // keeps text that is being written
  if (about.querySelector(":active")) return refreshAbout(); // a button that is replaced while it is held is not pressed
  const open = [...about.querySelectorAll("details")].map((each) => each.open);
  fresh.querySelectorAll("details").forEach((each, number) => { each.open = open[number] ?? each.open; });
  about.replaceWith(fresh);
}, 1000);

const refreshSteps = seldom(async () => {
  if (!atEnd) return;
  const shown = [...document.querySelectorAll("#steps .step")];
  const from = shown.length ? shown.at(-1).dataset.number : 0;
  const fresh = await fragment(`${path}?part=steps&after=${from}`);
  const place = document.getElementById("steps");
  document.getElementById("no-steps")?.remove();
  for (const each of [...fresh.querySelectorAll(".step")]) {
    const old = document.getElementById(each.id);
    if (!old) place.append(each);
    else if (old.dataset.stamp !== each.dataset.stamp) keep(old, each);
    if (Number(each.dataset.number) >= step) hush();
  }
  for (const each of [...place.querySelectorAll(".step")].slice(0, -MOST)) each.remove();
  if (fresh.dataset.next) refreshSteps();
}, 700);

function keep(old, fresh) {
  const open = [...old.querySelectorAll("details")].map((each) => each.open);
  fresh.querySelectorAll("details").forEach((each, number) => { each.open = open[number] ?? each.open; });
  old.replaceWith(fresh);
}

function happen(changes) {
  for (const { kind, data } of changes) {
    if (kind === "text") say("said", data);
    else if (kind === "thinking") say("thought", data);
    else if (kind === "status" && data.restarted) hush(data.restarted);
    if (["tree", "status", "question", "usage"].includes(kind)) refreshAbout();
    if (!["text", "thinking"].includes(kind)) refreshSteps();
  }
}

subscribe({ run: happen, questions: (changes) => { showWaiting(changes.at(-1).open); refreshAbout(); } });
