// The list of deliveries: those on their way to webhooks, and the dead ones.

const DEATHS = {
  attempts: "attempts used up", backlog: "too many were pending", status: "its status is final", age: "too old",
};
// How many deliveries a page of the list holds.
const DELIVERY_PAGE = 100;

const deliveries = {
  form: $("deliveries-form"),
  body: $("deliveries").querySelector("tbody"),
  // The deliveries that are shown, the cursor of those after them, and the ids of the chosen ones.
  all: [],
  next: null,
  chosen: new Set(),
  isShown: false,
  // The pause before the list is read again, and the newest read, which alone counts.
  pause: null,
  newest: null,

  // Shows the list that the address names, or hides it.
  show() {
    const wasShown = this.isShown;
    this.isShown = route.get("view") === "deliveries";
    document.body.classList.toggle("in-deliveries", this.isShown);
    for (const link of document.querySelectorAll(".top nav a")) {
      const isHere = link.hash.includes("view") === this.isShown;
      link.toggleAttribute("aria-current", isHere);
    }
    if (!this.isShown) return;
    for (const name of ["status", "of", "with", "host"]) this.form[name].value = route.get(name);
    this.read();
    if (!wasShown) $("deliveries").focus();
  },

  // What the filters ask the server for.
  query() {
    const {status, of, with: label, host} = this.form;
    const parts = {state: status, timer: of, label, host};
    const given = Object.entries(parts).map(([name, {value}]) => [name, value.trim()])
      .filter(([name, value]) => value && (name !== "label" || value.includes("=")));
    return given.map(([name, value]) => `&${name}=${encodeURIComponent(value)}`).join("");
  },

  // Reads what is shown again, or with a cursor what comes after that.
  async read(cursor = null) {
    if (!this.isShown || !access.may("read")) return;
    clearTimeout(this.pause);
    const read = this.newest = {};
    const limit = cursor ? DELIVERY_PAGE : Math.min(1000, Math.max(DELIVERY_PAGE, this.all.length));
    let words = "";
    try {
      const page = await api.json(`v1/deliveries?limit=${limit}${this.query()}${cursor ? `&cursor=${cursor}` : ""}`);
      if (this.newest !== read) return;
      this.all = cursor ? this.all.concat(page.deliveries) : page.deliveries;
      this.next = page.next;
      words = this.all.length ? "" : "No delivery matches.";
    } catch (problem) {
      if (this.newest !== read) return;
      words = problem.sentence ?? "";
    }
    const ids = new Set(this.all.map(({id}) => id));
    for (const id of this.chosen) {
      if (!ids.has(id)) this.chosen.delete(id);
    }
    write($("deliveries-note"), words);
    this.render();
  },

  // Reads the list again in a moment, once for all that happens until then; later while the mouse is over it.
  soon() {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => pointer.isNear(this.body) ? this.soon() : this.read(), 500);
  },

  take({type}) {
    if (this.isShown && (type.startsWith("deliver") || type === "fired" || type === "deleted")) this.soon();
  },

  render() {
    renew(this.body, JSON.stringify(this.all), () => this.all.map(delivery => this.row(delivery)));
    for (const row of this.body.rows) {
      row.querySelector("input").checked = this.chosen.has(row.dataset.delivery);
      const isHeld = holds.has(row.dataset.delivery);
      row.classList.toggle("held", isHeld);
      for (const button of row.querySelectorAll("button")) button.disabled = isHeld;
    }
    const size = this.chosen.size;
    const words = count(this.all.length, "delivery", "deliveries");
    write($("deliveries-count"), `${words}${this.next ? " of more" : ""}${size ? `, ${size} chosen` : ""}`);
    $("deliveries-more").hidden = !this.next;
    $("redrive").disabled = !this.selector() && !this.dead().length;
    $("drop").disabled = !size;
    $("deliveries-all").checked = size > 0 && size === this.all.length;
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
  },

  // The chosen deliveries that are dead.
  dead() {
    return this.all.filter(({id, state}) => state === "dead" && this.chosen.has(id));
  },

  // The filters as the server takes them for all dead deliveries that match; null where it can't.
  selector() {
    const [timer, label] = ["of", "with"].map(name => this.form[name].value.trim());
    if (this.chosen.size || this.form.host.value.trim() || !(timer || label.includes("="))) return null;
    return {timer: timer || undefined, labels: label ? Object.fromEntries([split(label)]) : undefined};
  },

  // Asks before the chosen deliveries, or all that match, are sent again, and says how many those are.
  async askRedrive() {
    const selector = this.selector();
    if (!selector) {
      const dead = this.dead();
      const text = `Of ${count(this.chosen.size, "chosen delivery", "chosen deliveries")}, ${dead.length} are dead`;
      return question("Redrive", `${text} and will be sent again.`, () => this.redrive(dead));
    }
    const post = query => {
      const options = {method: "POST", body: JSON.stringify(selector)};
      return api.json(`v1/deliveries/redrive${query}`, options);
    };
    try {
      const {matched, changed: some, skipped} = await post("?dryRun=true");
      const text = `${count(matched, "dead delivery matches", "dead deliveries match")}. ${some} will be sent again`;
      question("Redrive", `${text}, ${skipped} can't be: no webhook takes them now.`, async () => {
        toast(`${count((await post("")).changed, "delivery is", "deliveries are")} sent again.`);
        this.done();
      });
    } catch (problem) {
      toast(problem.sentence, true);
    }
  },

  redrive(some) {
    return this.each(some.map(({id}) => id), "sent again", id => {
      return api.open(`v1/deliveries/${id}/redrive`, {method: "POST"});
    });
  },

  drop(ids) {
    const text = `${count(ids.length, "delivery", "deliveries")} will be dropped.`;
    holds.add(text, ids, () => this.each(ids, "dropped", id => {
      return api.open(`v1/deliveries/${id}`, {method: "DELETE", keepalive: true});
    }));
    this.render();
  },

  // Sends a request for each, one after the other, and says how many were answered well.
  async each(ids, word, send) {
    let done = 0;
    let refusal = null;
    for (const id of ids) {
      await send(id).then(() => done += 1, problem => refusal = problem);
    }
    if (done) toast(`${count(done, "delivery is", "deliveries are")} ${word}.`);
    const others = count(ids.length - done, "delivery is", "deliveries are");
    if (refusal) toast(`${others} not ${word}. ${refusal.sentence}`, true);
    this.done();
  },

  done() {
    this.chosen.clear();
    health.deadCount = null;
    health.soon();
    this.read();
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
