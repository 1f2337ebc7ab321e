// The filters above the list.

for (const state of STATES) {
  const button = make("button", {"data-filter": state, "aria-pressed": false}, icon(state), state, make("b"));
  button.style.setProperty("--state", `var(--${state})`);
  button.onclick = () => {
    if (!store.states.delete(state)) store.states.add(state);
    button.setAttribute("aria-pressed", store.states.has(state));
    filter();
  };
  $("states").append(button);
}

let scopeTimer = null;

// Applies the filters here and, where there are more timers than this page holds, on the server.
function filter() {
  Object.assign(store, {text: $("search").value.trim(), label: $("label").value.trim(), sort: $("sort").value});
  list.box.scrollTop = 0;
  arrange();
  changed();
  clearTimeout(scopeTimer);
  if (!store.isCut && !store.scope) return;
  scopeTimer = setTimeout(() => {
    if (serverFilter() !== store.scope) watch.restart();
  }, 400);
}

$("search").oninput = $("label").oninput = $("sort").onchange = filter;
$("search").onkeydown = event => {
  if (event.key !== "Enter" && event.key !== "ArrowDown") return;
  event.preventDefault();
  list.select(0);
};
