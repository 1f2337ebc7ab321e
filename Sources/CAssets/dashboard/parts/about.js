// The page of the open timer: its definition, its next fires, its history, and how late its fires were.

// The most events of one request for a history, the most requests without being asked for more, and the most events
// that are shown, the newest.
const MOST_PAST = 5000;
const MOST_PAST_READS = 10;
const MOST_PAST_SHOWN = 300;
// The pause after a failure to read the next fires.
const NEXT_PAUSE_MS = 5000;

// The values that a timer has where its definition does not say otherwise; they are not told.
const DEFAULTS = {
  start: "now", leeway: "0s", jitter: "0s", mode: "fixedRate", onResume: "remaining", misfire: "once", misses: 1,
  retain: "1d", onClosed: "skip",
};
const TOLD = {
  calendar: "Calendar", onClosed: "In closed time", clock: "Clock", from: "From", until: "Until", start: "Starts",
  stop: "Stops", leeway: "Leeway", jitter: "Jitter", mode: "Mode", onResume: "When resumed", misfire: "Misfires",
  misfireGrace: "Misfires for", misses: "Misses", repeatAlarm: "Repeats its alarm", maxFires: "Most fires",
  restartable: "Restartable", retain: "Kept when over",
};
const INSTANTS = new Set(["from", "until", "lastFiredAt", "lastKickedAt", "createdAt", "updatedAt"]);

const about = {
  // The history of the timer that is told of, null: none. It is a new object each time that a timer is shown: `id`, the
  // newest event that was read `at`, its `events`, whether there are more to read, and whether that is under way.
  past: null,
  // The pause before the next read.
  pause: null,
  // The version whose next fires are shown or read, the fires, and the second in which they were drawn.
  nextVersion: null,
  fires: [],
  drawnAt: 0,

  get id() {
    return this.past?.id ?? null;
  },

  // Tells of a timer, all anew.
  show(id) {
    const past = {id, at: "", events: [], hasMore: false, isRead: false};
    Object.assign(this, {past, nextVersion: null, fires: []});
    $("past").replaceChildren();
    $("next").replaceChildren();
    for (const part of ["late-words", "next-plain"]) write($(part), "");
    $("next-box").hidden = true;
    this.render();
    this.readPast();
  },

  // Brings what is told up to date with the timer.
  render() {
    const json = details.json?.id === this.id ? details.json : null;
    const key = json ? JSON.stringify(json) : "";
    renew($("facts"), key, () => json ? this.facts(json) : []);
    if (json && json.version !== this.nextVersion) this.readNext(json);
    const second = Math.floor(clock.now() / 1000);
    if (!this.fires.length || second === this.drawnAt) return;
    this.drawnAt = second;
    tickFires($("next"), this.fires);
    this.draw(this.fires.map(text => Date.parse(text)));
  },

  facts(json) {
    const timer = store.timers.get(this.id);
    const facts = [["Schedule", timer?.schedule ?? ""], ["Fires", json.fireCount.toLocaleString()]];
    const tell = (word, value) => {
      if (value !== null && value !== undefined) facts.push([word, value]);
    };
    const when = text => text && `${zonedText(Date.parse(text), ZONE)}`;
    tell("Missed", json.missedCount || null);
    tell("Last fire", when(json.lastFiredAt));
    if (json.kind === "watchdog") {
      tell("Health", json.health);
      tell("Kicks", json.kickCount.toLocaleString());
      tell("Last kick", when(json.lastKickedAt) ?? "never");
    }
    for (const [name, word] of Object.entries(TOLD)) {
      const value = json[name];
      if (value === null || value === undefined || value === false || value === DEFAULTS[name]) continue;
      const text = typeof value === "string" ? value : JSON.stringify(value);
      tell(word, INSTANTS.has(name) ? when(value) : value === true ? "yes" : text);
    }
    if (json.webhook) tell("Webhook", `${json.webhook.method} ${json.webhook.url}`);
    tell("Made", when(json.createdAt));
    tell("Changed", when(json.updatedAt));
    return facts.flatMap(([word, value]) => [make("dt", {}, word), make("dd", {}, value)]);
  },

  async readNext(json) {
    const {past} = this;
    const isLate = () => this.past !== past || this.nextVersion !== json.version;
    this.nextVersion = json.version;
    try {
      const {fires, description = ""} = await api.json(`${timerPath(past.id)}/next?count=10&describe=true`);
      if (isLate()) return;
      this.fires = fires;
      $("next-box").hidden = !fires.length;
      write($("next-plain"), description);
      $("next").replaceChildren(...fireItems(fires, json.timeZone));
      this.draw(fires.map(text => Date.parse(text)));
    } catch {
      // The timer is gone, which is said above, or the fires are read again.
      setTimeout(() => {
        if (!isLate()) this.nextVersion = null;
      }, NEXT_PAUSE_MS);
    }
  },

  // Draws the fires as marks on a line from now to the last of them.
  draw(fires) {
    const now = clock.now();
    const reach = Math.max(1, fires.at(-1) - now);
    const marks = fires.map(at => `M${(2 + 396 * Math.max(0, at - now) / reach).toFixed(1)} 2v12`);
    $("next-line").firstElementChild.setAttribute("d", `M0 8H400${marks.join("")}`);
    $("next-line").setAttribute("aria-label", `${count(fires.length, "fire")} within ${span(reach)}`);
  },

  // An event of the timer came: the history is read on in a moment.
  take(event) {
    if (event.timer !== this.id) return;
    this.pause ??= setTimeout(() => {
      this.pause = null;
      if (this.past?.isRead) this.take(event);
      else if (!this.past?.hasMore) this.readPast();
    }, 300);
  },

  // Reads on from the newest event that was read; where the events after it are no longer kept, all anew.
  async readPast(isAgain = false) {
    const {past} = this;
    if (!past || past.isRead) return;
    let words = "";
    let isLost = false;
    Object.assign(past, {isRead: true, hasMore: true});
    try {
      for (let reads = 0; this.past === past && past.hasMore && reads < MOST_PAST_READS; reads += 1) {
        await this.readPage(past);
      }
    } catch (problem) {
      past.hasMore = false;
      isLost = problem.status === 410 && !isAgain;
      words = problem.status === 404 ? "Its history is no longer kept." : problem.sentence ?? "";
    } finally {
      past.isRead = false;
    }
    if (this.past !== past) return;
    if (!isLost) return this.tell(words);
    Object.assign(past, {at: "", events: []});
    await this.readPast(true);
  },

  // Reads the next events, from the oldest on: the log can't be read backwards.
  async readPage(past) {
    const since = past.at && `&since=${encodeURIComponent(past.at)}`;
    const path = `${timerPath(past.id)}/events?follow=false&limit=${MOST_PAST}${since}`;
    let read = 0;
    for await (const events of pieces(await api.open(path, {headers: {...LINES}}))) {
      if (this.past !== past) return;
      read += events.length;
      past.events = past.events.concat(events).slice(-MOST_PAST_SHOWN);
      past.at = events.at(-1)?.id ?? past.at;
    }
    past.hasMore = read === MOST_PAST;
  },

  tell(words) {
    const {events, hasMore} = this.past;
    hide($("past-more"), !hasMore, $("past").closest(".past"));
    const until = hasMore && `Up to ${zonedText(Date.parse(events.at(-1).at), ZONE)}: later events are not read yet.`;
    write($("late-words"), words || until || this.lateWords());
    $("past").replaceChildren(...events.toReversed().map(event => make("tr", {"data-type": event.type},
      make("td", {}, day.format(Date.parse(event.at)), ":", String(new Date(event.at).getSeconds()).padStart(2, "0")),
      make("td", {}, event.type), make("td", {}, this.more(event)), make("td", {}, event.by ?? ""))));
  },

  more(event) {
    const {type, reason, latenessUs, silentFor, stalledFor} = event;
    if (type === "recovered") return `silent for ${silentFor}, stalled for ${stalledFor}`;
    const isLate = type === "fired" && reason !== "due" && reason !== "manual";
    return feed.detail(event) + (isLate ? `, ${micros(latenessUs)} late` : "");
  },

  // How late the fires of the history were that the schedule made.
  lateWords() {
    const isLate = ({type, reason}) => type === "fired" && (reason === "due" || reason === "stalled");
    const late = this.past.events.filter(isLate).map(({latenessUs}) => latenessUs).sort((a, b) => a - b);
    if (!late.length) return "";
    const [half, most] = [late[Math.floor(late.length / 2)], late.at(-1)].map(micros);
    return `${count(late.length, "fire")} by the schedule: half at most ${half} late, the latest ${most}`;
  },
};

$("details-more").append($("about"));
$("past-more").onclick = async () => {
  await about.readPast();
  say($("late-words").textContent);
};
