// The timers that are due in the next hour, day or week: a strip of buckets, each of which lists its timers.

// How many buckets the strip may have for each reach, and how wide one is at least, in pixels.
const BUCKETS = {"1h": [30, 20, 12], "1d": [24, 12], "7d": [28, 14, 7]};
const BUCKET_WIDTH = 24;
const TIMELINE_MS = 15000;

const timeline = {
  box: $("due-strip"),
  // The answer of /v1/stats/due; null: not read yet.
  json: null,
  readAt: -Infinity,
  // The newest read, which alone counts.
  newest: null,
  // The bucket that the arrow keys have come to.
  index: 0,

  // Reads the counts where they are old.
  async read(isWanted = false) {
    if (!this.box.clientWidth) return;
    if (!isWanted && performance.now() - this.readAt < TIMELINE_MS) return;
    this.readAt = performance.now();
    const read = this.newest = {};
    const within = $("due-within").value;
    const most = this.box.clientWidth / BUCKET_WIDTH;
    const buckets = BUCKETS[within].find(buckets => buckets <= most) ?? BUCKETS[within].at(-1);
    const json = await api.json(`v1/stats/due?within=${within}&buckets=${buckets}`);
    if (this.newest !== read) return;
    this.json = json;
    this.render();
  },

  // The instants in between buckets, in milliseconds.
  edge(index) {
    const {from, until, counts} = this.json;
    const start = Date.parse(from);
    return Math.round(start + (Date.parse(until) - start) * index / counts.length);
  },

  render() {
    const {counts, overdue, later} = this.json;
    const hadFocus = this.box.contains(document.activeElement);
    const peak = Math.max(1, ...counts);
    this.index = Math.min(this.index, counts.length - 1);
    this.box.replaceChildren(...counts.map((timers, index) => {
      const [from, to] = [this.edge(index), this.edge(index + 1)];
      const words = `${count(timers, "timer")} due from ${instant(from)} to ${instant(to)}`;
      const bar = make("i");
      bar.style.height = timers ? `${Math.max(8, 100 * timers / peak)}%` : "0";
      return make("button", {
        ariaLabel: words, title: words, tabIndex: index === this.index ? 0 : -1,
        onclick: event => this.pick(from, to, event.shiftKey),
      }, bar);
    }));
    if (hadFocus) this.box.children[this.index].focus({preventScroll: true});
    const sum = counts.reduce((all, timers) => all + timers, 0);
    const more = `${later.toLocaleString()} later${overdue ? `, ${overdue.toLocaleString()} overdue` : ""}`;
    write($("due-words"), `${count(sum, "timer")} by the next fire, ${more}; times of ${ZONE}`);
    write($("due-from"), instant(this.edge(0)));
    write($("due-until"), instant(this.edge(counts.length)));
  },

  // Lists the timers that are due from one instant to another, in milliseconds, soonest first; with Shift, those from
  // there to what is listed as well.
  pick(from, to, isMore) {
    const old = isMore && store.range ? store.range : [from, to];
    store.range = [Math.min(from, old[0]), Math.max(to, old[1])];
    $("sort").value = "due";
    noteFilters();
  },

  key(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step) return;
    event.preventDefault();
    const buttons = this.box.children;
    buttons[this.index].tabIndex = -1;
    this.index = Math.max(0, Math.min(buttons.length - 1, this.index + step));
    buttons[this.index].tabIndex = 0;
    buttons[this.index].focus();
  },
};

timeline.box.onkeydown = event => timeline.key(event);
timeline.box.addEventListener("focusin", event => {
  const index = [...timeline.box.children].indexOf(event.target);
  if (index >= 0) timeline.index = index;
});
$("due-within").onchange = () => timeline.read(true).catch(problem => toast(problem.sentence, true));
$("due-all").onclick = () => {
  $("search").value = $("label").value = store.only = "";
  store.states.clear();
  noteFilters();
};
$("due-only").onclick = () => {
  store.range = null;
  noteFilters();
};
