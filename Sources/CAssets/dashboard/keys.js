// Single keys as shortcuts.

const KEYS = {a: "activate", k: "kick", f: "fire", r: "reschedule", x: "cancel"};

$("keys").checked = localStorage.getItem("timerd-keys") !== "off";
$("keys").onchange = () => localStorage.setItem("timerd-keys", $("keys").checked ? "on" : "off");

addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || !$("keys").checked) return;
  if (event.target.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
  const timer = list.body.contains(event.target) && store.timers.get(list.active);
  const name = event.key === "s" ? (timer?.state === "suspended" ? "resume" : "suspend") : KEYS[event.key];
  if (event.key === "/") {
    (deliveries.isShown ? deliveries.form.of : $("search")).focus();
  } else if (event.key === "n" && access.may("write") && !isGone()) {
    parts.with(() => editor.create());
  } else if (event.key === "?") {
    $("help").showModal();
  } else if (event.key === "u") {
    holds.undo();
  } else if (event.key === "p") {
    feed.pause(!feed.isPaused);
  } else if (timer && name) {
    ask(timer.id, name);
  } else {
    return;
  }
  event.preventDefault();
});
