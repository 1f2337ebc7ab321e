// The parts that forms share: fields, the errors beside them, and values as the server takes them.

// The form's attribute: a field named `id` hides the property.
const errorId = (form, name) => `${form.getAttribute("id")}-${name}-error`;

// Gives each field a place for its error.
for (const label of document.querySelectorAll(".two label")) {
  const input = label.querySelector("[name]");
  const error = make("div", {className: "error", id: errorId(input.form, input.name)});
  const field = make("div", label.dataset.kind ? {"data-kind": label.dataset.kind} : {});
  label.replaceWith(field);
  field.append(label, error);
  input.setAttribute("aria-describedby", error.id);
  input.spellcheck = false;
}

function clearErrors(form) {
  for (const error of form.querySelectorAll(".error")) error.textContent = "";
  for (const input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
}

// Fields that have another name in the form, by the kind of timer.
const formNames = {every: {after: "first", at: "through", timeZone: "zone"}, watchdog: {cron: "expected"}};

// Shows a problem beside the field that its JSON pointer names, or below them all.
function showErrors(form, problem) {
  const field = problem.pointer?.split("/")[1];
  const name = formNames[form.kind?.value]?.[field] ?? field;
  const input = form.elements[name];
  const error = $(errorId(form, name));
  if (!error) return void (form.querySelector("p.error").textContent = problem.sentence);
  error.textContent = problem.sentence;
  input.setAttribute("aria-invalid", true);
  if (input.closest("details")) input.closest("details").open = true;
}

// The instant of a local time as the server takes it.
const local = value => value ? new Date(value).toISOString() : undefined;

// A whole number, or what was typed instead: the server says what is wrong with it.
const number = text => /^-?\d{1,15}$/.test(text) ? Number(text) : text;
