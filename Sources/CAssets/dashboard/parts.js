// The parts of the page that are loaded on first use: the form for timers, what is told of one, and the calendars.

const parts = {
  isLoaded: false,
  // The promise of the parts; null: not asked for.
  loading: null,

  // Loads the parts once, then calls `use`. A failure is told, and the next call tries again.
  async with(use) {
    if (this.isLoaded) return use();
    try {
      await (this.loading ??= this.load());
    } catch (problem) {
      this.loading = null;
      return toast(problem.sentence ?? problem.message, true);
    }
    return use();
  },

  // Style and script become elements of this page, whose policy names them by the hashes of their texts: those of
  // another version would have no effect.
  async load() {
    const text = await (await api.open("dashboard-parts", {cache: "no-cache"})).text();
    const page = new DOMParser().parseFromString(text, "text/html");
    const [style, script] = ["style", "script"].map(name => page.querySelector(name));
    script.remove();
    dressFields(page);
    access.limit(page);
    page.querySelectorAll("dialog").forEach(dressDialog);
    document.body.append(make("div", {id: "parts"}, style, ...page.body.children));
    $("parts").append(make("script", {}, script.textContent));
    const detail = "the server has another version of this page: load it";
    if (typeof editor === "undefined") {
      $("parts").remove();
      throw new Problem(0, {detail});
    }
    this.isLoaded = true;
  },
};

$("new").onclick = () => parts.with(() => editor.create());
for (const button of document.querySelectorAll("[data-example]")) {
  button.onclick = () => parts.with(() => editor.create(JSON.parse(button.dataset.example)));
}
write($("empty-curl"), `curl ${new URL("v1/timers", location.href.split("#")[0])} --json '{"after": "10s"}'`);
