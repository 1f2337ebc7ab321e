// The sheet with everything about one timer.

// How long the test of a webhook may take, in milliseconds: longer than a webhook's own limit, which is 10 min at most.
const TEST_MS = 660000;

const details = {
  // The timer that is shown, and its JSON once it is read; null: the sheet is closed.
  id: null,
  json: null,
  // Whether the timer is over if the page does not know it: it was shown here, or the server has none.
  isOver: false,
  // The timers whose webhooks are being tested.
  testing: new Set(),

  open(id) {
    Object.assign(this, {id, json: null, isOver: false});
    route.note({timer: id}, true);
    write($("details-tested"), "");
    for (const part of $("details").querySelectorAll("dd, pre")) {
      part.replaceChildren();
      delete part.dataset.key;
    }
    for (const name of ["edit", "duplicate", "test", "deliveries"]) $(`details-${name}`).hidden = true;
    this.render();
    $("details").showModal();
    parts.with(() => {
      if (this.id === id) about.show(id);
    });
    refresh(id).then(failure => {
      if (this.id !== id) return;
      if (failure && failure.status !== 404) write($("details-tested"), failure.sentence ?? "");
      this.render();
    });
  },

  render() {
    if (!this.id) return;
    const sheet = $("details");
    const timer = store.timers.get(this.id);
    const buttons = sheet.querySelector(".buttons");
    write($("details-title"), timer || !this.isOver ? this.id : `${this.id} no longer exists`);
    buttons.hidden = !timer;
    if (!timer) return;
    this.isOver = true;
    Object.assign(sheet.dataset, {timer: timer.id, state: timer.state});
    sheet.style.setProperty("--state", `var(--${look(timer)})`);
    showButtons(buttons, timer, true);
    const [state, due, labels] = sheet.querySelectorAll("dd");
    write(state, timer.state + (timer.health === "stalled" ? ", stalled" : ""));
    write(due, this.dueText(timer));
    renew(labels, JSON.stringify(timer.labels), () => this.labelLinks(timer));
    const dead = health.dead.get(this.id);
    const link = $("details-deliveries");
    link.href = `#${new URLSearchParams({view: "deliveries", of: this.id})}`;
    write(link, dead ? `Its deliveries, ${dead} dead` : "Its deliveries");
    link.hidden = !this.json?.webhook;
    $("details-edit").hidden = $("details-duplicate").hidden = !this.json || !access.may("write");
    $("details-test").hidden = !this.json?.webhook || !access.may("write");
    write(sheet.querySelector("pre"), this.json ? JSON.stringify(this.json, null, 2) : "");
    $("details-test").disabled = this.testing.has(this.id);
    if (parts.isLoaded) about.render();
  },

  // Sends a test event to the timer's webhook. The sheet may show another timer before the answer comes.
  async test() {
    const {id} = this;
    const tell = words => {
      if (this.id === id) write($("details-tested"), words);
    };
    this.testing.add(id);
    this.render();
    tell("A test event is on its way.");
    try {
      const options = {method: "POST", limitMs: TEST_MS};
      const {status, error, durationMs} = await api.json(`${timerPath(id)}/webhook/test`, options);
      const answer = status ? `status ${status}` : error;
      tell(`${error ? "The webhook failed" : "The webhook took it"}: ${answer}, in ${durationMs} ms.`);
    } catch (problem) {
      tell(problem.sentence);
    }
    this.testing.delete(id);
    this.render();
  },

  dueText(timer) {
    const left = timeLeft(timer, shownNow());
    if (left === null) return "no fire is planned";
    return timer.due ? `${instant(timer.due)}, in ${span(Math.max(0, left))}` : `${span(left)} left`;
  },

  // A link for each label, which shows the timers that have it.
  labelLinks(timer) {
    const labels = pairs(timer.labels);
    if (!labels.length) return ["none"];
    return labels.map(label => make("button", {className: "link", onclick: () => showLabel(label)}, label));
  },
};

function showLabel(label) {
  route.note({timer: "", view: "", label}, true);
  route.show();
}

$("details").onclose = () => {
  details.id = null;
  if (parts.isLoaded) about.past = null;
  route.note({timer: ""});
};
$("details").querySelector(".buttons").onclick = event => {
  const name = event.target.closest("button")?.dataset.command;
  if (name) ask(details.id, name);
};
$("details-test").onclick = () => details.test();
for (const name of ["edit", "duplicate"]) {
  $(`details-${name}`).onclick = () => {
    const {id} = details;
    parts.with(() => editor.open(id, name === "duplicate"));
  };
}
$("details-copy").onclick = () => parts.with(() => copy($("details").querySelector("pre").textContent));
$("details-feed").onclick = () => {
  feed.filter(details.id);
  $("details").close();
};
