// Commands to many timers: those that were chosen, or all with a label.

// The most timers of one request.
const MOST_CHOSEN = 10000;
// The most bytes that a browser sends while its page is left.
const KEPT_BYTES = 60000;
const BULK = ["activate", "resume", "suspend", "kick", "cancel", "delete"];

const bulk = {
  box: $("bulk"),

  render() {
    for (const id of list.chosen) {
      if (!store.timers.has(id)) list.chosen.delete(id);
    }
    const {size} = list.chosen;
    this.box.hidden = !size || !access.may("kick");
    if (this.box.hidden) return;
    write($("bulk-count"), `${count(size, "timer")} chosen`);
    write($("bulk-all"), `Choose all ${Math.min(store.view.length, MOST_CHOSEN).toLocaleString()} that are shown`);
    $("bulk-all").hidden = size >= Math.min(store.view.length, MOST_CHOSEN);
    renew($("bulk-commands"), `${access.may("write")}`, () => {
      return BULK.filter(name => access.mayCommand(name)).map(name => make("button", {
        className: name === "delete" ? "danger" : "", "data-command": name, onclick: () => this.ask(name),
      }, capital(name)));
    });
  },

  // Says what a command would do to the chosen timers, and sends it if that is wanted.
  ask(name) {
    const rows = [...list.chosen].map(id => store.timers.get(id)).filter(Boolean);
    const legal = rows.filter(timer => isLegal(timer, name)).map(seen);
    const others = new Set(rows.filter(timer => !isLegal(timer, name)).map(({state}) => state));
    const skipped = rows.length - legal.length;
    const why = skipped ? ` ${count(skipped, "timer is", "timers are")} skipped: ${[...others].join(", ")}.` : "";
    const text = `${capital(name)} ${legal.length} of ${count(rows.length, "chosen timer")}.${why}`;
    question(capital(name), text, () => {
      if (legal.length) this.begin(name, legal);
    });
  },

  begin(name, rows) {
    list.chosen.clear();
    if (name !== "cancel" && name !== "delete") return void this.send(name, rows);
    const done = name === "cancel" ? "cancelled" : "deleted";
    const keys = rows.map(({id}) => `${id} ${name}`);
    holds.add(`${count(rows.length, "timer")} will be ${done}.`, keys, () => this.send(name, rows));
  },

  // Sends a line for each timer, on the condition that it is as it was seen; for those that fired meanwhile once more.
  async send(name, rows) {
    let left = rows;
    let done = 0;
    let refusal = null;
    try {
      for (let tries = 1; left.length && tries <= MOST_TRIES; tries += 1) {
        const lines = await this.post(name, left, tries < MOST_TRIES && name !== "kick");
        const again = [];
        lines.forEach(({status, problem}, index) => {
          if (status < 300) done += 1;
          else if (status === 412) again.push(left[index]);
          else refusal = new Problem(status, problem);
        });
        left = await this.unchanged(again);
        if (left.length < again.length) refusal = new Problem(412, {detail: "some have changed since they were shown"});
      }
    } catch (problem) {
      refusal = problem;
    }
    if (done) toast(`${capital(name)}: ${count(done, "timer")}.`);
    if (refusal) toast(`${capital(name)}: not ${count(rows.length - done, "timer")}. ${refusal.sentence}`, true);
    list.release();
  },

  async post(name, rows, isConditional) {
    const lines = rows.map(({id, version}) => {
      return {command: name, id, ifMatch: isConditional ? `v${version}` : undefined};
    });
    const body = JSON.stringify(lines);
    const keepalive = body.length < KEPT_BYTES;
    return api.json("v1/timers/batch?results=brief", {method: "POST", body, keepalive});
  },

  // Those of the timers that are as they were seen, with their versions of now.
  async unchanged(rows) {
    const same = [];
    for (const row of rows) {
      const timer = store.put(await api.json(timerPath(row.id)));
      if (seen(timer).look === row.look) same.push({...row, version: timer.version});
    }
    return same;
  },
};

$("bulk-all").onclick = () => {
  for (const {id} of store.view.slice(0, MOST_CHOSEN)) list.chosen.add(id);
  changed(false);
};
$("bulk-none").onclick = () => {
  list.chosen.clear();
  changed(false);
};

// A browser sends a small request while its page is left; before a larger one is lost it asks.
addEventListener("beforeunload", event => {
  if ([...holds.all].some(({keys}) => keys.join().length > KEPT_BYTES / 3)) event.preventDefault();
});
