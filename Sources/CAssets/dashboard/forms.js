// The parts that forms share: fields, the errors beside them, and values as the server takes them.

// The form's attribute: a field named `id` hides the property.
const errorId = (form, name) => `${form.getAttribute("id")}-${name}-error`;

// Gives each field in `box` a place for its error.
function dressFields(box) {
  for (const label of box.querySelectorAll(".two label:has([name])")) {
    const input = label.querySelector("[name]");
    const error = make("div", {className: "error", id: errorId(input.form, input.name)});
    const field = make("div", label.dataset.kind ? {"data-kind": label.dataset.kind} : {});
    label.replaceWith(field);
    field.append(label, error);
    input.setAttribute("aria-describedby", error.id);
    input.spellcheck = false;
  }
}
dressFields(document);

function clearErrors(form) {
  for (const error of form.querySelectorAll(".error")) error.textContent = "";
  for (const input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
}

// The place of a field's value in a body, as names with dots between them.
const pathOf = input => input.dataset.path ?? input.name;

// The fields that the chosen kind uses, all where a form has no kinds.
const usedFields = form => [...form.querySelectorAll("[aria-describedby][name]")]
  .filter(input => !input.closest("[data-kind][hidden]"));

// Shows a problem beside the field that its JSON pointer names, or below them all.
function showErrors(form, problem) {
  const path = `${problem.pointer?.slice(1).replaceAll("/", ".")}.`;
  const used = usedFields(form);
  const input = used.find(one => path.startsWith(`${pathOf(one)}.`)) ?? used.find(one => pathOf(one).startsWith(path));
  if (!input) return void (form.querySelector("p.error").textContent = problem.sentence);
  $(errorId(form, input.name)).textContent = problem.sentence;
  input.setAttribute("aria-invalid", true);
  if (input.closest("details")) input.closest("details").open = true;
}

// The instant of a local time as the server takes it.
const local = value => value ? new Date(value).toISOString() : undefined;
