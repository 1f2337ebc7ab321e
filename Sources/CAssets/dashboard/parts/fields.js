// The fields of the form for timers: their values as the server takes them, and back.

const form = $("create-form");

// Whether this browser reads and writes the numbers of a JSON text without a change.
const isSafe = text => Boolean(JSON.rawJSON) || (text.replace(/"(\\.|[^"\\])*"/g, "").match(/-?\d[\d.eE+-]*/g) ?? [])
  .every(number => String(Number(number)) === number && number.replace(/\D/g, "").length < 16);

const lines = text => text.split("\n").map(line => line.trim()).filter(Boolean);

// A text of one line each, in two parts at `mark`.
const named = (text, mark) => Object.fromEntries(lines(text).map(line => {
  const place = line.indexOf(mark);
  return place < 0 ? [line, ""] : [line.slice(0, place).trim(), line.slice(place + mark.length).trim()];
}));
const unnamed = (value, mark) => Object.entries(value).map(pair => pair.join(mark)).join("\n");

// How a field of a type is read from its text, and written to it.
const TYPES = {
  text: [text => text, String],
  number: [text => decimal(text), JSON.stringify],
  lines: [lines, value => value.join("\n")],
  numbers: [text => lines(text).map(decimal), value => value.join("\n")],
  some: [text => lines(text).length > 1 ? lines(text) : text, value => [value].flat().join("\n")],
  labels: [text => named(text, "="), value => unnamed(value, "=")],
  headers: [text => named(text, ":"), value => unnamed(value, ": ")],
  json: [exact, value => JSON.stringify(value)],
  "datetime-local": [local, value => localText(value)],
};

// A number, or what was typed instead: the server says what is wrong with it.
function decimal(text) {
  if (/^-?\d{1,15}(\.\d{1,9})?$/.test(text)) return Number(text);
  return /^-?[1-9]\d*(\.\d+)?(e[-+]?\d+)?$/i.test(text) && isSafe(text) ? exact(text) : text;
}

// An instant in the reader's local time, as a field for it takes it.
function localText(value) {
  const date = new Date(value);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
}

const typeOf = input => TYPES[input.dataset.type ?? input.type] ?? TYPES.text;

// The value of a field; undefined where it is empty. A local time may be less exact than the instant that it was made
// from, which an untouched field keeps.
function valueOf(input) {
  if (input.type === "checkbox") return input.checked || undefined;
  const text = input.value.trim();
  const pointer = `/${pathOf(input).replaceAll(".", "/")}`;
  if (input.validity.badInput) throw new Problem(400, {detail: "this is not a whole date with a time", pointer});
  if (!text) return undefined;
  const {instant, shown} = input.dataset;
  if (instant && shown === text) return instant;
  try {
    return typeOf(input)[0](text);
  } catch (error) {
    throw new Problem(400, {detail: error.message, pointer});
  }
}

// The definition that the form has.
function definition() {
  const body = {};
  for (const input of usedFields(form)) {
    const value = valueOf(input);
    if (value === undefined || value === null) continue;
    const names = pathOf(input).split(".");
    const last = names.pop();
    names.reduce((part, name) => part[name] ??= {}, body)[last] = value;
  }
  // Without its address, a webhook that the timer had is taken away.
  if (editor.task.before?.webhook && !body.webhook?.url) delete body.webhook;
  return body;
}

form.addEventListener("reset", () => {
  for (const input of form.querySelectorAll("[data-instant]")) delete input.dataset.instant;
});

// Fills the form with a definition. Values that are the defaults may be there or not.
function fillIn(json) {
  const kind = ["watchdog", "cron", "rrule", "every", "at", "after"].find(name => json[name]) ?? "after";
  form.reset();
  form.kind.value = kind;
  showKind();
  for (const input of form.querySelectorAll("[aria-describedby][name]")) {
    if (input.type !== "checkbox") input.value = "";
  }
  for (const input of usedFields(form)) {
    const value = pathOf(input).split(".").reduce((part, name) => part?.[name], json);
    if (value === undefined || value === null) continue;
    if (input.type === "checkbox") {
      input.checked = value;
      continue;
    }
    input.value = typeOf(input)[1](value);
    if (input.type === "datetime-local") Object.assign(input.dataset, {instant: value, shown: input.value});
    // The default of a choice is its first option, which has no value.
    if (input.tagName === "SELECT" && input.selectedIndex < 0) input.selectedIndex = 0;
  }
}

// A member of an object by its own name: `__proto__` and the like are names as others are.
const memberOf = (object, name) => Object.hasOwn(object, name) ? object[name] : undefined;

// The JSON merge patch that makes `after` of `before`.
function patchOf(before, after) {
  const patch = Object.create(null);
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [memberOf(before, name), memberOf(after, name)];
    if (isObject(old) && isObject(now)) {
      const part = patchOf(old, now);
      if (Object.keys(part).length) patch[name] = part;
    } else if (JSON.stringify(old) !== JSON.stringify(now)) {
      patch[name] = now === undefined ? null : now;
    }
  }
  return patch;
}

// The value that a merge patch makes of another.
function merged(before, patch) {
  if (!isObject(patch)) return patch;
  const value = Object.assign(Object.create(null), isObject(before) ? before : {});
  for (const [name, part] of Object.entries(patch)) {
    if (part === null) delete value[name];
    else value[name] = merged(value[name], part);
  }
  return value;
}

// Whether a value is one whose members are merged.
const isObject = value => value !== null && typeof value === "object" && !Array.isArray(value)
  && !JSON.isRawJSON?.(value);

// The pointers of what a patch changes, each with the value before and after.
function changesOf(patch, before, pointer = "") {
  return Object.entries(patch).flatMap(([name, value]) => {
    const old = isObject(before) ? memberOf(before, name) : undefined;
    const path = `${pointer}/${name}`;
    return isObject(value) && isObject(old) ? changesOf(value, old, path) : [[path, old, value]];
  });
}
