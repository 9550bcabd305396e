// The socket: sends requests, passes on messages, and reconnects after an interruption.

const RETRY = [200, 500, 1000, 2000, 5000, 10000]; // milliseconds

export class Line {
  constructor(url) {
    this.url = url;
    this.sid = null;
    this.handlers = {};
    this.waiting = new Map();
    this.number = 0;
    this.failures = 0;
    addEventListener("pagehide", () => this.socket?.close());
    addEventListener("pageshow", (event) => { if (event.persisted) this.open(); });
  }

  on(event, handler) {
    this.handlers[event] = handler;
  }

  open() {
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onmessage = ({ data }) => (typeof data === "string" ? this.#said(JSON.parse(data)) : this.#frame(data));
    socket.onclose = () => {
      this.sid = null;
      for (const done of this.waiting.values()) done({ ok: false, error: "lost" });
      this.waiting.clear();
      this.handlers.lost?.();
      setTimeout(() => this.open(), RETRY[Math.min(this.failures++, RETRY.length - 1)]);
    };
  }

  // Sends without an answer.
  tell(event, data = {}) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ event, data }));
  }

  // Sends, and returns the answer `{ok, …}`.
  ask(event, data = {}) {
    if (this.socket?.readyState !== WebSocket.OPEN) return Promise.resolve({ ok: false, error: "lost" });
    const id = ++this.number;
    this.socket.send(JSON.stringify({ event, id, data }));
    return new Promise((done) => this.waiting.set(id, done));
  }

  #said({ event, id, data }) {
    if (event === "answer") {
      this.waiting.get(id)?.(data);
      this.waiting.delete(id);
      return;
    }
    if (event === "welcome") {
      this.sid = data.sid;
      this.failures = 0;
      this.handlers.open?.();
      return;
    }
    this.handlers[event]?.(data);
  }

  #frame(buffer) {
    const length = new DataView(buffer).getUint32(0);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    this.handlers.frame?.(header, new Uint8Array(buffer, 4 + length));
  }
}
