// The list of timers: only the rows in sight exist.

// Rows drawn above and below those in sight.
const MARGIN = 4;
// The length of a ring, in the units of its drawing.
const RING = 88;

const list = {
  box: $("timers"),
  body: $("rows"),
  rows: new Map(),
  spare: [],
  // The timer that keys act on, its place in the list, and the command whose button had the focus.
  active: null,
  index: 0,
  column: null,
  // Pixels of a row, above what is in sight, and of what is in sight.
  height: 0,
  top: 0,
  sight: 0,
  // The timers that were chosen for a command to all of them.
  chosen: new Set(),

  // Whether the rows keep their places, as the mouse is among them.
  isHeld() {
    return pointer.isOver(this.body);
  },

  choose(id, isChosen = !this.chosen.has(id)) {
    if (!access.may("kick")) return;
    if (isChosen && !this.chosen.has(id) && this.chosen.size >= bulk.most) {
      return toast(`At most ${count(bulk.most, "timer")} at once.`, true);
    }
    isChosen ? this.chosen.add(id) : this.chosen.delete(id);
    bulk.showChoice();
  },

  // How far the list is scrolled and how much of it is seen is read when it changes: a read lays the page out.
  measure() {
    Object.assign(this, {top: this.box.scrollTop, sight: this.box.clientHeight});
    changed(false);
  },

  // Draws the rows in sight, and the active one wherever it is, so that scrolling never loses the focus.
  render() {
    const shown = this.inSight();
    const active = this.active;
    const hadFocus = this.body.contains(document.activeElement);
    this.drop(new Set(shown.map(timer => timer.id)));
    let place = this.body.firstElementChild;
    for (const timer of shown) {
      const row = this.rows.get(timer.id) ?? this.spare.pop() ?? this.makeRow();
      this.rows.set(timer.id, row);
      if (row === place) {
        place = place.nextElementSibling;
      } else {
        this.body.insertBefore(row, place);
      }
      this.fill(row, timer, timer.id === active);
    }
    this.body.style.height = `${store.view.length * this.height}px`;
    this.box.setAttribute("aria-rowcount", store.view.length + 1);
    if (hadFocus && !this.body.contains(document.activeElement)) this.focus();
    this.tick();
    this.sayEmpty();
  },

  // The timers whose rows are drawn, from top to bottom.
  inSight() {
    const first = Math.max(0, Math.floor(this.top / this.height) - MARGIN);
    const last = Math.ceil((this.top + this.sight) / this.height) + MARGIN;
    const shown = store.view.slice(first, last);
    const active = this.activeTimer();
    if (active?.index < first) shown.unshift(active);
    if (active?.index >= last) shown.push(active);
    return shown;
  },

  // Takes away the rows of all timers but `wanted`, and keeps them for others.
  drop(wanted) {
    for (const [id, row] of this.rows) {
      if (wanted.has(id)) continue;
      row.remove();
      this.rows.delete(id);
      this.spare.push(row);
    }
  },

  sayEmpty() {
    $("empty").hidden = store.view.length > 0;
    const isLoading = this.box.getAttribute("aria-busy") === "true";
    const isNone = !isLoading && !store.timers.size;
    const way = access.may("write") ? " New timer makes one, or one of these examples:" : "";
    const none = isNone ? `There are no timers yet.${way}` : "No timer matches.";
    write($("empty").firstElementChild, isLoading ? "Loading…" : none);
    $("examples").hidden = !isNone || !access.may("write");
  },

  makeRow() {
    const row = clone("row");
    const [id, due] = row.querySelectorAll("b");
    const [about, at] = row.querySelectorAll("small");
    row.parts = {id, due, about, at, use: row.querySelector("use")};
    for (const name of ["arc", "word", "fires", "actions"]) row.parts[name] = row.querySelector(`.${name}`);
    return row;
  },

  fill(row, timer, isActive) {
    const {parts} = row;
    const shown = look(timer);
    const dead = health.dead.get(timer.id);
    Object.assign(row.dataset, {timer: timer.id, state: timer.state, health: timer.health ?? ""});
    row.setAttribute("aria-rowindex", timer.index + 2);
    row.tabIndex = isActive ? 0 : -1;
    row.ariaSelected = this.chosen.has(timer.id);
    row.classList.toggle("held", timer.isGone || isBusy(timer.id, "cancel") || isBusy(timer.id, "delete"));
    row.style.transform = `translateY(${timer.index * this.height}px)`;
    row.style.setProperty("--state", `var(--${shown})`);
    parts.use.setAttribute("href", `#i-${shown}`);
    write(parts.word, timer.isGone ? "deleted" : shown);
    write(parts.id, timer.id);
    const trouble = dead && `${count(dead, "dead delivery", "dead deliveries")}, ${timer.state}`;
    write(parts.about, [trouble, timer.schedule, ...pairs(timer.labels)].filter(Boolean).join("  ·  "));
    write(parts.fires, timer.fireCount.toLocaleString());
    showButtons(parts.actions, timer, false);
  },

  // Moves rings and countdowns on; those of suspended timers stand still.
  tick() {
    const now = shownNow();
    for (const [id, {parts}] of this.rows) {
      const timer = store.timers.get(id);
      if (!timer) continue;
      const left = timeLeft(timer, now);
      const part = timer.state === "completed" ? 1 : Math.max(0, Math.min(1, left / timer.whole));
      parts.arc.style.strokeDashoffset = (RING * (1 - part)).toFixed(1);
      write(parts.due, left === null ? "–" : left > 0 ? span(left) : "due");
      write(parts.at, left === null ? "" : timer.state === "suspended" ? "left" : instant(timer.due));
    }
  },

  // The timer that keys act on: the one that last had the focus, else its successor.
  activeTimer() {
    let timer = store.timers.get(this.active);
    if (!(timer?.index >= 0)) timer = store.view[Math.min(this.index, store.view.length - 1)];
    this.active = timer?.id;
    this.index = timer?.index ?? 0;
    return timer;
  },

  // Gives the focus to the active row, or to its button for the command `column`.
  focus() {
    const row = this.rows.get(this.active);
    const button = row?.querySelector(`[data-command=${this.column}]:enabled`);
    (button ?? row ?? this.box).focus({preventScroll: true});
  },

  // Makes the timer at `index` the active one, and scrolls as far as it takes to show it.
  select(index) {
    const timer = store.view[Math.max(0, Math.min(store.view.length - 1, index))];
    if (!timer) return;
    Object.assign(this, {active: timer.id, column: null});
    const top = timer.index * this.height;
    const sight = this.box.clientHeight - this.body.offsetTop + this.box.offsetTop;
    this.box.scrollTop = Math.min(top, Math.max(this.box.scrollTop, top + this.height - sight));
    this.render();
    this.focus();
  },

  key(event) {
    const {index = 0} = this.activeTimer() ?? {};
    const page = Math.floor(this.box.clientHeight / this.height) - 1;
    const moves = {
      ArrowDown: index + 1, ArrowUp: index - 1, PageDown: index + page, PageUp: index - page, Home: 0, End: Infinity,
    };
    const steps = {ArrowLeft: -1, ArrowRight: 1};
    const row = this.rows.get(this.active);
    if (event.key in moves) {
      this.select(moves[event.key]);
    } else if (event.key in steps && row) {
      this.stepSideways(row, steps[event.key]);
    } else if (event.key === "Enter" && document.activeElement === row) {
      details.open(this.active);
    } else if (event.key === " " && document.activeElement === row) {
      this.choose(this.active);
    } else if (event.key === "Delete" && row) {
      ask(this.active, "delete");
    } else {
      return;
    }
    event.preventDefault();
  },

  // Moves the focus between a row and its buttons.
  stepSideways(row, step) {
    const places = [row, ...row.querySelectorAll("button:enabled")].filter(place => place.getClientRects().length);
    const next = places[places.indexOf(document.activeElement) + step];
    this.column = next?.dataset.command ?? null;
    next?.focus();
  },
};

// A text that is cut has a tooltip, and an id in the feed always one: it says what a click does.
document.addEventListener("mouseover", ({target}) => {
  if (target.matches("#feed button")) target.title = `Only the events of ${target.textContent}`;
  if (!target.matches(".row b, .row small, #feed small, #feed .type, #who b")) return;
  target.title = target.scrollWidth > target.clientWidth ? target.textContent : "";
});

list.box.addEventListener("scroll", () => list.measure(), {passive: true});
new ResizeObserver(() => list.measure()).observe(list.box);
list.box.onkeydown = event => list.key(event);
list.body.addEventListener("focusin", event => {
  const id = event.target.closest(".row").dataset.timer;
  if (list.active !== id) Object.assign(list, {active: id, column: null});
  changed(false);
});
list.body.onclick = event => {
  const row = event.target.closest(".row");
  const name = event.target.closest("button")?.dataset.command;
  if (event.target.closest(".ring") && access.may("kick")) return list.choose(row.dataset.timer);
  if (!name) return event.target.closest(".actions") ? undefined : details.open(row.dataset.timer);
  // The focus goes to the row: a button that is disabled while the command is under way would lose it.
  row.focus({preventScroll: true});
  list.column = name;
  ask(row.dataset.timer, name);
};
