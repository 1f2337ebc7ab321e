// The charts: fires per second, and how late the last fires were.

const charts = {
  // The lateness of the last fires in microseconds, as a ring, and how many there were in all.
  late: new Float64Array(8192),
  lateCount: 0,
  // Fires by second since 1970.
  seconds: new Map(),
  SECONDS: 120,
  WIDTH: 326,
  // Microseconds at which the buckets of lateness end.
  EDGES: [10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6],

  take(event) {
    if (event.type !== "fired") return;
    const second = Math.floor(Date.parse(event.at) / 1000);
    this.seconds.set(second, (this.seconds.get(second) ?? 0) + 1);
    // How late a fire is that an outage or a pause held up says nothing about how punctual the server is.
    if (event.reason === "due" || event.reason === "stalled") {
      this.late[this.lateCount++ % this.late.length] = event.latenessUs;
    }
  },

  // Fires in each of the last seconds, as a curve.
  renderRate() {
    const start = Math.floor(clock.now() / 1000) - this.SECONDS;
    for (const second of this.seconds.keys()) {
      if (second < start) this.seconds.delete(second);
    }
    const values = Array.from({length: this.SECONDS}, (_, index) => this.seconds.get(start + index) ?? 0);
    const peak = Math.max(...values);
    const points = values.map((value, index) => {
      const x = (index * this.WIDTH / (this.SECONDS - 1)).toFixed(1);
      return `${x} ${(58 - 46 * value / Math.max(peak, 4)).toFixed(1)}`;
    });
    const [area, curve] = $("rate").querySelectorAll("path");
    area.setAttribute("d", `M0 58L${points.join("L")}V58Z`);
    curve.setAttribute("d", `M${points.join("L")}`);
    write($("rate").querySelector("text"), peak ? peak.toLocaleString() : "");
    const mean = values.slice(-10).reduce((sum, value) => sum + value) / 10;
    this.tell("rate", `${mean.toLocaleString()} now, at most ${peak.toLocaleString()}`);
  },

  // How many of the last fires were how late, in buckets of growing width.
  renderLateness() {
    const seen = this.late.slice(0, this.lateCount).sort();
    const counts = new Array(this.EDGES.length + 1).fill(0);
    const width = this.WIDTH / counts.length;
    for (const us of seen) counts[(this.EDGES.findIndex(edge => us < edge) + counts.length) % counts.length] += 1;
    const most = Math.max(...counts);
    const bars = counts.map((count, index) => {
      const height = Math.max(2, 66 * count / most).toFixed(1);
      return count ? `M${(index * width + 1.5).toFixed(1)} 74v-${height}h${(width - 3).toFixed(1)}v${height}z` : "";
    });
    $("lateness").querySelector("path").setAttribute("d", bars.join(""));
    const at = part => micros(seen[Math.floor(seen.length * part)]);
    const words = `p50 ${at(0.5)}, p99 ${at(0.99)}, ${count(seen.length, "fire")}`;
    this.tell("lateness", seen.length ? words : "no fire seen yet");
  },

  // The words beside a chart are its text alternative.
  tell(id, words) {
    write($(id).querySelector("small"), words);
    $(id).querySelector("svg").ariaLabel = `${$(id).querySelector("h2").textContent}: ${words}`;
  },
};
