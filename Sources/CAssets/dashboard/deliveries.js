// The list of deliveries: those on their way to webhooks, and the dead ones.

const DEATHS = {
  attempts: "attempts used up", backlog: "too many were pending", status: "its status is final", age: "too old",
};
// How many deliveries a page of the list holds.
const DELIVERY_PAGE = 100;
// The most pages of one read.
const MOST_PAGES = 10;

const deliveries = {
  form: $("deliveries-form"),
  body: $("deliveries").querySelector("tbody"),
  // The deliveries that are shown, the cursor of those after them, and the ids of the chosen ones.
  all: [],
  next: null,
  chosen: new Set(),
  isShown: false,
  // The pause before the list is read again, and the read under way that alone counts.
  pause: null,
  newest: null,
  // The deliveries that are being sent again or dropped, and those that were since the list was read.
  sending: new Set(),
  settled: new Set(),
  // Whether the server is asked what a redrive would do.
  isAsking: false,

  // Shows the list that the address names, or hides it.
  show() {
    const wasShown = this.isShown;
    this.isShown = route.get("view") === "deliveries";
    if (!this.isShown) return;
    for (const name of ["status", "of", "with", "host"]) this.form[name].value = route.get(name);
    this.read();
    if (!wasShown) $("deliveries").focus();
  },

  // The filters as a part of a query.
  query() {
    const {status, of, with: label, host} = this.form;
    const parts = {state: status, timer: of, label, host};
    const given = Object.entries(parts).map(([name, {value}]) => [name, value.trim()])
      .filter(([name, value]) => value && (name !== "label" || value.includes("=")));
    return given.map(([name, value]) => `&${name}=${encodeURIComponent(value)}`).join("");
  },

  // Reads what is shown again, or with a cursor what comes after that. A read that nobody asked for draws nothing under
  // the mouse.
  async read(cursor = null, isOwn = false) {
    if (!this.isShown || !access.may("read")) return;
    clearTimeout(this.pause);
    this.pause = null;
    const read = this.newest = {};
    let found = cursor ? this.all : [];
    let words = "";
    let isNews = !isOwn;
    try {
      // A read again brings as many as were shown, if that takes no more than some requests.
      const wanted = Math.max(this.all.length, found.length + DELIVERY_PAGE);
      let next = cursor;
      for (let page = 0; page < MOST_PAGES && found.length < wanted && (next || !page); page += 1) {
        const limit = Math.min(1000, wanted - found.length);
        const json = await api.json(`v1/deliveries?limit=${limit}${this.query()}${next ? `&cursor=${next}` : ""}`);
        if (this.newest !== read) return;
        found = found.concat(json.deliveries);
        next = json.next;
      }
      if (isOwn && pointer.isOver(this.body)) {
        this.newest = null;
        return this.soon();
      }
      Object.assign(this, {all: found, next});
      this.settled.clear();
      words = this.labelWords() || (this.all.length ? "" : "No delivery matches.");
    } catch (problem) {
      if (this.newest !== read) return;
      words = problem.sentence ?? "";
      isNews = true;
    }
    this.newest = null;
    const ids = new Set(this.all.map(({id}) => id));
    for (const id of this.chosen) {
      if (!ids.has(id)) this.chosen.delete(id);
    }
    write($("deliveries-note"), words);
    this.render();
    if (isNews) say(words || $("deliveries-count").textContent);
  },

  // Reads the list again in a moment, once for all that happens until then; later while the mouse is over it.
  soon() {
    this.pause ??= setTimeout(() => {
      this.pause = null;
      this.newest || pointer.isOver(this.body) ? this.soon() : this.read(null, true);
    }, 500);
  },

  take({type}) {
    if (this.isShown && (type.startsWith("deliver") || type === "fired" || type === "deleted")) this.soon();
  },

  render() {
    this.keepFocus(() => {
      renew(this.body, JSON.stringify(this.all), () => this.all.map(delivery => this.row(delivery)));
    });
    for (const row of this.body.rows) {
      row.querySelector("input").checked = this.chosen.has(row.dataset.delivery);
      const isHeld = this.isHeld(row.dataset.delivery);
      row.classList.toggle("held", isHeld);
      if (isHeld && row.contains(document.activeElement)) row.querySelector("input").focus();
      for (const button of row.querySelectorAll("button")) button.disabled = isHeld;
    }
    const size = this.chosen.size;
    const words = count(this.all.length, "delivery", "deliveries");
    write($("deliveries-count"), `${words}${this.next ? " of more" : ""}${size ? `, ${size} chosen` : ""}`);
    hide($("deliveries-more"), !this.next, $("deliveries"));
    // All that match may include some that are not shown and are to be dropped.
    const isDropping = this.sending.size || [...holds.keys.keys()].some(key => !key.startsWith("timer "));
    const isWhole = this.selector() && !isDropping;
    $("redrive").disabled = this.isAsking || (!isWhole && !this.dead().length);
    $("drop").disabled = !size;
    $("deliveries-all").checked = size > 0 && size === this.all.length;
  },

  // Whether a delivery is to be dropped, or was settled since the list was read.
  isHeld(id) {
    return Boolean(holds.get(id)) || this.sending.has(id) || this.settled.has(id);
  },

  // Keeps the focus at the same control of the same delivery, or near it, while `draw` makes the rows again.
  keepFocus(draw) {
    const row = document.activeElement.closest("#deliveries tbody tr");
    const controls = of => [...of.querySelectorAll("input, a, button")];
    const place = row && [row.rowIndex, controls(row).indexOf(document.activeElement)];
    draw();
    if (!row || row.isConnected) return;
    const same = [...this.body.rows].find(({dataset}) => dataset.delivery === row.dataset.delivery);
    const next = same ?? this.body.rows[Math.min(place[0], this.body.rows.length) - 1];
    ((next && controls(next)[place[1]]) ?? $("deliveries")).focus();
  },

  row(delivery) {
    const {id, timer, type, at, state, attempts, nextAttemptAt, expiresAt, timerDeleted} = delivery;
    const day = instant(Date.parse(at));
    const button = (word, onclick, className = "") => {
      return make("button", {className, "aria-label": `${word} the delivery of ${timer} at ${day}`, onclick}, word);
    };
    const box = make("input", {type: "checkbox", ariaLabel: `Choose the delivery of ${timer}`, onchange: () => {
      this.choose([id], box.checked);
    }});
    const link = make("a", {href: route.with({timer, view: "deliveries"})}, timer);
    const buttons = access.may("write") ? [button("Drop", () => this.drop([id]), "danger")] : [];
    if (state === "dead" && buttons.length) buttons.unshift(button("Redrive", () => this.redrive([delivery])));
    const when = nextAttemptAt ? `next ${instant(Date.parse(nextAttemptAt))}`
      : expiresAt ? `kept until ${instant(Date.parse(expiresAt))}` : "–";
    return make("tr", {"data-delivery": id, "data-state": state},
      make("td", {}, box),
      make("td", {}, timerDeleted ? `${timer} (deleted)` : link, make("small", {}, `${type}, ${day}`)),
      make("td", {}, make("span", {className: "word"}, state === "inFlight" ? "in flight" : state),
        make("small", {}, this.why(delivery))),
      make("td", {}, count(attempts, "attempt")), make("td", {}, when), make("td", {className: "acts"}, ...buttons));
  },

  // Why a delivery is where it is, in words.
  why({reason, error, lastStatus}) {
    return [DEATHS[reason], error === "status" ? `status ${lastStatus}` : error].filter(Boolean).join(": ");
  },

  choose(ids, isChosen) {
    for (const id of ids) isChosen ? this.chosen.add(id) : this.chosen.delete(id);
    this.render();
    say($("deliveries-count").textContent);
  },

  // The chosen deliveries that are dead, but for those that are to be dropped.
  dead() {
    return this.all.filter(({id, state}) => state === "dead" && this.chosen.has(id) && !this.isHeld(id));
  },

  // The reason for which the label is no filter yet, if it is none.
  labelWords() {
    const label = this.form.with.value.trim();
    return label && !label.includes("=") ? "A label is written as key=value; this one filters nothing yet." : "";
  },

  // The filters as the server takes them for all dead deliveries that match; null where it can't.
  selector() {
    const [timer, label] = ["of", "with"].map(name => this.form[name].value.trim());
    if (this.chosen.size || this.form.host.value.trim() || this.labelWords() || !(timer || label)) return null;
    return {timer: timer || undefined, labels: label ? Object.fromEntries([split(label)]) : undefined};
  },

  // Asks before the chosen deliveries, or all that match, are sent again, and says how many those are.
  async askRedrive() {
    const selector = this.selector();
    if (!selector) {
      const dead = this.dead();
      const some = `${dead.length} of ${count(this.chosen.size, "chosen delivery", "chosen deliveries")}`;
      return question("Redrive", `${some} will be sent again: no other is dead.`, () => this.redrive(dead));
    }
    const post = query => {
      const options = {method: "POST", body: JSON.stringify(selector), keepalive: true};
      return api.json(`v1/deliveries/redrive${query}`, options);
    };
    const isAsked = () => JSON.stringify(this.selector()) === JSON.stringify(selector);
    this.isAsking = true;
    this.render();
    try {
      const {matched, changed: some, skipped} = await post("?dryRun=true");
      if (!this.isShown || !isAsked() || document.querySelector("dialog[open]")) return;
      const text = `${count(matched, "dead delivery matches", "dead deliveries match")}. ${some} will be sent again`;
      question("Redrive", `${text}, ${skipped} can't be: no webhook takes them now.`, async () => {
        toast(`${count((await post("")).changed, "delivery is", "deliveries are")} sent again.`);
        this.done();
      });
    } catch (problem) {
      toast(problem.sentence, true);
    } finally {
      this.isAsking = false;
      this.render();
    }
  },

  redrive(some) {
    return this.each(some.map(({id}) => id), "sent again", id => {
      return api.open(`v1/deliveries/${id}/redrive`, {method: "POST", keepalive: true});
    });
  },

  drop(ids) {
    const rows = ids.filter(id => !this.isHeld(id));
    if (!rows.length) return;
    const send = id => api.open(`v1/deliveries/${id}`, {method: "DELETE", keepalive: true});
    holds.add({
      rows: new Map(rows.map(id => [id, id])),
      words: size => `${count(size, "delivery", "deliveries")} will be dropped.`,
      send: left => this.each(left, "dropped", send), cost: left => [left.length, 0],
    });
    this.render();
  },

  // Sends a request for each, one after the other until the page is left, and says how many were answered well.
  async each(ids, word, send) {
    let done = 0;
    let refusal = null;
    const settle = async id => {
      try {
        await send(id);
        done += 1;
        this.settled.add(id);
      } catch (problem) {
        refusal = problem;
      }
      this.sending.delete(id);
    };
    const sent = [];
    for (const id of ids) this.sending.add(id);
    this.render();
    for (const id of ids) {
      sent.push(settle(id));
      await Promise.race([sent.at(-1), holds.left]);
    }
    await Promise.all(sent);
    if (done) toast(`${count(done, "delivery is", "deliveries are")} ${word}.`);
    const others = count(ids.length - done, "delivery is", "deliveries are");
    if (refusal) toast(`${others} not ${word}. ${refusal.sentence}`, true);
    this.done(ids);
  },

  // Brings the list up to date after a change, which leaves these deliveries no longer chosen.
  done(ids = []) {
    for (const id of ids) this.chosen.delete(id);
    health.deadCount = null;
    health.soon();
    this.soon();
  },
};

deliveries.form.onsubmit = event => event.preventDefault();
deliveries.form.onchange = deliveries.form.oninput = () => {
  const {status, of, with: label, host} = deliveries.form;
  route.note({status: status.value, of: of.value.trim(), with: label.value.trim(), host: host.value.trim()});
  deliveries.all = [];
  clearTimeout(deliveries.pause);
  deliveries.pause = setTimeout(() => deliveries.read(), 200);
};
$("redrive").onclick = () => deliveries.askRedrive();
$("drop").onclick = () => deliveries.drop([...deliveries.chosen]);
$("deliveries-more").onclick = () => deliveries.read(deliveries.next);
$("deliveries-all").onchange = event => deliveries.choose(deliveries.all.map(({id}) => id), event.target.checked);
