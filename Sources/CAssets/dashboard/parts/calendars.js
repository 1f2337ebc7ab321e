// The calendars: their list, their definitions, and their open hours drawn as a week.

const DAY_MS = 86400000;
const NEW_CALENDAR = {timeZone: ZONE, week: {"mon-fri": ["09:00-12:30", "13:30-18:00"]}, dates: {}};

const calendars = {
  box: $("calendars"),
  form: $("calendar-form"),
  // The calendars by name, and the one that is open, null: none, or a new one.
  all: new Map(),
  open: null,
  // One use of the form, which answers to an earlier one leave alone.
  use: null,
  // The definition as the form had it at first, and the latest listing, which older answers do not take the place of.
  text: "",
  turn: null,

  // Lists the calendars, and opens the one that the address names then, unless it is open and changed in the form.
  async show() {
    const turn = this.turn = {};
    let words;
    try {
      let cursor = "";
      const all = new Map();
      while (cursor !== null) {
        const page = await api.json(`v1/calendars?limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
        for (const calendar of page.calendars) all.set(calendar.name, calendar);
        cursor = page.next;
      }
      if (this.turn === turn) this.all = all;
      words = all.size ? "" : "There are no calendars yet.";
    } catch (problem) {
      words = problem.sentence ?? problem.message;
    }
    if (this.turn !== turn) return;
    write($("calendars-note"), words);
    const name = route.get("calendar");
    $("calendars-list").replaceChildren(...[...this.all.values()].map(calendar => {
      const link = make("a", {href: route.with({view: "calendars", calendar: calendar.name})}, calendar.name);
      if (calendar.name === name) link.setAttribute("aria-current", "true");
      return make("li", {}, link, make("small", {}, ` ${calendar.timeZone}`));
    }));
    // A hidden form keeps what was typed for a calendar that was deleted: another one of that name is shown as it is.
    const isTyped = !this.form.hidden && this.open?.name === name && this.form.text.value !== this.text;
    if (this.all.has(name)) isTyped || this.edit(this.all.get(name));
    else if (this.open && !this.all.has(this.open.name)) this.form.hidden = true;
  },

  // Opens a calendar in the form; null: a new one.
  edit(calendar) {
    this.open = calendar;
    this.use = {};
    this.form.hidden = false;
    const {timeZone, week, dates} = calendar ?? NEW_CALENDAR;
    this.form.name.value = calendar?.name ?? "";
    this.form.name.readOnly = calendar !== null;
    // The intervals of a day stand on one line.
    const text = JSON.stringify({timeZone, week, dates}, null, 2);
    this.form.text.value = text.replace(/\[[^\]]*\]/g, list => list.replace(/\s*\n\s*/g, "").replaceAll(",", ", "));
    this.text = this.form.text.value;
    this.form.text.readOnly = !access.may("write");
    clearErrors(this.form);
    $("calendar-delete").disabled = calendar === null;
    this.draw();
  },

  // Draws the open hours of the seven days from today, in the calendar's zone.
  async draw() {
    const {open} = this;
    $("open-week").replaceChildren();
    write($("open-words"), "");
    if (!open) return;
    const from = Math.floor(clock.now() / DAY_MS) * DAY_MS - DAY_MS;
    const query = [from, from + 9 * DAY_MS].map(ms => new Date(ms).toISOString());
    try {
      const path = `v1/calendars/${encodeURIComponent(open.name)}/open?from=${query[0]}&until=${query[1]}`;
      const {open: hours} = await api.json(path);
      if (this.open !== open) return;
      const days = weekOf(hours, open.timeZone);
      $("open-week").replaceChildren(...days.map(day => this.day(day)));
      write($("open-words"), `Open hours of the next seven days, ${open.timeZone}`);
    } catch (problem) {
      if (this.open === open) write($("open-words"), problem.sentence ?? problem.message);
    }
  },

  day({title, spans}) {
    const two = number => String(number).padStart(2, "0");
    const hour = minutes => `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
    const words = spans.map(([from, until]) => `${hour(from)}–${hour(until)}`).join(", ") || "closed";
    const bars = spans.map(([from, until]) => {
      const bar = make("i");
      Object.assign(bar.style, {left: `${from / 14.4}%`, width: `${(until - from) / 14.4}%`});
      return bar;
    });
    return make("li", {}, make("b", {}, title), make("span", {className: "hours", "aria-hidden": true}, ...bars),
      make("small", {}, words));
  },

  // Saves the form: a calendar as it was read, or a new one.
  async save() {
    const {open, use} = this;
    const name = this.form.name.value.trim();
    const {value: text} = this.form.text;
    clearErrors(this.form);
    try {
      if (!name) throw new Problem(400, {detail: "a calendar has a name", pointer: "/name"});
      const headers = open ? {"If-Match": `"v${open.version}"`} : {"If-None-Match": "*"};
      const options = {method: "PUT", body: text, headers};
      const calendar = await api.json(`v1/calendars/${encodeURIComponent(name)}`, options);
      toast(`${name} is saved.`);
      if (this.use === use) {
        Object.assign(this, {open: calendar, text});
        this.form.name.value = name;
        this.form.name.readOnly = true;
        $("calendar-delete").disabled = false;
        route.note({calendar: name});
      }
      await this.show();
    } catch (problem) {
      if (this.use === use && open && problem.status === 412) await this.readAgain(open, problem);
      if (this.use === use && this.form.name.value.trim() === name) return this.complain(problem);
      toast(`${name}: ${problem.sentence ?? problem.message}`, true);
    }
  },

  // Reads the version of a calendar that another client has changed, so that the text can be saved in its place.
  async readAgain(open, problem) {
    const now = await api.json(`v1/calendars/${encodeURIComponent(open.name)}`).catch(failure => failure);
    if (this.open !== open || (now instanceof Error && now.status !== 404)) return;
    this.open = now instanceof Error ? null : now;
    $("calendar-delete").disabled = this.open === null;
    const what = this.open ? "saved another version of it" : "deleted it";
    problem.message = `another client has ${what} meanwhile: Save puts this text in its place`;
  },

  // Shows a problem, and selects the part of the text that its pointer names.
  complain(problem) {
    const error = this.form.querySelector("p.error");
    const isTaken = problem.status === 412 && !this.form.name.readOnly;
    const words = isTaken ? "There is such a calendar already." : problem.sentence ?? problem.message;
    write(error, problem.pointer ? `${problem.pointer}: ${words}` : words);
    const field = problem.pointer === "/name" || isTaken ? this.form.name : this.form.text;
    field.setAttribute("aria-invalid", true);
    field.focus();
    if (field === this.form.text && problem.pointer) field.setSelectionRange(...placeOf(problem.pointer, field.value));
  },

  remove() {
    const {name, version} = this.open;
    question("Delete", `The calendar ${name} will be deleted. No timer may go by it.`, async () => {
      const headers = {"If-Match": `"v${version}"`};
      await api.open(`v1/calendars/${encodeURIComponent(name)}`, {method: "DELETE", headers}).catch(problem => {
        if (problem.type === "/problems/calendar-in-use") {
          const users = count(problem.timers, "timer goes", "timers go");
          problem.message = `${users} by it: cancel them, or give them another`;
        }
        throw problem;
      });
      toast(`${name} is deleted.`);
      this.open = null;
      this.form.hidden = true;
      route.note({calendar: ""});
      this.show();
    });
  },
};

// The day and the minute of it that an instant is, by a format in the calendar's zone.
function dayOf(ms, format) {
  const parts = format.formatToParts(ms);
  const {weekday, day: number, month, year, hour, minute} = Object.fromEntries(parts.map(Object.values));
  const title = `${weekday} ${number} ${month}`;
  return {title, key: `${title} ${year}`, minutes: 60 * hour + Number(minute)};
}

// The seven days from today in a zone, each with the spans of minutes of it that are open. Steps of half a day skip no
// day, whatever the clocks do.
function weekOf(hours, zone) {
  const format = new Intl.DateTimeFormat("en-GB", {...ZONED, timeZone: zone});
  const days = new Map();
  for (let ms = clock.now(); days.size < 7; ms += DAY_MS / 2) {
    const {key, title} = dayOf(ms, format);
    if (!days.has(key)) days.set(key, {title, spans: []});
  }
  for (const {from, until} of hours) {
    const [start, end] = [Date.parse(from), Date.parse(until)];
    const last = dayOf(end, format);
    let before = "";
    for (let ms = start; ; ms += DAY_MS / 2) {
      const {key, minutes} = dayOf(Math.min(ms, end), format);
      const isLast = key === last.key;
      const reach = [ms === start ? minutes : 0, isLast ? last.minutes : 1440];
      if (key !== before && reach[1] > reach[0]) days.get(key)?.spans.push(reach);
      before = key;
      if (isLast) break;
    }
  }
  return [...days.values()];
}

// The start and the end of the value that a JSON pointer names in a text: each name is looked for after the one before.
function placeOf(pointer, text) {
  let place = 0;
  let end = text.length;
  for (const name of pointer.slice(1).split("/")) {
    const key = text.indexOf(`"${name}"`, place);
    if (key >= 0) {
      place = key;
      end = key + name.length + 2;
    } else if (/^\d+$/.test(name)) {
      const items = [...text.slice(text.indexOf("[", place)).matchAll(/"[^"]*"/g)];
      const item = items[Number(name)];
      if (!item) break;
      place = text.indexOf("[", place) + item.index;
      end = place + item[0].length;
    }
  }
  return end === text.length ? [0, 0] : [place, end];
}

document.querySelector("aside").before(calendars.box);
calendars.form.onsubmit = event => {
  event.preventDefault();
  calendars.save();
};
$("calendar-new").onclick = () => {
  route.note({calendar: ""});
  calendars.edit(null);
  calendars.form.name.focus();
};
$("calendar-delete").onclick = () => calendars.remove();
