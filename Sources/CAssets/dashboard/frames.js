// When what is drawn; the last file, which starts the page.

let isFrameAsked = false;
// When the timers were last arranged, and how long that took, in milliseconds.
let arrangedAt = 0;
let cost = 0;

// Something changed: what is in sight is drawn with the next frame, however much changes until then.
function changed(isStale = true) {
  store.isStale ||= isStale;
  if (!isFrameAsked) requestAnimationFrame(frame);
  isFrameAsked = true;
}

// Milliseconds between two arrangements: sorting and filtering take a tenth of the time at most, and where that would
// delay frames, as with tens of thousands of timers, they do so with less than one frame in a hundred.
const arrangePause = () => cost > 8 ? Math.min(5000, 60 * cost) : Math.max(100, 10 * cost);
const mayArrange = () => store.isStale && performance.now() - arrangedAt > arrangePause();

function frame() {
  isFrameAsked = false;
  if (mayArrange() && !list.isHeld()) arrange();
  list.render();
  details.render();
  bulk.render();
}

// Arranges the timers, but for rows that keep their places, and writes how many there are.
function arrange(isHeld = false) {
  const start = performance.now();
  store.arrange(isHeld);
  arrangedAt = performance.now();
  cost = arrangedAt - start;
  for (const button of $("states").children) {
    write(button.lastChild, store.counts[button.dataset.filter].toLocaleString());
  }
  const {shown, timers: {size: all}} = store;
  write($("count"), (shown === all ? "" : `${shown.toLocaleString()} of `) + count(all, "timer"));
  $("note").hidden = !store.isCut;
  const note = `There are more than ${all.toLocaleString()} timers.`;
  write($("note"), `${note} A label or a state narrows them down on the server.`);
}

onresize = () => {
  list.height = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));
  changed();
};
onresize();

const calm = matchMedia("(prefers-reduced-motion: reduce)");
let ticks = 0;

setInterval(() => {
  ticks += 1;
  if (document.hidden) return;
  if (!calm.matches || ticks % 10 === 0) list.tick();
  if (ticks % 3 === 0) {
    readBehind();
    holds.tidy();
    feed.tick();
  }
  if (store.isStale) changed();
  if (ticks % 10 === 1) {
    if (store.only === "overdue" && !isGone()) changed();
    if (mayArrange() && list.isHeld()) arrange(true);
    charts.render();
    health.render();
    details.render();
  }
}, 100);

route.show();
watch.run();
health.run();
cluster.run();
