// One stream for all tabs of a browser, which has six connections to a host over HTTP/1.1. One of the tabs that are
// shown leads: it holds the stream and passes the events on to the others. While no tab is shown there is none.

const BEAT_MS = 1000;
// Without a message for so many milliseconds, a tab no longer says that it is live, and takes the lead itself.
const QUIET_MS = 4000;
const STEAL_MS = 10000;

const tabs = {
  channel: null,
  isAttending: false,
  isLeading: false,
  // Whether the leader's stream is open, and the newest event that it has passed on.
  isLive: false,
  at: null,
  // When the leader was last heard.
  heard: 0,
  // Whether the leader that this tab hears while it waits has a stream.
  mayReach: false,
  mustSteal: false,

  // Follows the events, with a stream or from another tab, until `signal` or a failure ends it; then throws.
  async attend(signal) {
    signal.throwIfAborted();
    this.join(tabsName());
    Object.assign(this, {isAttending: true, mayReach: false, heard: Date.now()});
    this.channel.postMessage({hello: true});
    const alarm = setInterval(() => this.listen(), BEAT_MS);
    try {
      const lead = () => this.lead(signal);
      await Promise.race([end(signal), this.elect(signal, lead)]);
    } finally {
      clearInterval(alarm);
      this.isAttending = false;
    }
  },

  // Opens the channel that tabs of this name share.
  join(name) {
    if (this.channel?.name === name) return;
    this.channel?.close();
    this.channel = new BroadcastChannel(name);
    this.channel.onmessage = ({data}) => this.hear(data);
  },

  // Calls `lead` once no other tab leads.
  elect(signal, lead) {
    const {name} = this.channel;
    // Locks are there where the page came over TLS or from this machine.
    if (!navigator.locks) return lease.hold(name, signal, lead);
    const options = this.mustSteal ? {steal: true} : {signal};
    this.mustSteal = false;
    return navigator.locks.request(name, options, lead);
  },

  // Holds the stream until it ends; throws.
  async lead(signal) {
    signal.throwIfAborted();
    Object.assign(this, {isLeading: true, at: watch.since});
    const beat = setInterval(() => this.pass([]), BEAT_MS);
    try {
      const path = `v1/events?since=${encodeURIComponent(this.at)}`;
      const opened = silence.limit(api.open(path, {headers: {...LINES}, signal}));
      const response = await Promise.race([end(signal), opened]);
      watch.attempt = 0;
      this.isLive = true;
      this.pass([]);
      await Promise.race([end(signal), this.read(response)]);
    } finally {
      clearInterval(beat);
      Object.assign(this, {isLeading: false, isLive: false});
    }
  },

  async read(response) {
    for await (const events of pieces(response)) {
      if (this.isLeading) this.pass(events);
    }
    throw new Problem(0, {detail: "the server ended the stream"});
  },

  // Gives events, or a sign of life, to all tabs.
  pass(events) {
    const {at, isLive} = this;
    this.at = events.at(-1)?.id ?? at;
    const message = {from: at, events, isLive};
    this.channel.postMessage(message);
    this.take(message);
  },

  hear(message) {
    if (message.hello) {
      if (this.isLeading) this.pass([]);
    } else if (!this.isAttending) {
      // The server can be reached again: this tab need not wait longer, once.
      if (message.isLive && !this.mayReach) watch.wake?.(true);
      this.mayReach = message.isLive;
    } else if (!this.isLeading) {
      this.take(message);
    }
  },

  take(message) {
    this.heard = Date.now();
    watch.take(message);
    if (watch.held) return;
    if (message.isLive) watch.attempt = 0;
    show(...message.isLive ? ["live", "Live"] : ["connecting", "Connecting"]);
  },

  // Notices that the tab that leads is not heard.
  listen() {
    const quiet = Date.now() - this.heard;
    if (this.isLeading || quiet < QUIET_MS) return;
    show("connecting", "Connecting");
    this.mustSteal = quiet > STEAL_MS;
    if (this.mustSteal) watch.visit.abort();
  },
};

// The lead where the browser offers no locks: an entry that is good for a while and that its holder renews.
const lease = {
  me: String(Math.random()),
  ms: 4000,

  async hold(name, signal, lead) {
    do {
      if (this.isFree(name)) {
        this.write(name);
        // The last of several that write at once has it.
        await sleep(300);
        if (this.isMine(name)) break;
      }
      await sleep(200 + 300 * Math.random());
    } while (!signal.aborted);
    const renewal = setInterval(() => this.renew(name), BEAT_MS);
    try {
      await lead();
    } finally {
      clearInterval(renewal);
      if (this.isMine(name)) localStorage.removeItem(name);
    }
  },

  read(name) {
    const [holder, until] = localStorage.getItem(name)?.split(" ") ?? [];
    return {holder, until: Number(until)};
  },

  write(name) {
    localStorage.setItem(name, `${this.me} ${Date.now() + this.ms}`);
  },

  isMine(name) {
    return this.read(name).holder === this.me;
  },

  isFree(name) {
    const {holder, until} = this.read(name);
    const left = until - Date.now();
    // A lease that ends later than any could was written before the clock was set back.
    return !holder || holder === this.me || !(left > 0 && left <= this.ms);
  },

  renew(name) {
    if (!this.isMine(name)) return watch.visit.abort();
    this.write(name);
  },
};

const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

// Throws once `signal` is aborted.
function end(signal) {
  return new Promise((_, reject) => {
    const fail = () => reject(signal.reason);
    if (signal.aborted) fail();
    signal.addEventListener("abort", fail, {once: true});
  });
}

// The tabs of this server, wherever a proxy has it, and of this key: others may not see the same events. Every page of
// this origin can list the name, which therefore has the key's id and nothing of its secret.
function tabsName() {
  return `timerd ${new URL(".", location).pathname} ${access.self.id ?? ""}`;
}
