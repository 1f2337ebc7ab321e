// The form that makes a timer, changes one, or makes another one like it.

const editor = {
  // The use of the form, a new object each time that it is asked for: the `id` of the timer that is changed, null: one
  // is made; its definition as the form had it at first, `before`, its `version` then, and the `whole` of it then, by
  // which it is recognized.
  task: {id: null},
  // Whether the form has what another timer had.
  isFilled: false,
  // The body that was sent last, and its key: the same body sent again makes no second timer after a lost answer.
  sent: {},

  // Opens the form for a new timer, or with an example.
  create(example = null) {
    if ($("create").open) return;
    this.task = {id: null};
    if (example || this.isFilled) form.reset();
    this.isFilled = false;
    if (example) {
      for (const [name, value] of Object.entries(example)) form.elements[name].value = value;
    } else {
      form.elements.id.value = "";
    }
    form.timeZone.value ||= ZONE;
    this.show("New timer", "Create");
    form[form.kind.value].focus();
    form[form.kind.value].select();
  },

  // Opens the form to change a timer, or to make one like it. An answer that comes when the form has been asked for
  // again, or the sheet of the timer is closed, is dropped.
  async open(id, isCopy = false) {
    const task = this.task = {id: isCopy ? null : id};
    const isLate = () => this.task !== task || details.id !== id;
    try {
      const json = await api.exact(timerPath(id));
      if (!isLate()) this.fill(json, isCopy);
    } catch (problem) {
      if (!isLate()) toast(problem.sentence ?? problem.message, true);
    }
  },

  // Shows the form with what a timer has, but for its secrets: those are never shown.
  fill(json, isCopy) {
    const {id, version} = json;
    if (isCopy && json.webhook) {
      const headers = Object.entries(json.webhook.headers ?? {}).filter(([, value]) => value !== "***");
      const isLess = json.webhook.secret || headers.length < Object.keys(json.webhook.headers ?? {}).length;
      Object.assign(json.webhook, {secret: null, headers: Object.fromEntries(headers)});
      if (isLess) toast("Secrets are not copied.");
    }
    fillIn(json);
    form.elements.id.value = "";
    this.isFilled = true;
    Object.assign(this.task, {version, whole: wholeOf(json), before: definition()});
    this.show(isCopy ? `New timer like ${id}` : `Edit ${id}`, isCopy ? "Create" : "Save");
    (isCopy ? form.elements.id : form[form.kind.value]).focus();
  },

  show(title, word) {
    if (!$("zones").children.length) {
      $("zones").append(...Intl.supportedValuesOf("timeZone").map(value => make("option", {value})));
    }
    this.nameCalendars();
    write($("create-title"), title);
    write($("create-submit"), word);
    $("create-submit").disabled = false;
    $("changes").hidden = true;
    showKind();
    this.showShell();
    $("create").showModal();
    clearErrors(form);
    renewPreview();
    preview();
  },

  // Offers the calendars that the server has.
  async nameCalendars() {
    const {calendars} = await api.json("v1/calendars?limit=1000").catch(() => ({calendars: []}));
    $("calendar-names").replaceChildren(...calendars.map(({name}) => make("option", {value: name})));
  },

  // The request that the form stands for; throws a `Problem` where a field can't be read.
  request() {
    const body = definition();
    const {id, before} = this.task;
    if (id === null) return {method: "POST", path: "v1/timers", body};
    const patch = patchOf(before, body);
    const refuse = detail => {
      throw new Problem(400, {detail, pointer: "/payload"});
    };
    const rest = patchOf(merged(before, patch), body);
    if (Object.keys(rest).length) refuse("a change can't make a member of an object null");
    if (patch.payload && !isSafe(form.payload.value)) refuse("this browser can't send its numbers as they are");
    return {method: "PATCH", path: timerPath(id), body: patch};
  },

  // Shows the request as a line for a shell, and what it would change.
  showShell() {
    const {id, version, before} = this.task;
    let request;
    try {
      request = this.request();
    } catch {
      // The preview shows the problem, a moment after the last key.
      $("create-submit").disabled = id !== null;
      $("changes").hidden = true;
      return write($("curl"), "");
    }
    const {method, path, body} = request;
    const quoted = text => `'${text.replaceAll("'", "'\\''")}'`;
    const options = method === "POST" ? [] : ["-X", method, "-H", quoted(`If-Match: "v${version}"`)];
    if (api.token) options.push("-H", '"Authorization: Bearer $TOKEN"');
    const address = new URL(path, location.href.split("#")[0]).href;
    write($("curl"), ["curl", quoted(address), ...options, "--json", quoted(bodyText(body))].join(" "));
    if (id === null) return;
    const changes = changesOf(body, before);
    $("changes").hidden = false;
    $("create-submit").disabled = !changes.length;
    write($("changes-title"), changes.length ? count(changes.length, "change") : "Nothing is changed yet");
    const text = value => value === undefined || value === null ? "none" : JSON.stringify(value);
    $("changes").lastElementChild.replaceChildren(...changes.flatMap(([pointer, old, now]) => [
      make("dt", {}, pointer), make("dd", {}, make("del", {}, text(old)), " → ", make("ins", {}, text(now))),
    ]));
  },

  async send() {
    const {method, path, body} = this.request();
    if (method === "PATCH") return this.patch(this.task, path, body);
    const text = bodyText(body);
    const {sent} = this;
    if (sent.body !== text) {
      Object.assign(sent, {body: text, key: crypto.getRandomValues(new Uint32Array(4)).join("-")});
    }
    const json = await api.json(path, {method, body: text, headers: {"Idempotency-Key": sent.key}});
    this.sent = {};
    return json;
  },

  // Changes the timer as it was when the form was opened, but for its fires and kicks.
  async patch(task, path, body) {
    for (let tries = 1;; tries += 1) {
      // The last time no version is named, as in `change`.
      const headers = tries < MOST_TRIES ? {"If-Match": `"v${task.version}"`} : {};
      try {
        return await api.json(path, {method: "PATCH", body: JSON.stringify(body), headers});
      } catch (problem) {
        if (problem.status !== 412 || tries === MOST_TRIES) throw problem;
      }
      const json = await api.exact(path);
      if (wholeOf(json) !== task.whole) {
        throw new Problem(412, {detail: "the timer has changed since this form was opened: close it and edit again"});
      }
      task.version = json.version;
    }
  },
};

// A body as JSON. The payload of a new timer goes in as it was typed, so that its numbers keep their spelling.
function bodyText(body) {
  const {payload, ...others} = body;
  if (editor.task.id !== null || payload === undefined) return JSON.stringify(body);
  return `${JSON.stringify({...others, payload: 0}).slice(0, -2)}${form.payload.value.trim()}}`;
}

// The definition of a timer as a text, without what fires and kicks change.
function wholeOf(json) {
  const {
    version, updatedAt, nextFireAt, remaining, lastFiredAt, fireCount, missedCount, health, lastKickedAt, kickCount,
    ...whole
  } = json;
  return JSON.stringify(whole);
}

// The preview's request under way, and the pause before the next.
let previewing = null;
let previewTimer = null;

function stopPreview() {
  clearTimeout(previewTimer);
  previewing?.abort();
}

const previewBox = $("preview").parentElement;

// Hides the fires that are shown until those of the form are there. Their place stays, so that nothing moves.
function renewPreview() {
  write($("preview-word"), "Asking for the next fires…");
  previewBox.ariaBusy = true;
}

function showPreview(word = "The next fires will be shown here.", plain = "", items = []) {
  write($("preview-word"), word);
  write($("preview-plain"), plain);
  $("preview").replaceChildren(...items);
  previewBox.ariaBusy = false;
}

// Whether the fires depend on a field.
const isOfFires = input => !/^(id|labels|payload|webhook)\b/.test(pathOf(input));

async function preview() {
  stopPreview();
  previewing = new AbortController();
  const {signal} = previewing;
  const kind = form.kind.value;
  let fires = [];
  let plain;
  let word;
  let failure = null;
  try {
    editor.request();
    if (form[kind].value) {
      const {webhook, ...body} = definition();
      // The secrets of a timer that is changed are not here, so its webhook is judged when it is sent.
      const text = JSON.stringify(editor.task.id ? body : {...body, webhook});
      const options = {method: "POST", body: text, signal, isRead: true};
      ({fires, description: plain} = await api.json("v1/schedules/preview?count=5&describe=true", options));
      word = form.start.value ? "Next fires, were it activated now" : "Next fires";
      if (kind === "watchdog") word = fires.length ? "Kicks are expected" : "It fires when it is not kicked.";
    }
  } catch (problem) {
    if (signal.aborted) return;
    failure = problem;
  }
  // The errors that are shown stay until now: without them the dialog is shorter, and a click at its end would miss.
  clearErrors(form);
  if (failure) showErrors(form, failure);
  const zone = usedFields(form).find(input => pathOf(input) === "timeZone")?.value.trim();
  showPreview(word, plain, fireItems(fires, zone || undefined));
}

// Shows the fields of the chosen kind alone, and those of a new timer for a new timer alone.
function showKind() {
  const shown = `[data-kind~=${form.kind.value}]`;
  for (const part of form.querySelectorAll("div[data-kind], #builder")) part.hidden = !part.matches(shown);
  for (const label of form.querySelectorAll("[data-new]")) label.parentElement.hidden = editor.task.id !== null;
}

form.oninput = event => {
  showKind();
  if (!event || isOfFires(event.target)) renewPreview();
  editor.showShell();
  clearTimeout(previewTimer);
  previewTimer = setTimeout(preview, 250);
};

form.onsubmit = async event => {
  event.preventDefault();
  stopPreview();
  clearErrors(form);
  $("create-submit").disabled = true;
  const {task} = editor;
  const name = task.id ?? (form.elements.id.value.trim() || "The new timer");
  // Whether the form is still open for what is sent: it may be closed, and opened for another timer, meanwhile.
  const isOpen = () => editor.task === task && $("create").open;
  try {
    const timer = store.learn(await editor.send());
    if (isOpen()) $("create").close();
    toast(task.id === null ? `${timer.id} is ${timer.state}.` : `${timer.id} is changed.`);
    if (details.id) return void refresh(details.id);
    store.arrange();
    if (!$("create").open && timer.index >= 0) list.select(timer.index);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    if (!isOpen()) return toast(`${name}: ${problem.sentence}`, true);
    if (problem.type === "/problems/timer-exists") problem.pointer = "/id";
    showErrors(form, problem);
    if (previewBox.ariaBusy === "true") showPreview();
    form.querySelector("[aria-invalid]")?.focus();
  } finally {
    if (editor.task === task) $("create-submit").disabled = false;
  }
};

$("create").addEventListener("close", stopPreview);
$("curl-copy").onclick = () => copy($("curl").textContent);
