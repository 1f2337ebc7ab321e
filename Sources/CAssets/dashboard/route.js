// Search, filters, order, view and the open timer, as the fragment of the address, which no server sees.

// The last instant that the server knows, in milliseconds: the end of the year 9999.
const LAST_MS = 253402300799999;

const route = {
  // The names and values of the fragment; the empty values are left out.
  parts: new URLSearchParams(),

  get(name) {
    return this.parts.get(name) ?? "";
  },

  // The address of the page with these values in place of the present ones.
  with(values) {
    const parts = new URLSearchParams(this.parts);
    for (const [name, value] of Object.entries(values)) {
      if (value) {
        parts.set(name, value);
      } else {
        parts.delete(name);
      }
    }
    return parts.size ? `#${parts}` : location.pathname + location.search;
  },

  // Notes these values in the address. A step can be gone back from; a filter as it is typed is none.
  note(values, isStep = false) {
    const address = this.with(values);
    if (address === this.with({})) return;
    history[isStep ? "pushState" : "replaceState"](null, "", address);
    this.parts = new URLSearchParams(location.hash.slice(1));
  },

  // Shows the page that the address names.
  show() {
    this.parts = new URLSearchParams(location.hash.slice(1));
    $("search").value = this.get("q");
    $("label").value = this.get("label");
    $("sort").value = Object.hasOwn(ORDERS, this.get("sort")) ? this.get("sort") : "due";
    store.states = new Set(this.get("state").split(",").filter(state => STATES.includes(state)));
    store.only = Object.hasOwn(ONLY, this.get("only")) ? this.get("only") : "";
    const range = /^(\d{1,15})-(\d{1,15})$/.exec(this.get("due"))?.slice(1).map(Number);
    store.range = range?.every(ms => ms <= LAST_MS) ? range : null;
    filter();
    this.showView();
    const id = this.get("timer");
    if (id !== (details.id ?? "")) id ? details.open(id) : $("details").close();
  },

  // Shows the list that the address names, in the place of the others.
  showView() {
    const view = this.get("view");
    document.body.classList.toggle("in-deliveries", view === "deliveries");
    if (view !== "calendars") document.body.classList.remove("in-calendars");
    for (const link of document.querySelectorAll(".top nav a")) {
      const isHere = (new URLSearchParams(link.hash.slice(1)).get("view") ?? "") === view;
      isHere ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
    }
    deliveries.show();
    if (view !== "calendars") return;
    parts.with(() => {
      if (this.get("view") !== view) return;
      document.body.classList.add("in-calendars");
      calendars.show();
    });
  },
};

addEventListener("popstate", () => route.show());

// A link to a part of this page leaves the address as it is.
document.addEventListener("click", event => {
  const name = event.target.closest("a[href^='#']")?.getAttribute("href").slice(1);
  const part = name && $(name);
  if (!part) return;
  event.preventDefault();
  part.scrollIntoView({block: "nearest"});
  part.focus();
});
