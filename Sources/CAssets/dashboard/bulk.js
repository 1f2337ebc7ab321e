// Commands to the timers that were chosen.

const BULK = ["activate", "resume", "suspend", "kick", "cancel", "delete"];

const bulk = {
  box: $("bulk"),
  // The most timers that can be chosen: those of one request.
  most: 10000,
  // Whether the chosen timers are being read before a question.
  isAsking: false,

  // Says and shows another choice.
  showChoice() {
    say(`${count(list.chosen.size, "timer")} chosen`);
    changed(false);
  },

  render() {
    for (const id of list.chosen) {
      if (!store.timers.has(id)) list.chosen.delete(id);
    }
    const {size} = list.chosen;
    const hidden = [...list.chosen].filter(id => store.timers.get(id).index < 0).length;
    const others = store.view.length - (size - hidden);
    const room = Math.max(0, Math.min(others, this.most - size));
    const hadFocus = this.box.contains(document.activeElement);
    this.box.hidden = !size || !access.may("kick");
    if (this.box.hidden) return hadFocus && list.focus();
    write($("bulk-count"), `${count(size, "timer")} chosen${hidden ? `, ${hidden.toLocaleString()} not shown` : ""}`);
    const words = room < others ? `${room.toLocaleString()} more` : `all ${store.view.length.toLocaleString()}`;
    write($("bulk-all"), `Choose ${words}`);
    $("bulk-all").disabled = !room;
    renew($("bulk-commands"), `${access.may("write")}`, () => {
      return BULK.filter(name => access.mayCommand(name)).map(name => make("button", {
        className: name === "delete" ? "danger" : "", "data-command": name, onclick: () => this.ask(name),
      }, capital(name)));
    });
  },

  chosen() {
    return [...list.chosen].map(id => store.timers.get(id)).filter(Boolean);
  },

  // Says what a command would do to the chosen timers, and sends it if that is wanted. Only those in sight were kept up
  // to date.
  async ask(name) {
    if (this.isAsking) return;
    this.isAsking = true;
    await readNews(this.chosen());
    this.isAsking = false;
    const rows = this.chosen();
    if (!rows.length || document.querySelector("dialog[open]")) return;
    const canDo = timer => isLegal(timer, name) && !isBusy(timer.id, name);
    const legal = rows.filter(canDo).map(seen);
    const others = rows.filter(timer => !canDo(timer));
    const reason = timer => hasNews(timer) ? "not known" : timer.state;
    const reasons = new Set(others.map(timer => isLegal(timer, name) ? "another command is under way" : reason(timer)));
    const skipped = others.length;
    const why = skipped ? ` ${count(skipped, "timer is", "timers are")} skipped: ${[...reasons].join(", ")}.` : "";
    const text = `${capital(name)} ${legal.length} of ${count(rows.length, "chosen timer")}.${why}`;
    question(capital(name), text, () => {
      if (legal.length) this.begin(name, legal);
    });
  },

  begin(name, rows) {
    list.chosen.clear();
    if (name !== "cancel" && name !== "delete") return void this.send(name, rows);
    const done = name === "cancel" ? "cancelled" : "deleted";
    holds.add({
      rows: heldRows(rows, name), words: size => `${count(size, "timer")} will be ${done}.`,
      send: left => this.send(name, left), cost: left => [1, this.body(name, left, true).length],
    });
  },

  // Sends a line for each timer, on the condition that it is as it was seen; for those that fired meanwhile once more.
  async send(name, rows) {
    let left = rows.map(renewed);
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
        left = again.length ? await this.unchanged(again) : [];
        if (left.length < again.length) refusal = new Problem(412, {detail: "some have changed since they were shown"});
      }
    } catch (problem) {
      refusal = problem;
    }
    if (done) toast(`${capital(name)}: ${count(done, "timer")}.`);
    if (refusal) toast(`${capital(name)}: not ${count(rows.length - done, "timer")}. ${refusal.sentence}`, true);
    changed();
  },

  post(name, rows, isConditional) {
    const options = {method: "POST", body: this.body(name, rows, isConditional), keepalive: true};
    return api.json("v1/timers/batch?results=brief", options);
  },

  // The lines of a batch. Ids are ASCII, so the length in characters is that in bytes.
  body(name, rows, isConditional) {
    return JSON.stringify(rows.map(({id, version}) => {
      return {command: name, id, ifMatch: isConditional && version !== null ? `v${version}` : undefined};
    }));
  },

  // The timers that are as they were seen, in their versions of now.
  async unchanged(rows) {
    const same = [];
    await inFours(rows, async ({id, look}) => {
      const now = seen(store.learn(await api.json(timerPath(id))));
      if (now.look === look) same.push(now);
    });
    return same;
  },
};

$("bulk-all").onclick = () => {
  for (const {id} of store.view) {
    if (list.chosen.size < bulk.most) list.chosen.add(id);
  }
  bulk.showChoice();
  list.focus();
};
$("bulk-none").onclick = () => {
  list.chosen.clear();
  bulk.showChoice();
};
