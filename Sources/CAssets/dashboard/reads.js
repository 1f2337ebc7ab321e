// Reads single timers again: events do not say everything about the timers in sight.

// Promises of the timers that are being read, by id.
const reading = new Map();
// The most timers that are read one by one before a command to many; beyond that, listing all costs less.
const MOST_READ = 200;

// Reads one timer again, once at a time; returns the problem if that fails.
function refresh(id) {
  if (!reading.has(id)) reading.set(id, read(id));
  return reading.get(id);
}

async function read(id) {
  let failure = null;
  try {
    const json = await api.exact(timerPath(id));
    // The store reckons with numbers.
    store.learn(JSON.parse(JSON.stringify(json)));
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

// Whether an event other than a fire has changed a timer since it was read, or it never was.
const hasNews = timer => timer.allowedIn !== timer.state || timer.newsVersion > timer.lookVersion;

// Calls `ask` with each, four at a time.
async function inFours(all, ask) {
  for (let from = 0; from < all.length; from += 4) await Promise.allSettled(all.slice(from, from + 4).map(ask));
}

// Reads those of some timers again that have news. Those that can't be read keep theirs.
async function readNews(timers) {
  const behind = timers.filter(hasNews);
  if (behind.length <= MOST_READ) return inFours(behind, ({id}) => refresh(id));
  watch.mustList = true;
  await watch.catchUp().catch(() => {});
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
