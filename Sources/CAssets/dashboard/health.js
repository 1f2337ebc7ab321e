// The server's health at a glance: figures, each a link to what it counts.

const HEALTH_MS = 5000;
// The most pages of dead deliveries that are read to find their timers, each of 1,000.
const DEAD_PAGES = 5;

const health = {
  // The members of /v1/stats; null: not read yet.
  stats: null,
  // The members of /readyz, which says in a 503 why the server is not ready.
  readiness: {},
  // How many deliveries of each timer are dead, and how many dead ones there were when that was read.
  dead: new Map(),
  deadCount: 0,
  // The pause before the next read, and the promise of the one under way.
  pause: null,
  reading: null,

  run() {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => this.run(), HEALTH_MS);
    if (document.hidden || $("connection").dataset.state !== "live") return;
    this.reading ??= this.read().catch(() => {}).finally(() => {
      this.reading = null;
    });
  },

  async read() {
    const minutes = this.stats ? 1 : 60;
    const [stats, {points}, readiness] = await Promise.all([
      api.json("v1/stats"), api.json(`v1/stats/history?minutes=${minutes}`),
      fetch("readyz", {cache: "no-store"}).then(response => response.json()),
    ]);
    Object.assign(this, {stats, readiness});
    charts.learn(points);
    await timeline.read();
    if (stats.deadDeliveries !== this.deadCount) await this.readDead();
    this.render();
  },

  // Finds the timers whose deliveries are dead.
  async readDead() {
    const dead = new Map();
    let cursor = "";
    let read = 0;
    for (let page = 0; page < DEAD_PAGES && cursor !== null; page += 1) {
      const json = await api.json(`v1/deliveries?state=dead&limit=1000${cursor && `&cursor=${cursor}`}`);
      for (const {timer, timerDeleted} of json.deliveries) {
        if (!timerDeleted) dead.set(timer, (dead.get(timer) ?? 0) + 1);
      }
      read += json.deliveries.length;
      cursor = json.next;
    }
    Object.assign(this, {dead, deadCount: cursor === null ? read : this.stats.deadDeliveries});
    changed();
  },

  // A delivery that died changes which timers look broken.
  take({type}) {
    if (type !== "deliveryDead") return;
    this.deadCount = null;
    this.soon();
  },

  // Reads the figures again in a moment, once for all that happens until then.
  soon() {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => this.run(), 300);
  },

  render() {
    if (!this.stats) return;
    const {timers, deadDeliveries, logBytes} = this.stats;
    const {status = "–", owner} = this.readiness;
    const {stalled, overdue} = store.trouble;
    const last = charts.last();
    this.write("running", timers.running.toLocaleString());
    this.write("stalled", stalled.toLocaleString(), stalled);
    this.write("overdue", overdue.toLocaleString(), overdue);
    this.write("dead", deadDeliveries.toLocaleString(), deadDeliveries);
    this.write("rate", charts.rate().toLocaleString());
    this.write("lateness", last("latenessP99Us", micros));
    this.write("storage", `${bytes(logBytes)}, ${last("commitP99Us", micros)}`);
    // A server that stands by is well where another one, the owner, is named.
    this.write("ready", status, status !== "ready" && !owner);
  },

  write(name, text, isBad = false) {
    const link = $("health").querySelector(`[data-figure=${name}]`);
    write(link.firstElementChild, text);
    link.classList.toggle("bad", Boolean(isBad));
    const isShown = store.only === name || (name === "running" && String([...store.states]) === name);
    if (isShown) {
      link.setAttribute("aria-current", true);
    } else {
      link.removeAttribute("aria-current");
    }
  },
};

// The word and the colours that a timer is shown with: its state, or its trouble.
function look(timer) {
  if (isStalled(timer)) return "stalled";
  return health.dead.has(timer.id) ? "broken" : timer.state;
}
