// Changes that can be taken back: the page holds them back for a while, and sends them when it is left.

// How many requests a browser surely sends while its page is left.
const KEPT_REQUESTS = 100;

const holds = {
  // How long a change is held back, in milliseconds.
  ms: 10000,
  all: new Set(),
  // The hold of each thing that is to change, by its key.
  keys: new Map(),
  box: $("held"),
  // The promise that the page is left, and its resolver. Requests that wait for one another are sent at once then.
  left: null,
  leave: null,
  isLeft: false,

  // Holds a change of `rows` back, a map by key. `words` tells of so many rows, `send` sends the change of an array of
  // them, and `cost` is what sending it takes: [requests, bytes]. A row that another hold has moves to this one.
  add({rows, words, send, cost}) {
    for (const key of rows.keys()) this.take(key);
    const hold = {rows, words, send, cost};
    const button = (word, isSent) => make("button", {onclick: () => this.end(hold, isSent)}, word);
    hold.item = make("div", {className: "toast"}, make("span"), button("Undo", false), button("Now", true));
    this.all.add(hold);
    for (const key of rows.keys()) this.keys.set(key, hold);
    this.wait(hold);
    // The buttons of the others keep their places.
    this.box.prepend(hold.item);
    changed();
  },

  // Begins the wait of a hold.
  wait(hold) {
    write(hold.item.firstChild, hold.words(hold.rows.size));
    clearTimeout(hold.alarm);
    hold.alarm = setTimeout(() => this.runOut(hold), this.ms);
  },

  // Sends what was not taken back. While no server answers, which the page may not know yet, it waits once more.
  async runOut(hold) {
    const isServed = !isGone() && await api.open("v1/stats").then(() => true, problem => !isUnserved(problem));
    if (this.all.has(hold)) isServed ? this.end(hold, true) : this.wait(hold);
  },

  // Takes a row out of its hold, which ends with its last one.
  take(key) {
    const hold = this.keys.get(key);
    if (!hold) return;
    this.keys.delete(key);
    hold.rows.delete(key);
    if (hold.rows.size) {
      write(hold.item.firstChild, hold.words(hold.rows.size));
    } else {
      this.end(hold, false);
    }
  },

  end(hold, isSent) {
    if (!this.all.delete(hold)) return;
    clearTimeout(hold.alarm);
    for (const key of hold.rows.keys()) this.keys.delete(key);
    const hadFocus = hold.item.contains(document.activeElement);
    for (const button of hold.item.querySelectorAll("button")) button.disabled = true;
    hold.item.classList.add("ended");
    this.tidy();
    if (isSent) hold.send([...hold.rows.values()]);
    if (deliveries.isShown) deliveries.render();
    changed();
    const sheet = document.querySelector("dialog[open] [data-close]");
    if (hadFocus) sheet ? sheet.focus() : deliveries.isShown ? $("deliveries").focus() : list.focus();
  },

  // Takes away what has ended, but for buttons under the mouse: another hold's would come in their place.
  tidy() {
    if (pointer.isOver(this.box)) return;
    for (const item of this.box.querySelectorAll(".ended")) item.remove();
  },

  get(key) {
    return this.keys.get(key);
  },

  // Takes back the latest change that is held.
  undo() {
    const hold = [...this.all].pop();
    if (hold) this.end(hold, false);
  },

  // Whether a browser may lose some of the changes if the page is left now.
  areTooMany() {
    let [requests, bytes] = [deliveries.sending.size, 0];
    for (const {rows, cost} of this.all) {
      const [more, size] = cost([...rows.values()]);
      requests += more;
      bytes += size;
    }
    return requests > KEPT_REQUESTS || bytes > KEPT_BYTES;
  },

  stay() {
    this.isLeft = false;
    this.left = new Promise(resolve => {
      this.leave = resolve;
    });
  },
};

holds.stay();
addEventListener("pageshow", () => holds.stay());
addEventListener("pagehide", () => {
  holds.isLeft = true;
  holds.leave();
  for (const hold of holds.all) holds.end(hold, true);
});
addEventListener("beforeunload", event => {
  if (holds.areTooMany()) event.preventDefault();
});
