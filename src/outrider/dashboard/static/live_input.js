// Sends mouse, wheel, touch, keys, compositions and pasted text to the page.

const BUTTONS = ["left", "middle", "right"];
const AGAIN = { milliseconds: 500, pixels: 6 }; // within which a further press is a double click
const PIECE = 2000; // characters of one text
const LINE = 16; // pixels of one line of a wheel that counts lines
const TAP = 10; // pixels that a finger may move in a tap
const HOLD = 600; // milliseconds after which a touch is a right click

export class Hands {
  constructor(screen, keys, frame, send) {
    this.screen = screen;
    this.keys = keys;
    this.frame = frame;
    this.send = send;
    this.on = false;
    this.held = new Map(); // keys by code, so that each is released again
    this.pressed = new Set();
    this.last = { at: 0, x: 0, y: 0, button: -1, count: 0 };
    this.moving = null;
    this.turning = null;
    this.touch = null;
    this.onleave = () => {};
    this.#listen();
  }

  // Turns input on or off.
  enable(on) {
    if (on === this.on) return;
    this.on = on;
    this.keys.hidden = !on;
    this.keys.tabIndex = on ? 0 : -1;
    this.held.clear();
    this.pressed.clear();
    this.moving = this.turning = this.touch = null;
  }

  focus() {
    this.keys.hidden = false;
    this.keys.focus({ preventScroll: true });
  }

  #listen() {
    const canvas = this.screen.canvas;
    canvas.addEventListener("pointerdown", (event) => this.on && this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.on && this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.on && this.#up(event));
    canvas.addEventListener("pointercancel", () => { this.touch = null; });
    canvas.addEventListener("contextmenu", (event) => this.on && event.preventDefault());
    canvas.addEventListener("wheel", (event) => this.on && this.#wheel(event), { passive: false });
    this.keys.addEventListener("keydown", (event) => this.#keydown(event));
    this.keys.addEventListener("keyup", (event) => this.on && this.#keyup(event));
    this.keys.addEventListener("blur", () => this.#letGo());
    this.keys.addEventListener("paste", (event) => {
      event.preventDefault();
      this.#type(event.clipboardData.getData("text/plain"));
    });
    this.keys.addEventListener("compositionend", (event) => {
      this.keys.value = "";
      this.#type(event.data);
    });
    this.keys.addEventListener("beforeinput", (event) => {
      if (event.inputType === "deleteContentBackward" && !event.isComposing) this.#stroke("Backspace");
      if (event.inputType === "insertLineBreak") this.#stroke("Enter");
    });
    this.keys.addEventListener("input", (event) => { // input without key events: touch keyboards, dictation
      if (event.isComposing) return;
      if (event.inputType === "insertText" || event.inputType === "insertReplacementText") this.#type(this.keys.value);
      this.keys.value = "";
    });
  }

  // Mouse

  #down(event) {
    this.focus();
    event.preventDefault();
    if (event.pointerType === "touch") return this.#touched(event);
    const point = this.screen.point(event.clientX, event.clientY);
    const button = BUTTONS[event.button];
    if (!point || !button) return;
    this.screen.canvas.setPointerCapture(event.pointerId);
    this.#flush();
    this.pressed.add(button);
    this.send("input_down", { ...point, button, click_count: this.#count(event), modifiers: modifiers(event) });
  }

  #up(event) {
    if (event.pointerType === "touch") return this.#lifted(event);
    const button = BUTTONS[event.button];
    if (!this.pressed.delete(button)) return;
    this.#flush();
    const point = this.screen.point(event.clientX, event.clientY, true);
    this.send("input_up", { ...point, button, click_count: this.last.count, modifiers: modifiers(event) });
  }

  #move(event) {
    if (event.pointerType === "touch") return this.#swiped(event);
    const point = this.screen.point(event.clientX, event.clientY, this.pressed.size > 0);
    if (point) this.#soon({ move: point });
  }

  #count({ timeStamp, clientX, clientY, button }) {
    const { last } = this;
    const near = Math.hypot(clientX - last.x, clientY - last.y) <= AGAIN.pixels;
    const again = near && button === last.button && timeStamp - last.at <= AGAIN.milliseconds;
    this.last = { at: timeStamp, x: clientX, y: clientY, button, count: again ? Math.min(last.count + 1, 3) : 1 };
    return this.last.count;
  }

  #wheel(event) {
    const point = this.screen.point(event.clientX, event.clientY);
    if (!point) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? this.screen.size[1] : 1;
    this.#soon({ turn: [event.deltaX * unit, event.deltaY * unit], at: point });
  }

  // Moves and wheel turns are collected for one animation frame.
  #soon({ move, turn, at }) {
    if (!this.moving && !this.turning) requestAnimationFrame(() => this.#flush());
    if (move) this.moving = move;
    if (turn) {
      const before = this.turning ?? { delta: [0, 0] };
      this.turning = { at, delta: [before.delta[0] + turn[0], before.delta[1] + turn[1]] };
    }
  }

  #flush() {
    const { moving, turning } = this;
    this.moving = this.turning = null;
    if (moving) this.send("input_move", moving);
    if (turning) this.send("input_wheel", { ...turning.at, delta_x: bounded(turning.delta[0]), delta_y: bounded(turning.delta[1]) });
  }

  // Touch: a tap is a click, a long press a right click, a swipe turns the wheel.

  #touched(event) {
    const point = this.screen.point(event.clientX, event.clientY);
    this.touch = point && { x: event.clientX, y: event.clientY, at: event.timeStamp, point, swiped: false };
  }

  #swiped(event) {
    const { touch } = this;
    if (!touch) return;
    const [across, down] = [touch.x - event.clientX, touch.y - event.clientY];
    if (!touch.swiped && Math.hypot(across, down) < TAP) return;
    const { zoom } = this.screen;
    touch.swiped = true;
    [touch.x, touch.y] = [event.clientX, event.clientY];
    this.#soon({ turn: [across * zoom, down * zoom], at: touch.point });
  }

  #lifted(event) {
    const { touch } = this;
    this.touch = null;
    if (!touch || touch.swiped) return;
    const button = event.timeStamp - touch.at > HOLD ? "right" : "left";
    this.send("input_click", { ...touch.point, button, click_count: 1 });
  }

  // Keys

  #keydown(event) {
    if (event.key === "F8") {
      event.preventDefault();
      this.keys.blur();
      this.onleave();
      return;
    }
    if (!this.on || event.isComposing || ["Process", "Unidentified", "Dead"].includes(event.key)) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "v") return; // comes as `paste`
    event.preventDefault();
    if (event.key.length === 1 && event.getModifierState("AltGraph")) return this.#type(event.key);
    this.held.set(event.code, event.key);
    this.send("input_keydown", { key: event.key, code: event.code.slice(0, 32), repeat: event.repeat });
  }

  #keyup(event) {
    const key = this.held.get(event.code);
    if (key === undefined) return;
    event.preventDefault();
    this.held.delete(event.code);
    this.send("input_keyup", { key, code: event.code.slice(0, 32) });
  }

  #letGo() {
    for (const [code, key] of this.held) this.send("input_keyup", { key, code });
    this.held.clear();
  }

  #stroke(key) {
    this.send("input_keydown", { key });
    this.send("input_keyup", { key });
  }

  #type(text) {
    const signs = [...(text ?? "")];
    for (let start = 0; start < signs.length; start += PIECE / 2) { // a character may count as two for the server
      this.send("input_type", { text: signs.slice(start, start + PIECE / 2).join("") });
    }
  }
}

const bounded = (delta) => Math.max(-10000, Math.min(10000, Math.round(delta)));

const modifiers = (event) => (event.altKey ? 1 : 0) | (event.ctrlKey ? 2 : 0) | (event.metaKey ? 4 : 0) | (event.shiftKey ? 8 : 0);
