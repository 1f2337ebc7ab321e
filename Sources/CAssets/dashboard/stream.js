// The timers as this tab knows them: it lists them, then applies events from the list's Event-Id on, without a gap. The
// events come from tabs.js; a tab that missed some reads them by a request of its own.

// Events that are read again after a gap; beyond that, listing the timers costs less.
const MOST_REPLAYED = 2000;
// Messages that are kept while this tab lists or catches up. Those beyond are a gap, which is caught up with.
const MOST_HELD = 256;
// The media type in which events are asked for.
const LINES = {Accept: "application/x-ndjson"};

const watch = {
  // The newest event that this tab has applied.
  since: null,
  mustList: true,
  // Failures in a row.
  attempt: 0,
  // The promise of catching up, and the messages that wait for it; null: this tab does not catch up.
  catching: null,
  held: null,
  // The visit that lasts while the page is shown and nothing fails. Its end, an abort, ends the tab's stream.
  visit: new AbortController(),
  wake: null,

  // Follows the timers for as long as the page is there. A key that can't read them leaves nothing to follow: another
  // one begins with a page of its own.
  async run() {
    for (;;) {
      await untilShown();
      await access.asking;
      const {signal} = this.visit = new AbortController();
      try {
        show("connecting", this.since === null ? "Loading" : "Connecting");
        await access.know();
        if (!access.may("read")) return $("unreadable").focus();
        await this.catchUp();
        $("timers").setAttribute("aria-busy", false);
        await tabs.attend(signal);
      } catch (error) {
        this.visit.abort();
        // The page was hidden, or another tab took over.
        if (error.name === "AbortError") continue;
        // The events after `since` are no longer kept.
        if (error.status === 410) this.mustList = true;
        if (isUnserved(error)) outage.begin(error.status === 503);
        if (error.status !== 410 || this.attempt++ > 0) await this.pause(error.message);
      }
    }
  },

  // Brings this tab to the present. Who asks meanwhile waits for the same.
  catchUp() {
    return this.catching ??= this.reachPresent().finally(() => {
      this.catching = null;
    });
  },

  async reachPresent() {
    this.held = [];
    try {
      if (!this.mustList) this.mustList = !await this.replay();
      while (this.mustList) {
        this.mustList = false;
        this.since = await store.load().catch(error => {
          this.mustList = true;
          throw error;
        });
        // The listing tells nothing of what was before it.
        if (parts.isLoaded) about.readPast();
      }
    } finally {
      const {held} = this;
      this.held = null;
      for (const message of held) this.take(message);
    }
  },

  // Applies the events after `since`. False: they are too many, or no longer kept.
  async replay() {
    try {
      const path = `v1/events?since=${encodeURIComponent(this.since)}&follow=false&limit=${MOST_REPLAYED}`;
      const response = await api.open(path, {headers: {...LINES}});
      let left = MOST_REPLAYED;
      for await (const events of pieces(response)) {
        left -= events.length;
        for (const event of events) this.apply(event);
      }
      return left > 0;
    } catch (error) {
      if (error.status === 410) return false;
      throw error;
    }
  },

  // Takes the events after `from` up to `to`, which this tab or another one has read.
  take({from, events}) {
    if (this.held) {
      if (this.held.length < MOST_HELD) this.held.push({from, events});
    } else if (isLater(from, this.since)) {
      this.catchUpSoon();
    } else {
      for (const event of events) {
        if (isLater(event.id, this.since)) this.apply(event);
      }
    }
  },

  apply(event) {
    clock.learn(Date.parse(event.at), Infinity, 0, Date.now());
    store.apply(event);
    feed.take(event);
    charts.take(event);
    health.take(event);
    deliveries.take(event);
    if (parts.isLoaded) about.take(event);
    this.since = event.id;
    // The next tick draws it: many events may come until then.
    store.isStale = true;
  },

  // Catches up during a visit; a failure ends the visit.
  catchUpSoon() {
    const {visit} = this;
    if (visit.signal.aborted || this.held) return;
    show("connecting", "Catching up");
    this.catchUp().catch(error => visit.abort(error));
  },

  // Lists anew, with what the server is to filter by.
  restart() {
    this.mustList = true;
    this.catchUpSoon();
  },

  // Waits longer after each failure, up to 30 s, with jitter, so that clients do not come back in step.
  async pause(reason) {
    const until = Date.now() + Math.min(30000, 500 * 2 ** this.attempt++) * (0.5 + Math.random() / 2);
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
  },
};

// Whether one event's id is after another's: ids are decimal numbers of one width.
function isLater(id, than) {
  return id.length === than.length ? id > than : id.length > than.length;
}

async function untilShown() {
  while (document.hidden) await new Promise(resolve => addEventListener("visibilitychange", resolve, {once: true}));
}

// The events of an answer, as they come: an array for each piece, empty for a heartbeat.
async function* pieces(response) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let beat = 0;
  try {
    for (;;) {
      const {done, value} = await silence.limit(reader.read());
      if (done) return;
      const lines = (rest + decoder.decode(value, {stream: true})).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        // Two empty lines in a row tell how often the server's heart beats.
        const now = Date.now();
        if (!line && beat) silence.ms = Math.max(3000, 3 * (now - beat));
        beat = line ? 0 : now;
      }
      const events = lines.filter(Boolean).map(line => JSON.parse(line));
      if (events.at(-1)?.type === "gap") throw new Problem(410, {detail: "this page fell behind"});
      yield events;
    }
  } catch (error) {
    if (error instanceof Problem || error.name === "AbortError") throw error;
    throw new Problem(0, {detail: "the connection was lost"});
  } finally {
    reader.cancel().catch(() => {});
  }
}

const silence = {
  // How long a stream may send nothing, in milliseconds.
  ms: 45000,

  // The value of `promise`; throws where that takes too long.
  async limit(promise) {
    let alarm;
    const late = new Promise((_, reject) => {
      alarm = setTimeout(() => reject(new Problem(0, {detail: "the server fell silent"})), this.ms);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(alarm);
    }
  },
};

// Whether a failure says that no server serves: there was no answer, a gateway's, or that of a server that stands by or
// starts. One with too much to do does serve.
function isUnserved({status, type}) {
  const isBusy = type === "/problems/stream-limit" || type === "/problems/overloaded";
  return [0, 502, 504].includes(status) || (status === 503 && !isBusy);
}

// The time without a server, from a failure until the page is live again: what is shown is old.
const outage = {
  isOn: false,
  // When the page was last live, by the server's clock; null: never yet.
  liveAt: null,

  begin(isAnswered) {
    this.liveAt ??= clock.now();
    const why = isAnswered ? "The server does not serve now" : "The server can't be reached";
    if (!this.isOn) this.set(true, `${why}. What is shown here is as of ${time.format(this.liveAt)}.`);
  },

  end() {
    this.liveAt = clock.now();
    if (this.isOn) this.set(false, "");
  },

  set(isOn, words) {
    this.isOn = isOn;
    write($("gone-words"), words);
    $("gone").hidden = !isOn;
    // The figures are hidden then, but the other servers may be reached.
    shift($("cluster-open"), $(isOn ? "gone" : "health"));
    document.body.classList.toggle("gone", isOn);
    for (const id of ["new", "details-edit", "details-duplicate"]) $(id).disabled = isOn;
    changed();
  },
};

const isGone = () => outage.isOn;

// The time that countdowns are shown for: that of the last news, while the page is not live.
const shownNow = () => $("connection").dataset.state === "live" ? clock.now() : outage.liveAt ?? clock.now();

// Whether the page said that it can't follow the timers.
let isTroubled = false;

// Shows the state of the connection. Trouble is said once, as is its end: the words change with each attempt.
function show(state, word, more = "") {
  $("connection").dataset.state = state;
  write($("connection").firstElementChild, word);
  write($("connection").lastElementChild, more);
  if (state !== "connecting" && isTroubled !== (state !== "live")) {
    isTroubled = !isTroubled;
    say(word);
  }
  if (state !== "live") return;
  outage.end();
  if (!health.stats) health.soon();
}

$("retry").onclick = () => watch.wake?.(true);
addEventListener("online", () => watch.wake?.(true));
addEventListener("visibilitychange", () => {
  if (!document.hidden) return;
  watch.visit.abort();
  show("connecting", "Paused");
});
