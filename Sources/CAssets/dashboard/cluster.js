// The servers that share a database, as the one that sent this page knows them.

// The longest lag of a standby that is well, in milliseconds.
const MOST_LAG_MS = 2000;

const cluster = {
  // The answer of that server: undefined before the first, null where it is alone.
  json: undefined,
  // The URLs of the servers that were there when the most were.
  known: new Set(),

  async run() {
    while (this.json !== null) {
      if (!document.hidden) await this.read();
      await new Promise(resolve => setTimeout(resolve, $("cluster").open ? 1000 : 5000));
    }
  },

  async read() {
    try {
      // A server that does not know whose the credential is may still know of the others.
      await access.know()?.catch(() => {});
      if (!access.may("admin")) return void ($("cluster-open").hidden = true);
      const json = await api.json("v1/cluster");
      this.json = json.session && json;
    } catch {
      // Whether the server can be reached is said elsewhere; what was known stays.
    }
    if (this.json) this.render();
  },

  render() {
    const {session, owner, nodes} = this.json;
    const missing = this.missing(nodes);
    this.sum(nodes, missing.length);
    const [note, body] = $("cluster").querySelectorAll("p, tbody");
    write(note, owner ? "" : "No server serves now.");
    const key = [...nodes.map(node => node.session), ...missing].join();
    renew(body, key, () => [
      ...nodes.map(node => this.row(node.url, node.session === session)),
      ...missing.map(url => this.row(url, false, "missing")),
    ]);
    nodes.forEach((node, index) => {
      const [, role, lag, skew] = body.rows[index].cells;
      write(role, node.leaving ? "leaves" : node.role === "owner" ? "serves" : "stands by");
      write(lag, node.role === "owner" ? "" : node.lag ?? node.memory);
      write(skew, this.skewText(node.skewUs));
    });
  },

  // The URLs of servers that are not there any more and were not seen to leave, until as many are there as before.
  missing(nodes) {
    if (nodes.length >= this.known.size) this.known = new Set(nodes.map(node => node.url));
    for (const {url, leaving} of nodes) {
      if (leaving) this.known.delete(url);
    }
    return [...this.known].filter(known => nodes.every(({url}) => url !== known));
  },

  // Shows the roles, the longest lag and what is wrong as a figure of the server's health.
  sum(nodes, missing) {
    const standbys = nodes.filter(node => node.role !== "owner");
    const number = (many, one) => many ? count(many, one) : `no ${one}`;
    const roles = [number(nodes.length - standbys.length, "owner"), number(standbys.length, "standby")];
    const [cold, warming] = ["cold", "warming"].map(memory => standbys.filter(node => node.memory === memory).length);
    const leaving = nodes.filter(node => node.leaving).length;
    const troubles = Object.entries({cold, warming, leaving, missing}).filter(([, many]) => many);
    const trouble = troubles.map(([what, many]) => `${many} ${what}`);
    const lag = Math.max(...standbys.map(node => milliseconds(node.lag) ?? -1));
    const open = $("cluster-open");
    open.hidden = !nodes.length;
    write(open.firstElementChild, [...roles, ...trouble].join(", "));
    write(open.lastElementChild, lag < 0 ? "" : `lag ${span(lag)}`);
    const isOwned = standbys.length < nodes.length;
    open.classList.toggle("bad", !isOwned || trouble.length > 0 || lag > MOST_LAG_MS);
  },

  row(url, isThis, role = "") {
    const name = make("th", {scope: "row"}, make("a", {href: url}, url), isThis ? make("small", {}, " this one") : "");
    return make("tr", {}, name, make("td", {}, role), make("td"), make("td"));
  },

  // How far a server's calendar is from that of the database.
  skewText(us) {
    if (us === null) return "not measured";
    return `${micros(Math.abs(us))} ${us < 0 ? "behind" : "ahead"}`;
  },
};

$("cluster-open").onclick = () => {
  $("cluster").showModal();
  cluster.read();
};
