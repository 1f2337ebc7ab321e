"use strict";
// The next fires of a timer, in its time zone and in the reader's.

const ZONED = {
  weekday: "short", year: "numeric", month: "short", day: "numeric", ...CLOCK_TIME, second: "2-digit",
  timeZoneName: "short",
};

// Formats of instants by zone. A zone that this browser does not know has that of the reader.
const zoned = new Map();

function zonedText(ms, zone) {
  if (!zoned.has(zone)) {
    let format;
    try {
      format = new Intl.DateTimeFormat(undefined, {...ZONED, timeZone: zone});
    } catch {
      format = new Intl.DateTimeFormat(undefined, ZONED);
    }
    zoned.set(zone, format);
  }
  return zoned.get(zone).format(ms);
}

// The items of a list of fires: the instant in the timer's zone, how far off it is, and the reader's time where that
// differs. `zone` may be undefined, where the timer has none.
function fireItems(fires, zone) {
  const now = clock.now();
  return fires.map(text => {
    const at = Date.parse(text);
    const here = zonedText(at, ZONE);
    const there = zonedText(at, zone ?? ZONE);
    const item = make("li", {}, make("span", {}, there), make("small", {}, `in ${span(Math.max(0, at - now))}`));
    if (there !== here) item.append(make("small", {}, `${here}, here`));
    return item;
  });
}

// Brings a list of fires up to date with the time.
function tickFires(list, fires) {
  const now = clock.now();
  fires.forEach((text, index) => {
    write(list.children[index].querySelector("small"), `in ${span(Math.max(0, Date.parse(text) - now))}`);
  });
}

// Copies a text, and says so.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied.");
  } catch {
    toast("This browser does not let the page copy: select the text instead.", true);
  }
}
