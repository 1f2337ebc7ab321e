// The form for a new timer, with a preview of its fires.

const form = $("create-form");

// The body of a create. The payload goes in as it was typed, so that its numbers keep their spelling.
function createBody() {
  const value = name => form[name].value.trim() || undefined;
  const kind = form.kind.value;
  const body = {
    id: value("id"), [kind]: kind === "at" ? local(form.at.value) : value(kind), start: value("start"),
    webhook: value("webhook"), maxFires: number(value("maxFires")), restartable: form.restartable.checked || undefined,
  };
  if (kind === "every") {
    Object.assign(body, {after: value("first"), at: local(form.through.value), timeZone: value("zone")});
  }
  if (kind === "watchdog") body.cron = value("expected");
  if (body.cron) body.timeZone = value("timeZone");
  const labels = form.labels.value.split("\n").filter(line => line.trim()).map(line => split(line.trim()));
  body.labels = Object.fromEntries(labels.map(([key, text = ""]) => [key, text]));
  const payload = value("payload") ?? "null";
  try {
    JSON.parse(payload);
  } catch (error) {
    throw new Problem(400, {detail: error.message, pointer: "/payload"});
  }
  return `${JSON.stringify(body).slice(0, -1)},"payload":${payload}}`;
}

// The preview's request under way, and the pause before the next.
let previewing = null;
let previewTimer = null;

function stopPreview() {
  clearTimeout(previewTimer);
  previewing?.abort();
}

async function preview() {
  stopPreview();
  previewing = new AbortController();
  const {signal} = previewing;
  const kind = form.kind.value;
  clearErrors(form);
  let fires = [];
  let word = "";
  try {
    if (form[kind].value) {
      const options = {method: "POST", body: createBody(), signal};
      ({fires} = await api.json("v1/schedules/preview?count=5", options));
      word = form.start.value ? "Next fires, were it activated now" : "Next fires";
      if (kind === "watchdog") word = fires.length ? "Kicks are expected" : "It fires when it is not kicked.";
    }
  } catch (problem) {
    if (signal.aborted) return;
    showErrors(form, problem);
  }
  write($("preview-word"), word || "The next fires will be shown here.");
  const now = clock.now();
  $("preview").replaceChildren(...fires.map(text => {
    const at = Date.parse(text);
    return make("li", {}, instant(at), make("small", {}, `in ${span(Math.max(0, at - now))}`));
  }));
}

// Shows the fields of the chosen kind alone.
function showKind() {
  const shown = `[data-kind~=${form.kind.value}]`;
  for (const part of form.querySelectorAll("div[data-kind]")) part.hidden = !part.matches(shown);
}

let sent = {};

// The same body sent again has the same key, so that it makes no second timer after a lost answer.
function idempotencyKey(body) {
  if (sent.body !== body) sent = {body, key: crypto.getRandomValues(new Uint32Array(4)).join("-")};
  return sent.key;
}

form.oninput = () => {
  showKind();
  clearTimeout(previewTimer);
  previewTimer = setTimeout(preview, 250);
};

form.onsubmit = async event => {
  event.preventDefault();
  stopPreview();
  clearErrors(form);
  $("create-submit").disabled = true;
  try {
    const body = createBody();
    const options = {method: "POST", body, headers: {"Idempotency-Key": idempotencyKey(body)}};
    const timer = store.put(await api.json("v1/timers", options));
    sent = {};
    $("create").close();
    toast(`${timer.id} is ${timer.state}.`);
    store.arrange();
    if (timer.index >= 0) list.select(timer.index);
  } catch (problem) {
    if (problem.type === "/problems/timer-exists") problem.pointer = "/id";
    showErrors(form, problem);
    form.querySelector("[aria-invalid]")?.focus();
  } finally {
    $("create-submit").disabled = false;
  }
};

function openCreate(isExample = false) {
  if (!$("zones").children.length) {
    $("zones").append(...Intl.supportedValuesOf("timeZone").map(value => make("option", {value})));
  }
  form.timeZone.value ||= ZONE;
  if (isExample !== true) form.elements.id.value = "";
  showKind();
  $("create").showModal();
  form[form.kind.value].focus();
  form[form.kind.value].select();
  preview();
}

$("new").onclick = openCreate;
for (const button of document.querySelectorAll("[data-example]")) {
  button.onclick = () => {
    form.reset();
    for (const [name, value] of Object.entries(JSON.parse(button.dataset.example))) form.elements[name].value = value;
    openCreate(true);
  };
}
write($("empty-curl"), `curl ${new URL("v1/timers", location.href.split("#")[0])} --json '{"after": "10s"}'`);
