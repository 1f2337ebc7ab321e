// The colours: those of the system, or light or dark by choice, which this browser keeps.

const THEMES = ["system", "light", "dark"];

function showTheme(theme) {
  if (!THEMES.includes(theme)) theme = "system";
  document.documentElement.style.colorScheme = theme === "system" ? "" : theme;
  $("theme").value = theme;
}

$("theme").onchange = event => {
  localStorage.setItem("timerd-theme", event.target.value);
  showTheme(event.target.value);
};
showTheme(localStorage.getItem("timerd-theme"));
