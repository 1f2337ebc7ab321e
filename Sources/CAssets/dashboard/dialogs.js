// What the page says, and what all dialogs do alike.

// Has a screen reader say what the user did, or trouble. All else that changes by itself is in no live region: it would
// be read without end.
const say = words => write($("said"), words);

// Says something for a while; a refusal interrupts a screen reader.
function toast(text, isAlert = false) {
  const item = make("div", {className: isAlert ? "toast alert" : "toast"}, text);
  const box = $(isAlert ? "alerts" : "notices");
  item.append(make("button", {ariaLabel: "Dismiss", onclick: () => item.remove()}, "✕"));
  if (box.children.length > 2) box.firstChild.remove();
  box.append(item);
  setTimeout(() => item.remove(), isAlert ? 15000 : 4000);
}

// Asks before something is done, with a time where that takes one. A refusal is shown in the dialog, which then stays.
function question(title, text, send, hasTime = false) {
  const form = $("ask-form");
  form.reset();
  clearErrors(form);
  write($("ask-title"), title);
  write($("ask-text"), text);
  write($("ask-yes"), title);
  form.querySelector(".two").hidden = !hasTime;
  $("ask-yes").disabled = false;
  const submit = form.onsubmit = async event => {
    event.preventDefault();
    clearErrors(form);
    $("ask-yes").disabled = true;
    let failure = null;
    await Promise.resolve(send(form)).catch(problem => failure = problem);
    // Another question may have taken the place of this one, whose text names what a refusal is about.
    if (form.onsubmit !== submit) return void (failure && toast(`${text} ${failure.sentence}`, true));
    $("ask-yes").disabled = false;
    failure ? showErrors(form, failure) : $("ask").close();
  };
  $("ask").onclose = () => {
    if (!$("ask").open) form.onsubmit = null;
  };
  $("ask").showModal();
}

// Toasts go into the topmost dialog: an open one makes all else inert.
function moveToasts() {
  const open = document.querySelectorAll("dialog[open]");
  (open[open.length - 1] ?? document.body).append($("toasts"));
}

function dressDialog(dialog) {
  new MutationObserver(moveToasts).observe(dialog, {attributeFilter: ["open"]});
  dialog.addEventListener("click", event => {
    // A form stays open with what was entered: a click may miss a button that moves.
    const isOutside = event.target === dialog && !dialog.querySelector("form");
    if (isOutside || event.target.closest("[data-close]")) dialog.close();
  });
}
document.querySelectorAll("dialog").forEach(dressDialog);

$("help-open").onclick = () => $("help").showModal();
