// Commands to timers, and the buttons for them.

const COMMANDS = ["activate", "resume", "suspend", "kick", "fire", "reschedule", "cancel", "delete"];
const ICONS = {activate: "running", resume: "running", suspend: "suspended", cancel: "cancelled"};

// `id command` of each command under way.
const busy = new Set();

// Sends a command. A refusal is told in a sentence, and the timer is read again.
async function command(id, name, body) {
  const key = `${id} ${name}`;
  if (busy.has(key)) return;
  busy.add(key);
  changed();
  try {
    if (name === "delete") {
      await api.open(timerPath(id), {method: "DELETE"});
      store.remove(id);
      toast(`${id} is deleted.`);
    } else {
      const json = await api.json(`${timerPath(id)}/${name}`, {method: "POST", body: body && JSON.stringify(body)});
      if (json.version >= store.timers.get(id)?.shownVersion) store.put(json);
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

// Does what a button or a key asks for, after a dialog where the command needs an input or a confirmation.
function ask(id, name) {
  const timer = store.timers.get(id);
  if (!timer || !isLegal(timer, name)) return;
  if (name === "delete") {
    const text = `${id} and its pending deliveries will be deleted.`;
    return question("Delete", text, () => command(id, name));
  }
  if (name !== "reschedule") return command(id, name);
  question("Reschedule", `When is ${id} due next?`, form => {
    const at = local(form.at.value);
    const after = form.after.value.trim();
    return command(id, name, at && !after ? {at} : {after});
  }, true);
}

// Whether the server allows it. Between an event that changed the state and the next read nobody knows.
function isLegal(timer, name) {
  if (!access.mayCommand(name)) return false;
  return name === "delete" || (timer.allowedIn === timer.state && timer.allowed.includes(name));
}

// Fills `box` with the buttons that `allowed` and the key give.
function showButtons(box, timer, hasWords) {
  const isShown = name => (name === "delete" || timer.allowed.includes(name)) && access.mayCommand(name);
  const names = COMMANDS.filter(isShown);
  renew(box, `${timer.id} ${names}`, () => names.map(name => commandButton(timer.id, name, hasWords)));
  for (const button of box.children) {
    const name = button.dataset.command;
    button.disabled = !isLegal(timer, name) || busy.has(`${timer.id} ${name}`);
  }
}

function commandButton(id, name, hasWords) {
  const properties = {type: "button", "data-command": name, "aria-label": `${name} ${id}`};
  const button = make("button", properties, icon(ICONS[name] ?? name));
  if (hasWords) {
    button.append(capital(name));
  } else {
    Object.assign(button, {title: name, tabIndex: -1});
  }
  return button;
}
