// Changes that can be taken back: the page holds them back for a while, and sends them when it is left.

const HOLD_MS = 10000;
// How long a pointer that has come to rest counts as near, in milliseconds.
const NEAR_MS = 3000;

const holds = {
  all: new Set(),
  keys: new Map(),

  // Calls `send` in a while, unless it is taken back. `keys` name what is to change.
  add(text, keys, send) {
    const hold = {keys, send};
    const button = (word, isSent) => make("button", {onclick: () => this.end(hold, isSent)}, word);
    hold.item = make("div", {className: "toast"}, text, button("Undo", false), button("Now", true));
    hold.alarm = setTimeout(() => this.end(hold, true), HOLD_MS);
    this.all.add(hold);
    for (const key of keys) this.keys.set(key, hold);
    $("held").append(hold.item);
    changed();
  },

  end(hold, isSent) {
    if (!this.all.delete(hold)) return;
    clearTimeout(hold.alarm);
    for (const key of hold.keys) this.keys.delete(key);
    hold.item.remove();
    if (isSent) hold.send();
    if (deliveries.isShown) deliveries.render();
    changed();
  },

  has(key) {
    return this.keys.has(key);
  },

  // Takes back the latest change that is held.
  undo() {
    const hold = [...this.all].pop();
    if (hold) this.end(hold, false);
  },
};

addEventListener("pagehide", () => {
  for (const hold of holds.all) holds.end(hold, true);
});

// The mouse: what lies under it keeps its place while it moves, and a while longer.
const pointer = {
  at: -Infinity,
  target: null,

  isNear(box) {
    return box.contains(this.target) && performance.now() - this.at < NEAR_MS;
  },
};

addEventListener("pointermove", ({pointerType, target}) => {
  if (pointerType === "mouse") Object.assign(pointer, {at: performance.now(), target});
}, {passive: true});
document.documentElement.addEventListener("pointerleave", () => {
  pointer.target = null;
});
