// The servers that share a database, as the one that sent this page knows them.

const cluster = {
  // The answer of that server: undefined before the first, null where it is alone.
  json: undefined,

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
    $("cluster-open").hidden = !nodes.length;
    write($("cluster-open"), this.summary(nodes));
    const [note, body] = $("cluster").querySelectorAll("p, tbody");
    write(note, owner ? "" : "No server serves now.");
    const key = nodes.map(node => node.session).join();
    renew(body, key, () => nodes.map(node => this.row(node, node.session === session)));
    nodes.forEach((node, index) => {
      const [, role, lag, skew] = body.rows[index].cells;
      write(role, node.leaving ? "leaves" : node.role === "owner" ? "serves" : "stands by");
      write(lag, node.role === "owner" ? "" : node.lag ?? "cold");
      write(skew, this.skewText(node.skewUs));
    });
  },

  // The number of servers, and what an operator would want to know of them at a glance.
  summary(nodes) {
    const cold = nodes.filter(node => node.role !== "owner" && node.lag === null).length;
    const behind = nodes.filter(node => milliseconds(node.lag) > 2000).length;
    const isOwned = nodes.some(node => node.role === "owner");
    const notes = [cold && `${cold} not warm`, behind && `${behind} behind`, !isOwned && "no owner"];
    return [count(nodes.length, "server"), ...notes.filter(Boolean)].join(", ");
  },

  row({url}, isThis) {
    const name = make("th", {scope: "row"}, make("a", {href: url}, url), isThis ? make("small", {}, " this one") : "");
    return make("tr", {}, name, make("td"), make("td"), make("td"));
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
