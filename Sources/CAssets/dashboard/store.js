// The timers that this page knows, and those that the filters leave, in order.

const STATES = ["idle", "running", "suspended", "cancelled", "completed"];
const MOST_TIMERS = 50000;

// The state that an event leaves its timer in, where it says so.
const STATE_AFTER = {
  created: "idle", activated: "running", suspended: "suspended", resumed: "running",
  cancelled: "cancelled", completed: "completed",
};

const byId = (a, b) => a.id < b.id ? -1 : 1;
const ORDERS = {
  id: byId,
  due: (a, b) => (a.due || Infinity) - (b.due || Infinity) || byId(a, b),
  changed: (a, b) => b.changed - a.changed || byId(a, b),
};

// How late a running timer may be before it is overdue, in milliseconds, besides its own leeway and jitter. Those are
// known once it was read.
const LATE_MS = 2000;
const isStalled = timer => timer.health === "stalled" && timer.state === "running";
const isOverdue = (timer, now) => timer.allowedIn === "running" && timer.state === "running" && timer.due
  && timer.due + timer.slack < now;

// The filters that pick timers in trouble.
const ONLY = {stalled: isStalled, overdue: isOverdue, broken: timer => health.dead.has(timer.id)};

const store = {
  timers: new Map(),
  order: [],
  view: [],
  counts: {},
  // How many timers the filters leave.
  shown: 0,
  isStale: true,
  // How many times the timers were listed; a timer that the last walk did not come by is gone.
  walk: 0,
  // The filters and the order that were chosen.
  text: "",
  label: "",
  states: new Set(),
  only: "",
  // The instants in milliseconds between which the timers that are shown are due; null: any.
  range: null,
  sort: "due",
  // Whether the server has more timers than this page holds, and the filters that it applied.
  isCut: false,
  scope: "",

  // Takes a timer over in the server's own words. Payloads stay behind: they may be large.
  put(json) {
    const timer = this.timers.get(json.id) ?? this.add({id: json.id});
    const {payload, webhook, ...shown} = json;
    const due = json.nextFireAt && Date.parse(json.nextFireAt);
    const left = milliseconds(json.remaining);
    const changed = Date.parse(json.updatedAt);
    const whole = milliseconds(json.every ?? json.after) || milliseconds(json.watchdog) * json.misses
      || due - Math.max(changed, Date.parse(json.lastFiredAt ?? 0));
    return Object.assign(timer, shown, {
      shownVersion: json.version, lookVersion: json.version, allowedIn: json.state, due, left, changed,
      whole: Math.max(whole, left, 1), schedule: schedule(json), walk: this.walk, readAt: Date.now(),
      slack: LATE_MS + milliseconds(json.leeway) + milliseconds(json.jitter),
    });
  },

  // Takes an answer over, and returns the timer. Events that came before the answer may have made it old.
  learn(json) {
    const {version = 0, shownVersion = 0} = this.timers.get(json.id) ?? {};
    if (json.version < shownVersion) return this.timers.get(json.id);
    return Object.assign(this.put(json), {version: Math.max(version, json.version)});
  },

  add(timer) {
    this.timers.set(timer.id, timer);
    this.order.push(timer);
    return timer;
  },

  remove(id) {
    const timer = this.timers.get(id);
    if (timer) timer.isGone = true;
    this.timers.delete(id);
  },

  // Applies what an event says for certain; the rest is read from the server once the timer is in sight.
  apply(event) {
    let timer = this.timers.get(event.timer);
    if (event.version <= timer?.shownVersion || event.type.startsWith("deliver")) return;
    if (event.type === "deleted") return this.remove(event.timer);
    if (!timer) {
      if (this.timers.size >= MOST_TIMERS) return void (this.isCut = true);
      timer = this.add({
        id: event.timer, state: "idle", allowed: [], shownVersion: 0, lookVersion: 0, fireCount: 0, schedule: "",
        whole: 1, walk: this.walk,
      });
    }
    const at = Date.parse(event.at);
    const state = STATE_AFTER[event.type] ?? timer.state;
    if (state === "suspended") timer.left = timer.due ? Math.max(0, timer.due - at) : null;
    if (state !== "running") timer.due = null;
    // `lookVersion` is a version in which the timer looks as it is shown. A fire changes nothing of that; another event
    // does, until the timer is read again.
    if (event.type !== "fired") timer.newsVersion = event.version;
    if (!(timer.newsVersion > timer.lookVersion)) timer.lookVersion = event.version;
    Object.assign(timer, {state, version: event.version, labels: event.labels, changed: at});
    // A PUT may have made it another kind of timer.
    if (event.type === "updated") timer.allowedIn = null;
    if (event.type === "recovered") timer.health = "ok";
    if (event.type === "fired") timer.fireCount = event.fire;
    if (event.reason === "stalled") timer.health = "stalled";
    if (event.nextFireAt !== undefined) timer.due = event.nextFireAt && Date.parse(event.nextFireAt);
  },

  // Reads every timer, a page at a time, and returns the Event-Id that the list can be followed from.
  async load() {
    this.walk += 1;
    this.scope = this.isCut || this.scope ? serverFilter() : "";
    let cursor = "";
    let from;
    let read = 0;
    do {
      const response = await api.open(`v1/timers?limit=1000${this.scope}${cursor && `&cursor=${cursor}`}`);
      const page = await parsed(response);
      from ??= response.headers.get("Event-Id");
      for (const json of page.timers) this.put(json);
      read += page.timers.length;
      cursor = page.next;
      changed();
    } while (cursor && read < MOST_TIMERS);
    this.isCut = cursor !== null;
    if (this.isCut && serverFilter() !== this.scope) watch.mustList = true;
    for (const {id, walk} of this.timers.values()) {
      if (walk !== this.walk) this.remove(id);
    }
    changed();
    return from;
  },

  // Brings `view` and `counts` up to date with timers, filters and order; a view that is held stays as it is.
  arrange(isHeld) {
    const text = this.text.toLowerCase();
    const [key, value] = split(this.label);
    this.order = this.order.filter(timer => !timer.isGone).sort(ORDERS[this.sort]);
    const now = shownNow();
    const isPicked = ONLY[this.only];
    const {range} = this;
    this.counts = Object.fromEntries(STATES.map(state => [state, 0]));
    const shown = this.order.filter(timer => {
      if (isPicked && !isPicked(timer, now)) return false;
      if (range && !(timer.due >= range[0] && timer.due < range[1])) return false;
      if (text && !timer.id.toLowerCase().includes(text)) return false;
      if (key && (value === undefined ? !Object.hasOwn(timer.labels, key) : timer.labels[key] !== value)) return false;
      this.counts[timer.state] += 1;
      return !this.states.size || this.states.has(timer.state);
    });
    this.shown = shown.length;
    if (isHeld) return;
    for (const timer of this.order) timer.index = -1;
    // The order is kept in each part.
    const {stalled = [], broken = [], others = []} = Object.groupBy(shown, troubleOf);
    this.view = stalled.concat(broken, others);
    this.view.forEach((timer, index) => {
      timer.index = index;
    });
    this.isStale = false;
  },
};

// Timers in trouble are shown before all others.
const troubleOf = timer => isStalled(timer) ? "stalled" : health.dead.has(timer.id) ? "broken" : "others";

// `key=value` in two; a key alone has no value.
function split(label) {
  const place = label.indexOf("=");
  return place < 0 ? [label] : [label.slice(0, place), label.slice(place + 1)];
}

// The filters that the server can apply, as a part of a query.
function serverFilter() {
  const {label, states, only, range} = store;
  const byLabel = label.includes("=") ? `&label=${encodeURIComponent(label)}` : "";
  const byTrouble = only === "stalled" ? "&health=stalled" : "";
  const byDue = range ? `&dueBefore=${new Date(range[1]).toISOString()}` : "";
  return byLabel + (states.size ? `&state=${[...states]}` : "") + byTrouble + byDue;
}

// A timer's schedule in a few words, with its calendar.
function schedule(timer) {
  const {clock, calendar} = timer;
  const hours = clock === "working" ? ` · working time by ${calendar}` : calendar ? ` · by ${calendar}` : "";
  return instants(timer) + hours;
}

function instants({cron, rrule, rdates = [], exdates = [], timeZone, every, watchdog, misses, at, after}) {
  const dates = (rdates.length ? ` + ${rdates.length}` : "") + (exdates.length ? ` − ${exdates.length}` : "");
  const expected = (cron || rrule) && `${cron ?? rrule}${dates} · ${timeZone}`;
  if (watchdog) return `watchdog ${watchdog}${misses > 1 ? ` × ${misses}` : ""}${expected ? ` · ${expected}` : ""}`;
  if (expected) return expected;
  if (every) return `every ${every}${timeZone ? ` · ${timeZone}` : ""}`;
  return at ? `at ${instant(Date.parse(at))}` : `after ${after}`;
}

// Milliseconds until the timer fires, or that it will have left when it is resumed; null where it won't fire.
function timeLeft(timer, now) {
  if (timer.state === "suspended") return timer.left ?? null;
  return timer.state === "running" && timer.due ? timer.due - now : null;
}
