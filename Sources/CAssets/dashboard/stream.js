// Lists the timers, then follows the events from the list's Event-Id, so that nothing falls in between.

const watch = {
  // The newest event that is known here; null: list first.
  since: null,
  // Failures in a row.
  attempt: 0,
  // A stream without a byte for so many milliseconds is given up.
  silenceMs: 45000,
  abort: null,
  wake: null,
  relist: new Error("list anew"),

  async run() {
    for (;;) {
      try {
        show("connecting", this.since === null ? "Loading" : "Connecting");
        this.since ??= await store.load();
        $("timers").setAttribute("aria-busy", false);
        await this.follow();
        await this.pause("the server ended the stream");
      } catch (error) {
        if (error === this.relist) continue;
        // What came after `since` is no longer kept.
        if (error.status === 410) this.since = null;
        if (error.status !== 410 || this.attempt++ > 0) await this.pause(error.message);
      }
    }
  },

  // Follows the events from `since` on until the stream ends; throws when it breaks, falls silent or has a gap.
  async follow() {
    this.abort = new AbortController();
    const {signal} = this.abort;
    const path = `/v1/events?since=${encodeURIComponent(this.since)}`;
    const response = await api.open(path, {headers: {Accept: "application/x-ndjson"}, signal});
    show("live", "Live");
    this.attempt = 0;
    try {
      await this.read(response.body.getReader());
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw error instanceof Problem ? error : new Problem(0, {detail: "the connection was lost"});
    } finally {
      this.abort.abort();
    }
  },

  // Reads lines until the stream ends.
  async read(reader) {
    const decoder = new TextDecoder();
    let rest = "";
    let beat = 0;
    for (;;) {
      const {done, value} = await this.inTime(reader.read());
      if (done) return;
      const lines = (rest + decoder.decode(value, {stream: true})).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        if (line) this.take(JSON.parse(line));
        // Two empty lines in a row tell how often the server's heart beats.
        const now = Date.now();
        if (!line && beat) this.silenceMs = Math.max(3000, 3 * (now - beat));
        beat = line ? 0 : now;
      }
      // The next tick draws it: many chunks may come until then.
      store.isStale = true;
    }
  },

  // The value of `promise`; the stream is aborted where that takes too long.
  async inTime(promise) {
    const {abort} = this;
    const alarm = setTimeout(() => abort.abort(new Problem(0, {detail: "the server fell silent"})), this.silenceMs);
    try {
      return await promise;
    } finally {
      clearTimeout(alarm);
    }
  },

  take(event) {
    if (event.type === "gap") throw new Problem(410, {detail: "this page fell behind"});
    clock.learn(Date.parse(event.at), Infinity, 0, Date.now());
    store.apply(event);
    feed.take(event);
    charts.take(event);
    this.since = event.id;
  },

  // Waits longer after each failure, up to 30 s, with jitter, so that clients do not come back in step.
  async pause(reason) {
    const until = Date.now() + Math.min(30000, 500 * 2 ** this.attempt++) * (0.5 + Math.random() / 2);
    $("retry").hidden = false;
    for (let left; (left = until - Date.now()) > 0;) {
      const more = `in ${Math.ceil(left / 1000)} s: ${reason}`;
      if (navigator.onLine) {
        show("waiting", "Reconnecting", more);
      } else {
        show("offline", "Offline", more);
      }
      const isWoken = await new Promise(resolve => {
        this.wake = resolve;
        setTimeout(resolve, Math.min(1000, left));
      });
      if (isWoken) break;
    }
    $("retry").hidden = true;
  },

  // Lists anew, with what the server is to filter by.
  restart() {
    this.since = null;
    this.abort?.abort(this.relist);
  },
};

// Shows the state of the connection. `more` changes each second and is kept from screen readers.
function show(state, word, more = "") {
  $("connection").dataset.state = state;
  write($("connection").firstElementChild, word);
  write($("connection").lastElementChild, more);
}

$("retry").onclick = () => watch.wake?.(true);
addEventListener("online", () => watch.wake?.(true));
