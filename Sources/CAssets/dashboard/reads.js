// Reads single timers again: events do not say everything about the timers in sight.

// The timers that are being read.
const reading = new Set();

// Reads one timer again; returns the problem if that fails.
async function refresh(id) {
  if (reading.has(id)) return null;
  reading.add(id);
  let failure = null;
  try {
    const json = await api.json(timerPath(id));
    store.learn(json);
    if (details.id === id) details.json = json;
  } catch (problem) {
    failure = problem;
    if (problem.status === 404) {
      store.remove(id);
      if (details.id === id) details.isOver = true;
    }
  }
  reading.delete(id);
  changed();
  return failure;
}

// Whether what is known of a timer is out of date. Kicks make no event: running watchdogs are read now and then.
function isBehind(timer) {
  const age = Date.now() - (timer.readAt ?? 0);
  if (timer.allowedIn !== timer.state) return true;
  if (timer.shownVersion < timer.version) return age > 1000;
  if (timer.state !== "running" || age < 1000) return false;
  if (timer.kind === "watchdog") return age > Math.min(5000, timer.whole / 3);
  return timer.due && clock.now() > timer.due + 1500;
}

// Reads what is in sight and behind, three at a time: a browser has six connections to a host.
function readBehind() {
  if ($("connection").dataset.state !== "live") return;
  for (const id of new Set([details.id, ...list.rows.keys()])) {
    if (reading.size >= 3) return;
    const timer = store.timers.get(id);
    if (timer && isBehind(timer)) refresh(id);
  }
}
