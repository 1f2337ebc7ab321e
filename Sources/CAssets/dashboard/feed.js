// The feed: the newest events, newest first.

const FEED_LENGTH = 200;
// The least height of an event, in pixels.
const ITEM_HEIGHT = 24;
const EVENT_COLORS = {
  ...STATE_AFTER, created: "completed", fired: "accent", deleted: "cancelled", deliveryDead: "broken",
};

const feed = {
  box: $("feed"),
  log: $("feed").parentElement,
  events: [],
  // How many events reach to the end of what is in sight, and whether those beyond are drawn as well.
  reach: 0,
  isWhole: true,
  // The timer whose events alone are shown; null: all.
  only: null,
  isPaused: false,
  // Events that came during the pause.
  missed: 0,
  isStale: true,

  take(event) {
    if (this.only && event.timer !== this.only) return;
    this.isStale = true;
    if (this.isPaused) return void (this.missed += 1);
    this.events.push(event);
    if (this.events.length > 2 * FEED_LENGTH) this.events = this.events.slice(-FEED_LENGTH);
  },

  // How far the log is scrolled and how much of it is seen is read when it changes: a read lays the page out.
  measure() {
    this.reach = Math.ceil((this.log.scrollTop + this.log.clientHeight) / ITEM_HEIGHT);
    if (!this.isWhole) this.render(false);
  },

  // Draws what is new in sight, and the rest once nothing new comes.
  tick() {
    if (this.isStale || !this.isWhole) this.render(!this.isStale);
  },

  render(isWhole = true) {
    Object.assign(this, {isStale: false, isWhole});
    const [word, missed] = $("feed-pause").children;
    write(word, this.isPaused ? "Go on" : "Pause");
    // The count is no part of the button's name, which would be read again with each event.
    write(missed, this.isPaused ? `${this.missed.toLocaleString()} new` : "");
    $("feed-pause").setAttribute("aria-pressed", this.isPaused);
    hide($("feed-only"), !this.only, $("feed-pause"));
    write($("feed-only"), `Only ${this.only}${CLOSE}`);
    const events = this.events.slice(-FEED_LENGTH).reverse();
    const items = this.box.children;
    while (items.length > events.length) this.box.lastChild.remove();
    const filled = items.length;
    while (items.length < events.length) this.box.append(clone("event"));
    events.forEach((event, index) => {
      // A new item is filled wherever it is: a button must not be without a name.
      if (isWhole || index < this.reach || index >= filled) this.fill(items[index], event);
    });
  },

  fill(item, event) {
    const {at, type, timer} = event;
    if (item.children[1].textContent !== type) {
      item.style.setProperty("--state", `var(--${EVENT_COLORS[type] ?? "muted"})`);
    }
    const texts = [time.format(Date.parse(at)), type, timer, this.detail(event)];
    texts.forEach((text, part) => write(item.children[part], text));
  },

  detail({type, fire, reason, latenessUs, missed, stalledFor, status, error}) {
    if (type !== "fired") return stalledFor ? `after ${stalledFor}` : String(status ?? error ?? reason ?? "");
    const why = reason === "due" ? `${micros(latenessUs)} late` : reason;
    return `#${fire}, ${why}${missed ? `, ${missed} missed` : ""}`;
  },

  // Shows one timer's events alone, or all again.
  filter(id) {
    this.only = id;
    this.events = this.events.filter(event => !id || event.timer === id);
    this.pause(false);
  },

  pause(isPaused) {
    Object.assign(this, {isPaused, missed: 0});
    this.render();
  },
};

feed.log.addEventListener("scroll", () => feed.measure(), {passive: true});
new ResizeObserver(() => feed.measure()).observe(feed.log);
$("feed-pause").onclick = () => feed.pause(!feed.isPaused);
$("feed-only").onclick = () => feed.filter(null);
feed.box.onclick = event => {
  if (event.target.matches("button")) feed.filter(event.target.textContent);
};
