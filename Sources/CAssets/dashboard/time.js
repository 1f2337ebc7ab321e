// The server's clock, and durations and instants as text.

// The server's clock as seen from here: every answer narrows how far it can be from the browser's.
const clock = {
  low: -Infinity,
  high: Infinity,

  // The server's clock was between `from` and `to` at some time between `sent` and `received`.
  learn(from, to, sent, received) {
    const low = from - received;
    const high = to - sent;
    // Bounds that exclude each other: one of the clocks was set.
    if (low > this.high || high < this.low) Object.assign(this, {low, high});
    this.low = Math.max(low, this.low);
    this.high = Math.min(high, this.high);
  },

  now() {
    return Date.now() + Math.max(this.low, Math.min(this.high, 0));
  },
};

const UNITS = {d: 86400000, h: 3600000, m: 60000, s: 1000, ms: 1};

// The milliseconds of a duration as the server writes it, such as `1m30s`; null for none.
function milliseconds(text) {
  const parts = text?.matchAll(/(\d+)(ms|[dhms])/g);
  return parts ? [...parts].reduce((sum, [, number, unit]) => sum + number * UNITS[unit], 0) : null;
}

// Milliseconds in words: two units are enough.
function span(ms) {
  const s = Math.floor(ms / 1000);
  const m = Math.floor(s / 60);
  const h = Math.floor(m / 60);
  const two = number => String(number % 60).padStart(2, "0");
  if (s < 10) return `${(ms / 1000).toFixed(1)}s`;
  if (m < 1) return `${s}s`;
  if (h < 1) return `${m}m ${two(s)}s`;
  return h < 24 ? `${h}h ${two(m)}m` : `${Math.floor(h / 24).toLocaleString()}d ${h % 24}h`;
}

function micros(us) {
  if (us < 1e3) return `${Math.round(us)} µs`;
  return us < 1e6 ? `${+(us / 1e3).toPrecision(2)} ms` : `${+(us / 1e6).toPrecision(3)} s`;
}

function bytes(number) {
  const power = Math.min(4, Math.floor(Math.log2(Math.max(1, number)) / 10));
  return `${+(number / 1024 ** power).toPrecision(3)} ${["B", "KiB", "MiB", "GiB", "TiB"][power]}`;
}

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const CLOCK_TIME = {hour: "2-digit", minute: "2-digit", hourCycle: "h23"};
const time = new Intl.DateTimeFormat(undefined, {...CLOCK_TIME, second: "2-digit"});
const day = new Intl.DateTimeFormat(undefined, {...CLOCK_TIME, month: "short", day: "numeric"});

// An instant in local time, with its day where that is not today.
function instant(ms) {
  const date = new Date(ms);
  const now = new Date();
  if (date.toDateString() === now.toDateString()) return time.format(date);
  return date.getFullYear() === now.getFullYear() ? day.format(date) : date.toLocaleDateString();
}
