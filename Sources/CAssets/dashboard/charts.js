// The charts of the last hour: what the server kept of it, and since then what this page has seen.

// Milliseconds of a point of a chart, as the server keeps them, and how many there are.
const SLOT_MS = 10000;
const SLOTS = 360;
// How many points may be shown as the present: those of a minute.
const FRESH_SLOTS = 6;
const WIDTH = 326;

const charts = {
  // The figures by slot since 1970: points of the server, or the fires that this page has counted.
  slots: new Map(),
  // Fires by second since 1970, of the last seconds.
  seconds: new Map(),
  // The second in which this page began to count fires.
  from: null,

  take(event) {
    if (event.type !== "fired") return;
    const at = Date.parse(event.at);
    const second = Math.floor(at / 1000);
    this.seconds.set(second, (this.seconds.get(second) ?? 0) + 1);
    const slot = Math.floor(at / SLOT_MS);
    const seen = this.slots.get(slot) ?? {fires: 0};
    if (!seen.at) this.slots.set(slot, {fires: seen.fires + 1});
  },

  // Takes the server's points over: a point is of the slot that holds the middle of its interval. One that came late
  // may share its slot with the next one, and leave the slot before free.
  learn(points) {
    for (const point of points) {
      const slot = Math.floor((Date.parse(point.at) - SLOT_MS / 2) / SLOT_MS);
      const old = this.slots.get(slot);
      if (old?.at < point.at && !this.slots.get(slot - 1)?.at) this.slots.set(slot - 1, old);
      this.slots.set(slot, point);
    }
  },

  // Fires per second of the last ten seconds, or of those that this page has watched.
  rate() {
    const now = Math.floor(clock.now() / 1000);
    if ($("connection").dataset.state === "live") this.from ??= now;
    let fires = 0;
    for (const [second, count] of this.seconds) {
      if (second < now - 10) {
        this.seconds.delete(second);
      } else if (second < now) {
        fires += count;
      }
    }
    const watched = Math.max(1, Math.min(10, now - this.from));
    return Math.round(10 * fires / watched) / 10;
  },

  // The newest value of a figure that has one, if it is fresh.
  newest(name) {
    const now = Math.floor(clock.now() / SLOT_MS);
    for (let slot = now; slot >= now - FRESH_SLOTS; slot -= 1) {
      const value = this.slots.get(slot)?.[name];
      if (value != null) return value;
    }
    return undefined;
  },

  // The newest value of a figure in words.
  last(name, words) {
    const value = this.newest(name);
    return value === undefined ? "–" : words(value);
  },

  render() {
    const now = Math.floor(clock.now() / SLOT_MS);
    for (const slot of this.slots.keys()) {
      if (slot <= now - SLOTS) this.slots.delete(slot);
    }
    const points = Array.from({length: SLOTS}, (_, index) => this.slots.get(now - SLOTS + 1 + index));
    const fires = points.reduce((sum, point) => sum + (point?.fires ?? 0), 0);
    const perSecond = value => `${(+value.toPrecision(2)).toLocaleString()}/s`;
    this.draw("rate", points.map(point => point && point.fires * 1000 / (point.durationMs ?? SLOT_MS)), perSecond,
      `${this.rate().toLocaleString()} now, ${count(fires, "fire")} in the hour`);
    this.draw("lateness", points.map(point => point?.latenessP99Us), micros,
      `p50 ${this.last("latenessP50Us", micros)}, p99 ${this.last("latenessP99Us", micros)}`);
    this.draw("storage", points.map(point => point?.commitP99Us), micros, `p99 ${this.last("commitP99Us", micros)}`);
  },

  // Draws the values as curves, broken where there is none. The words beside a chart are its text alternative.
  draw(id, values, unit, words) {
    const svg = $(id).querySelector("svg") ?? $(id).appendChild(clone("chart"));
    const peak = Math.max(...values.map(value => value ?? 0));
    const runs = [];
    values.forEach((value, index) => {
      if (value == null) return;
      if (values[index - 1] == null) runs.push([]);
      const x = (index * WIDTH / (SLOTS - 1)).toFixed(1);
      runs.at(-1).push(`${x} ${(40 - 36 * value / (peak || 1)).toFixed(1)}`);
    });
    const [area, curve] = svg.querySelectorAll("path");
    area.setAttribute("d", runs.map(run => `M${run[0].split(" ")[0]} 40L${run.join("L")}V40Z`).join(""));
    curve.setAttribute("d", runs.map(run => `M${run.join("L")}h.5`).join(""));
    write(svg.querySelector("text"), peak ? unit(peak) : "");
    write($(id).querySelector("small"), words);
    svg.ariaLabel = `${$(id).querySelector("h2").textContent}: ${words}${peak ? `, at most ${unit(peak)}` : ""}`;
  },
};
