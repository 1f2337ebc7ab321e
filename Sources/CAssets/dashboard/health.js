// The server's health at a glance: figures, each a link to what it counts.

const HEALTH_MS = 5000;
// How long the timers of dead deliveries are not read again, in milliseconds: a little less than HEALTH_MS.
const DEAD_MS = 4000;
// The most pages of dead deliveries that are read to find their timers, each of 1,000.
const DEAD_PAGES = 5;

const health = {
  // The members of /v1/stats; null: not read yet.
  stats: null,
  // The members of /readyz, which says in a 503 why the server is not ready.
  readiness: {},
  // How many deliveries of each timer are dead, how many dead ones there were when that was read, and when it was.
  dead: new Map(),
  deadCount: 0,
  deadAt: -Infinity,
  // When the points of the charts were read.
  pointsAt: -Infinity,
  // The pause before the next read, the shorter one before a read that is wanted soon, and the promise of a read.
  pause: null,
  hurry: null,
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
    this.readReadiness();
    this.stats = await api.json("v1/stats");
    const now = Date.now();
    const minutes = Math.min(60, Math.ceil((now - this.pointsAt) / 60000));
    charts.learn((await api.json(`v1/stats/history?minutes=${minutes}`)).points);
    this.pointsAt = now - SLOT_MS;
    await timeline.read();
    if (deliveries.isShown) deliveries.soon();
    const isOld = performance.now() - this.deadAt > DEAD_MS;
    if (isOld && this.stats.deadDeliveries !== this.deadCount) await this.readDead();
    this.render();
  },

  // Reads whether the server is ready, which it says in a 503 as well. A problem has a number as its `status`.
  async readReadiness() {
    try {
      const response = await fetch("readyz", {cache: "no-store", signal: AbortSignal.timeout(20000)});
      const {status, owner} = await response.json();
      this.readiness = {status: typeof status === "string" ? status : "not ready", owner};
    } catch {
      this.readiness = {};
    }
    this.render();
  },

  // Finds the timers whose deliveries are dead. One that dies meanwhile resets the count that the pass began with.
  async readDead() {
    Object.assign(this, {deadCount: this.stats.deadDeliveries, deadAt: performance.now()});
    try {
      await this.countDead();
    } catch (problem) {
      this.deadCount = null;
      throw problem;
    }
  },

  async countDead() {
    const dead = new Map();
    let cursor = "";
    for (let page = 0; page < DEAD_PAGES && cursor !== null; page += 1) {
      const json = await api.json(`v1/deliveries?state=dead&limit=1000${cursor && `&cursor=${cursor}`}`);
      for (const {timer, timerDeleted} of json.deliveries) {
        if (!timerDeleted) dead.set(timer, (dead.get(timer) ?? 0) + 1);
      }
      cursor = json.next;
    }
    this.dead = dead;
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
    this.hurry ??= setTimeout(() => {
      this.hurry = null;
      this.run();
    }, 300);
  },

  // How many timers are stalled and overdue, undefined where that is not read yet. The server's figures count where
  // this page does not hold all timers.
  trouble() {
    if (store.isCut || store.scope) {
      return {stalled: charts.newest("stalled"), overdue: timeline.json?.overdue};
    }
    const now = shownNow();
    const trouble = {stalled: 0, overdue: 0};
    for (const timer of store.timers.values()) {
      if (isStalled(timer)) trouble.stalled += 1;
      if (isOverdue(timer, now)) trouble.overdue += 1;
    }
    return trouble;
  },

  render() {
    if (!this.stats) return;
    const {timers, deadDeliveries, logBytes} = this.stats;
    const {status = "–", owner} = this.readiness;
    const {stalled, overdue} = this.trouble();
    this.write("running", timers.running.toLocaleString());
    this.write("stalled", stalled?.toLocaleString() ?? "–", stalled);
    this.write("overdue", overdue?.toLocaleString() ?? "–", overdue);
    this.write("dead", deadDeliveries.toLocaleString(), deadDeliveries);
    write($("dead-word"), deadDeliveries === 1 ? "dead delivery" : "dead deliveries");
    this.write("rate", charts.rate().toLocaleString());
    this.write("lateness", charts.last("latenessP99Us", micros));
    this.write("storage", `${bytes(logBytes)}, ${charts.last("commitP99Us", micros)}`);
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
