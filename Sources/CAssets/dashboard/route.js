// What is shown, as the fragment of the address, which no server sees: search, filters, order, view and open timer.

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

  // Shows what the address says.
  show() {
    this.parts = new URLSearchParams(location.hash.slice(1));
    $("search").value = this.get("q");
    $("label").value = this.get("label");
    $("sort").value = this.get("sort") || "id";
    store.states = new Set(this.get("state").split(",").filter(state => STATES.includes(state)));
    store.only = this.get("only") in ONLY ? this.get("only") : "";
    const range = this.get("due").split("-").map(Number);
    store.range = range.length === 2 && range.every(Number.isSafeInteger) ? range : null;
    filter();
    deliveries.show();
    const id = this.get("timer");
    if (id !== (details.id ?? "")) id ? details.open(id) : $("details").close();
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
