// Commands to timers, and the buttons for them.

const COMMANDS = ["activate", "resume", "suspend", "kick", "fire", "reschedule", "cancel", "delete"];
const ICONS = {activate: "running", resume: "running", suspend: "suspended", cancel: "cancelled"};
// How often a command is sent to a timer whose version goes on meanwhile, as it fires. The last time no version is
// named: a timer may fire more often than a request takes, and was as it was seen when it was read a moment before.
const MOST_TRIES = 4;

// `id command` of each command under way.
const busy = new Set();

// A row's timer as it was seen: whether it is still that one, and not in which version, decides about a command.
const seen = timer => ({
  id: timer.id, version: timer.lookVersion,
  look: JSON.stringify([timer.state, timer.createdAt, timer.schedule, Object.entries(timer.labels).sort()]),
});

// A row that was held back, in its version of now if the timer still looks as it did. Nobody can try again for a page
// that is left: no version is named then, as for a last try.
function renewed(row) {
  const timer = store.timers.get(row.id);
  const now = timer && seen(timer);
  if (now?.look !== row.look) return row;
  return holds.isLeft && !hasNews(timer) ? {...now, version: null} : now;
}

// Sends a request that changes a timer, on the condition that the timer is as it was seen but for fires and kicks.
async function change(row, path, options) {
  const {id, look} = row;
  let {version} = renewed(row);
  for (let tries = 1;; tries += 1) {
    const headers = tries < MOST_TRIES && version !== null ? {"If-Match": `"v${version}"`} : {};
    try {
      return await api.open(path, {...options, headers});
    } catch (problem) {
      if (problem.status !== 412 || tries === MOST_TRIES) throw problem;
    }
    const now = seen(store.learn(await api.json(timerPath(id))));
    if (now.look !== look) throw new Problem(412, {detail: "the timer has changed since it was shown here"});
    version = now.version;
  }
}

// Sends a command to a timer as it was seen. A refusal is told in a sentence, and the timer is read again.
async function command(row, name, body) {
  const {id} = row;
  const key = `${id} ${name}`;
  if (busy.has(key)) return;
  busy.add(key);
  changed();
  try {
    const options = {method: "POST", body: body && JSON.stringify(body), keepalive: true};
    if (name === "delete") {
      await change(row, timerPath(id), {method: "DELETE", keepalive: true});
      store.remove(id);
      toast(`${id} is deleted.`);
    } else {
      const path = `${timerPath(id)}/${name}`;
      // A kick means whatever watchdog has the id.
      const response = await (name === "kick" ? api.open(path, options) : change(row, path, options));
      const json = await parsed(response);
      if (store.timers.has(id)) store.learn(json);
    }
  } catch (problem) {
    refresh(id);
    if (problem.status === 400) throw problem;
    toast(`${id}: ${problem.sentence}`, true);
  } finally {
    busy.delete(key);
    changed();
  }
}

// Does what a button or a key asks for: at once, after a dialog for its input, or in a while if it ends the timer.
function ask(id, name) {
  const timer = store.timers.get(id);
  if (!timer || !isLegal(timer, name) || isBusy(id, name)) return;
  const row = seen(timer);
  if (name === "delete" || name === "cancel") {
    const text = name === "cancel" ? `${id} will be cancelled.` : `${id} and its pending deliveries will be deleted.`;
    return holds.add({
      rows: heldRows([row], name), words: () => text, send: rows => rows.map(one => command(one, name)),
      cost: rows => [rows.length, 0],
    });
  }
  if (name !== "reschedule") return command(row, name);
  question("Reschedule", `When is ${id} due next?`, form => {
    const at = local(form.at.value);
    const after = form.after.value.trim();
    return command(row, name, at && !after ? {at} : {after});
  }, true);
}

// Timers by the keys of their holds, with the command that is held back.
const heldRows = (rows, held) => new Map(rows.map(row => [`timer ${row.id}`, {...row, held}]));

// The command to a timer that is held back, if there is one.
const heldCommand = id => holds.get(`timer ${id}`)?.rows.get(`timer ${id}`).held;

// Whether a command has to wait. While one that ends the timer is held back only the other one can take its place.
function isBusy(id, name) {
  const held = heldCommand(id);
  const isReplaced = name !== held && (name === "cancel" || name === "delete");
  return busy.has(`${id} ${name}`) || Boolean(held && !isReplaced);
}

// Whether the server allows it. Between an event that changed the state and the next read nobody knows.
function isLegal(timer, name) {
  if (!access.mayCommand(name) || timer.isGone || isGone()) return false;
  // A timer that was never read has no version and no look on whose condition it could be deleted.
  if (name === "delete") return timer.shownVersion > 0;
  return timer.allowedIn === timer.state && timer.allowed.includes(name);
}

// Fills `box` with the buttons that `allowed` and the key give.
function showButtons(box, timer, hasWords) {
  const isShown = name => (name === "delete" || timer.allowed.includes(name)) && access.mayCommand(name);
  const names = COMMANDS.filter(isShown);
  renew(box, `${timer.id} ${names}`, () => names.map(name => commandButton(timer.id, name, hasWords)));
  for (const button of box.children) {
    const name = button.dataset.command;
    button.disabled = !isLegal(timer, name) || isBusy(timer.id, name);
  }
}

function commandButton(id, name, hasWords) {
  const properties = {type: "button", "data-command": name, "aria-label": `${name} ${id}`};
  const button = make("button", properties, icon(ICONS[name] ?? name));
  if (name === "delete") button.className = "danger";
  if (hasWords) {
    button.append(capital(name));
  } else {
    Object.assign(button, {title: name, tabIndex: -1});
  }
  return button;
}
