// Live: shows one session's pictures and state, and takes the viewer's commands.

import { element, toast } from "./base.js";
import { subscribe } from "./feed.js";
import { Hands } from "./live_input.js";
import { Line } from "./live_line.js";
import { Screen } from "./live_screen.js";
import { showWaiting } from "./waiting.js";

subscribe({ questions: (changes) => showWaiting(changes.at(-1).open) });

const $ = (id) => document.getElementById(id);
const live = $("live");
const screen = new Screen($("screen"));
const line = new Line(new URL(live.dataset.socket, location.href.replace(/^http/, "ws")));
const hands = new Hands(screen, $("keys"), $("picture"), (event, data) => act(event, data));

let chosen = live.dataset.chosen;
let sessions = [];
let control = { holder_sid: null, paused: false, waiting: 0 };
let reachable = false;
let ended = false;
let shownFor = null; // the session whose dialog is open here

const REFUSED = {
  rate_limited: "Too much input at once; the rest of it was dropped.",
  not_holder: "Someone else has control of this session.",
  not_paused: "The agent is running again; pause it first.",
  no_active_session: "There is no page to act on right now.",
  text_too_long: "That is too much text at once.",
};

// Messages from the server

line.on("open", () => {
  reachable = true;
  watch();
});
line.on("lost", () => {
  reachable = false;
  control = { ...control, holder_sid: null };
  render();
});
line.on("sessions", (found) => {
  sessions = found;
  if (!chosen && sessions.some((each) => each.status !== "elsewhere")) choose(sessions[0].id);
  list();
  render();
});
line.on("control_state", (state) => {
  control = state;
  render();
});
line.on("choice", ({ x, y, selected, options }) => {
  if (!mine() || !options.length) return;
  $("choices").replaceChildren(...options.map(({ label, disabled }, index) => element("button", {
    class: "button", disabled, autofocus: index === selected, "aria-pressed": String(index === selected),
    onclick: () => {
      act("steer", { do: "choose", x, y, index });
      $("choice").close();
    },
  }, label || "(empty)")));
  if (!$("choice").open) $("choice").showModal();
});
line.on("ended", () => {
  ended = true;
  render();
});
line.on("frame", async (header, jpeg) => {
  if (header.session_id !== chosen) return line.tell("drawn");
  await screen.draw(header, jpeg);
  line.tell("drawn");
  $("veil").hidden = true;
  tellStream(header);
});

async function act(event, data = {}) {
  const answer = await line.ask(event, data);
  if (answer.ok || answer.error === "lost") return answer;
  if (!["not_holder", "not_paused"].includes(answer.error) || event === "take_control" || event === "resume_agent") {
    toast(answer.message ?? REFUSED[answer.error] ?? `The page did not take it: ${answer.error}.`);
  }
  return answer;
}

async function watch() {
  if (!chosen) return render();
  ended = false;
  const answer = await line.ask("watch", { session_id: chosen, quality: $("quality").value });
  if (!answer.ok && answer.error === "no_active_session") ended = true;
  render();
}

function choose(id) {
  chosen = id;
  screen.forget();
  $("veil").hidden = false;
  $("veil").textContent = "Waiting for the first frame…";
  const address = new URL(location.href);
  address.searchParams.set("session", id);
  history.replaceState(null, "", address);
  watch();
  list();
}

// Input of the person

$("pause").addEventListener("click", () => act(control.paused ? "resume_agent" : "pause_agent"));
$("take").addEventListener("click", async () => {
  if (mine()) return act("release_control");
  const answer = await act("take_control");
  if (!answer.ok) return;
  control = { ...control, holder_sid: line.sid, paused: true };
  render();
  hands.focus();
});
$("quality").addEventListener("change", watch);
$("keyboard").addEventListener("click", () => hands.focus());
for (const button of document.querySelectorAll("[data-do]")) {
  button.addEventListener("click", () => act("steer", { do: button.dataset.do }));
}
$("goto").addEventListener("submit", (event) => {
  event.preventDefault();
  const url = $("address").value.trim();
  if (url) act("steer", { do: "goto", url: /^[a-z]+:/i.test(url) ? url : `https://${url}` });
  hands.focus();
});
for (const [id, accept] of [["dialogyes", true], ["dialogno", false]]) {
  $(id).addEventListener("click", () => {
    const prompt = !$("dialogtext").hidden;
    act("steer", { do: "dialog", accept, ...(prompt ? { text: $("dialogtext").value } : {}) });
    $("dialog").close();
  });
}
$("choiceno").addEventListener("click", () => $("choice").close());
$("choice").addEventListener("close", () => hands.on && hands.focus());
hands.onleave = () => $("take").focus();
$("sessions").addEventListener("click", (event) => {
  const link = event.target.closest("a[data-id]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose(link.dataset.id);
});

// Display

const mine = () => control.holder_sid !== null && control.holder_sid === line.sid;

function list() {
  const known = new Map([...$("sessions").children].map((each) => [each.dataset.id, each]));
  sessions.forEach((each, place) => {
    const entry = known.get(each.id) ?? element("a", { class: "session", "data-id": each.id, href: `?session=${each.id}` },
      element("b", { class: "cut" }), element("span", { class: "cut muted small" }), element("span", { class: "badge" }));
    known.delete(each.id);
    const [title, url, badge] = entry.children;
    put(title, each.title);
    put(url, each.url);
    const [word, kind] = stateOf(each);
    put(badge, word);
    badge.className = `badge ${kind}`;
    if (each.id === chosen) entry.setAttribute("aria-current", "true");
    else entry.removeAttribute("aria-current");
    if ($("sessions").children[place] !== entry) $("sessions").insertBefore(entry, $("sessions").children[place] ?? null);
  });
  for (const gone of known.values()) gone.remove();
}

function stateOf(session) {
  if (session.status === "elsewhere") return ["in another process", ""];
  if (session.status === "crashed") return ["crashed", "bad"];
  if (session.control.holder) return ["a person has control", "info"];
  if (session.control.paused) return [session.busy ? "pausing" : "paused", "warn"];
  if (session.status === "parked") return ["asleep", ""];
  return session.now ? ["in use", "good"] : ["open", ""];
}

function stageState(session) {
  if (!reachable) return ["Connection lost, trying again", "bad"];
  if (ended || !session) return ["Closed", ""];
  if (session.status === "crashed") return ["The page has crashed", "bad"];
  if (mine()) return control.paused ? ["You have control", "info"] : ["You have control; the agent is running", "warn"];
  if (control.holder_sid) return ["Someone else has control", "warn"];
  if (control.paused) return [session.busy ? "Pausing after this step" : control.waiting ? "Paused, the agent is waiting" : "Paused", "warn"];
  if (session.status === "parked") return ["Asleep", ""];
  return ["Watching", "good"];
}

function render() {
  const known = sessions.find((each) => each.id === chosen);
  const elsewhere = known?.status === "elsewhere";
  const session = elsewhere ? undefined : known;
  const over = ended || !session;
  $("nothing").hidden = Boolean(chosen) || sessions.length > 0;
  $("gone").hidden = !(chosen && !session && (ended || reachable) && (elsewhere || !screen.drawn));
  if (elsewhere) tellElsewhere(known);
  $("stage").hidden = !session && (elsewhere || !screen.drawn);
  const [word, kind] = stageState(session);
  put($("state"), word);
  $("state").className = `badge ${kind}`;
  const usable = reachable && Boolean(session) && !ended;
  const others = control.holder_sid !== null && !mine();
  put($("pause"), control.paused ? "Resume" : "Pause");
  $("pause").disabled = !usable || others;
  put($("take"), mine() ? "Release" : "Take control");
  $("take").disabled = !usable || others;
  $("take").classList.toggle("primary", !mine());
  const acting = usable && mine() && control.paused;
  $("steering").hidden = !acting;
  $("keyhelp").hidden = !acting;
  $("picture").className = `picture ${acting ? "held" : ""} ${control.paused && !acting ? "paused" : ""} ${over || !reachable ? "stale" : ""}`;
  hands.enable(acting);
  if (!acting && $("choice").open) $("choice").close();
  notice(session);
  if (session) facts(session, acting);
  askDialog(session, acting);
}

function tellElsewhere({ title, url, owner, replica, there }) {
  put($("gonewhat"), `${title} is in another process`);
  put($("gonewhy"), `Its pictures can be seen, and it can be paused, only in the dashboard of process ${replica}. It is ${there} at ${url}.`);
  if ($("gonecalls").dataset.of !== owner) {
    $("gonecalls").dataset.of = owner;
    $("gonecalls").replaceChildren("All calls in its conversation: ", calls(owner));
  }
}

function notice(session) {
  const words = !reachable ? "" : ended || !session ? (screen.drawn ? "This session is closed. Showing its last frame." : "")
    : session.status === "parked" ? "Unused for a while, so its pages were unloaded. Showing the last frame. It wakes with the agent's next call, or when you take control."
    : session.status === "crashed" ? "The page has crashed; the agent's next navigation opens it again." : "";
  $("notice").hidden = !words;
  put($("notice"), words);
}

function facts(session, acting) {
  put($("title"), session.title);
  put($("url"), session.url);
  if (acting && document.activeElement !== $("address")) $("address").value = session.url;
  const waits = control.paused && control.waiting > 0;
  $("now").replaceChildren(...(session.now && !waits ? call(session.now) : session.last && !waits ? ["nothing; last: ", ...call(session.last)] : ["nothing"]));
  const next = waits && session.now ? ["when you resume: ", ...call(session.now)] : [];
  if (session.goal) next.push(...(next.length ? [element("br")] : []), `“${session.goal}”`);
  $("next").replaceChildren(...(next.length ? next : ["not known"]));
  put($("console"), count(session.console, "message") + (session.errors ? `, ${count(session.errors, "error")}` : ""));
  $("console").className = session.errors ? "warn" : "";
  put($("network"), count(session.requests, "request") + (session.failed ? `, ${session.failed} failed` : ""));
  $("network").className = session.failed ? "warn" : "";
  const owner = [calls(session.owner)];
  if (session.run) owner.push(" · ", element("a", { href: `${live.dataset.runs}/${encodeURIComponent(session.run)}` }, "the agent's run"));
  $("owner").replaceChildren(...owner);
  tabs(session, acting);
}

function calls(conversation) {
  return element("a", { href: `${live.dataset.calls}?${new URLSearchParams({ session: conversation })}` }, conversation);
}

function call({ title, tool, arguments: given }) {
  const said = Object.entries(given).map(([name, value]) => `${name}=${value}`).join(" ");
  return [`${title} `, element("code", {}, said ? `${tool} ${said}` : tool)];
}

function tabs(session, acting) {
  $("tabs").hidden = session.tabs.length < 2;
  $("tabs").replaceChildren(...session.tabs.map((tab) => element("button", {
    class: "button small", "aria-pressed": String(tab.front), disabled: !acting && !tab.front, title: tab.url,
    onclick: () => act("steer", { do: "tab", tab: tab.number }),
  }, element("span", {}, `${tab.number} ${tab.url.replace(/^https?:\/\//, "")}`))));
}

function askDialog(session, acting) {
  const dialog = $("dialog");
  const open = acting ? session?.dialog : null;
  if (!open) {
    if (dialog.open) dialog.close();
    shownFor = null;
    return;
  }
  const key = `${session.id} ${open.kind} ${open.message}`;
  if (shownFor === key) return;
  shownFor = key;
  put($("dialogkind"), { alert: "The page says", confirm: "The page asks", prompt: "The page asks", beforeunload: "Leave the page?" }[open.kind] ?? "The page asks");
  put($("dialogwords"), open.message);
  $("dialogtext").value = "";
  $("dialogtext").hidden = $("dialoglabel").hidden = open.kind !== "prompt";
  $("dialogno").hidden = open.kind === "alert";
  if (!dialog.open) dialog.showModal();
}

const STILL = 2000; // milliseconds
let streamTold = -Infinity;
function tellStream(header) {
  if (performance.now() - streamTold < 500) return;
  streamTold = performance.now();
  const late = Math.max(0, Math.round(Date.now() - header.captured_ts * 1000));
  const still = late > STILL; // it is from before this page opened
  put($("stream"), screen.size.join(" × ") + (still ? ", a still image" : `, ${late} ms behind, ${screen.rate()} frames per second`));
}

const count = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

function put(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

line.open();
