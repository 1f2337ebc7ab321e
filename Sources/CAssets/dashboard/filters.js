// The filters above the list.

for (const state of STATES) {
  const button = make("button", {"data-filter": state, "aria-pressed": false}, icon(state), state, make("b"));
  button.style.setProperty("--state", `var(--${state})`);
  button.onclick = () => {
    if (!store.states.delete(state)) store.states.add(state);
    noteFilters();
  };
  $("states").append(button);
}

let scopeTimer = null;

// Applies the filters, and notes them in the address.
function noteFilters() {
  filter();
  say($("count").textContent);
  const {text: q, label, sort, states, only, range} = store;
  route.note({q, label, state: String([...states]), only, due: range?.join("-"), sort: sort === "due" ? "" : sort});
}

// Applies the filters here and, where there are more timers than this page holds, on the server.
function filter() {
  Object.assign(store, {text: $("search").value.trim(), label: $("label").value.trim(), sort: $("sort").value});
  for (const button of $("states").children) {
    button.setAttribute("aria-pressed", store.states.has(button.dataset.filter));
  }
  const bucket = timeline.box.children[timeline.index] ?? $("due-within");
  hide($("due-only"), !store.range, bucket);
  if (store.range) write($("due-only"), `Only due ${store.range.map(instant).join(" to ")}${CLOSE}`);
  const others = [store.text, store.label, store.states.size, store.only].filter(Boolean).length;
  hide($("due-all"), !store.range || !others, store.range ? $("due-only") : bucket);
  const set = others + (store.range ? 1 : 0);
  write($("filters-more"), set ? `Filters (${set})` : "Filters");
  list.box.scrollTop = 0;
  arrange();
  changed();
  health.render();
  clearTimeout(scopeTimer);
  if (!store.isCut && !store.scope) return;
  scopeTimer = setTimeout(() => {
    if (serverFilter() !== store.scope) watch.restart();
  }, 400);
}

// On a phone a toolbar shows its rarer parts on demand.
for (const button of document.querySelectorAll(".bar .more")) {
  button.onclick = () => button.setAttribute("aria-expanded", button.closest(".bar").classList.toggle("open"));
}

$("search").oninput = $("label").oninput = $("sort").onchange = noteFilters;
$("search").onkeydown = event => {
  if (event.key !== "Enter" && event.key !== "ArrowDown") return;
  event.preventDefault();
  list.select(0);
};
