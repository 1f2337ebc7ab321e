// The timers that this page knows, and those that the filters leave, in order.

const STATES = ["idle", "running", "suspended", "cancelled", "completed"];
const MOST_TIMERS = 50000;

// The state that an event leaves its timer in, where it says so.
const STATE_AFTER = {
  created: "idle", activated: "running", suspended: "suspended", resumed: "running",
  cancelled: "cancelled", completed: "completed",
};

// The numbers that the orders go by; timers with the same one are ordered by their ids.
const ORDERS = {id: () => 0, due: timer => timer.due || Infinity, changed: timer => -timer.changed};
const inOrder = (a, b) => a.sortKey - b.sortKey || (a.id < b.id ? -1 : 1);

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
  // The order that `order` is in.
  sortedBy: "",
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

  // Sorts the timers whose keys have changed, and merges them into the others, which are in order.
  arrangeOrder() {
    const keyOf = ORDERS[this.sort];
    const isOther = this.sort !== this.sortedBy;
    const kept = [];
    const moved = [];
    for (const timer of this.order) {
      if (timer.isGone) continue;
      const key = keyOf(timer);
      (isOther || timer.sortKey !== key ? moved : kept).push(timer);
      timer.sortKey = key;
    }
    moved.sort(inOrder);
    this.order = [];
    let next = 0;
    for (const timer of kept) {
      while (next < moved.length && inOrder(moved[next], timer) < 0) this.order.push(moved[next++]);
      this.order.push(timer);
    }
    while (next < moved.length) this.order.push(moved[next++]);
    this.sortedBy = this.sort;
  },

  // Brings `view` and `counts` up to date with timers, filters and order; a view that is held stays as it is.
  arrange(isHeld) {
    this.arrangeOrder();
    const {range, states} = this;
    const text = this.text.toLowerCase();
    const [key, value] = split(this.label);
    const now = shownNow();
    const isPicked = ONLY[this.only];
    this.counts = Object.fromEntries(STATES.map(state => [state, 0]));
    // The order is kept in each part.
    const parts = {stalled: [], broken: [], others: []};
    for (const timer of this.order) {
      if (!isHeld) timer.index = -1;
      if (isPicked && !isPicked(timer, now)) continue;
      if (range && !(timer.due >= range[0] && timer.due < range[1])) continue;
      if (text && !timer.id.toLowerCase().includes(text)) continue;
      if (key && (value === undefined ? !Object.hasOwn(timer.labels, key) : timer.labels[key] !== value)) continue;
      this.counts[timer.state] += 1;
      if (!states.size || states.has(timer.state)) parts[troubleOf(timer)].push(timer);
    }
    const shown = parts.stalled.concat(parts.broken, parts.others);
    this.shown = shown.length;
    if (isHeld) return;
    this.view = shown;
    shown.forEach((timer, index) => {
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
