// Requests to the server, and the problems that it answers with.

// The end of a detail that says what became of a change. The server has it for requests of every kind.
const OUTCOME = /; (nothing was changed|whether the change was made is not known)$/;

// A request that failed, with the members of the server's problem; status 0 where the server was not reached.
class Problem extends Error {
  constructor(status, members, isRead = false) {
    const detail = members.detail ?? `the server answered ${status}`;
    super(isRead ? detail.replace(OUTCOME, "; nothing could be read") : detail);
    Object.assign(this, members, {status});
  }

  get sentence() {
    const allowed = this.allowed ? ` Legal now: ${this.allowed.join(", ") || "nothing"}.` : "";
    return `${capital(this.message)}.${allowed}`;
  }
}

// The most bytes of requests that a browser sends on while their page is left: 64 KiB, some of them for headers.
const KEPT_BYTES = 60000;

// Paths are relative to the page's own, so that they lead to the server below any prefix that a proxy gives it.
const api = {
  // The credential of this tab: a token or a key's secret; null for none.
  token: sessionStorage.getItem("timerd-token"),
  // Bytes of the bodies under way that outlive the page.
  kept: 0,

  // Sends a request and returns a good response; throws a `Problem` for any other. After a 401 another credential is
  // asked for, with which the request is sent again. A request that brings a `token` only tries that. A POST that
  // changes nothing has `isRead`.
  async open(path, request = {}) {
    const {method = "GET", body, headers = {}, signal, token, keepalive, limitMs = 20000, cache} = request;
    const {isRead = method === "GET"} = request;
    if (body) headers["Content-Type"] = "application/json";
    const size = keepalive && body ? body.length : 0;
    for (;;) {
      if (!token) await access.asking;
      signal?.throwIfAborted();
      const sent = Date.now();
      const credential = token ?? this.token;
      if (credential) headers.Authorization = `Bearer ${credential}`;
      let response;
      const isKept = keepalive && this.kept + size <= KEPT_BYTES;
      if (isKept) this.kept += size;
      try {
        const limit = signal ?? AbortSignal.timeout(limitMs);
        const options = {method, body, headers, keepalive: isKept, cache: cache ?? "no-store", signal: limit};
        response = await fetch(path, options);
      } catch (error) {
        throw signal?.aborted ? error : new Problem(0, {detail: "the server can't be reached"});
      } finally {
        if (isKept) this.kept -= size;
      }
      const date = Date.parse(response.headers.get("Date"));
      if (date) clock.learn(date, date + 1000, sent, Date.now());
      if (response.ok) return response;
      if (response.status !== 401 || token) {
        throw new Problem(response.status, await response.json().catch(() => ({})), isRead);
      }
      await access.ask(credential);
    }
  },

  async json(path, options) {
    return parsed(await this.open(path, options));
  },

  // The JSON of an answer, with its numbers as they are spelled in it.
  async exact(path) {
    const text = await (await this.open(path)).text().catch(breakOff);
    try {
      return exact(text);
    } catch {
      return breakOff();
    }
  },
};

// An answer may break off.
const breakOff = () => {
  throw new Problem(0, {detail: "the connection was lost"});
};
const parsed = response => response.json().catch(breakOff);

// The JSON of a text, with numbers spelled as they are there, in browsers that can keep that.
const exact = text => JSON.parse(text, (name, value, {source} = {}) => {
  const isOther = typeof value === "number" && source !== undefined && String(value) !== source;
  return isOther && JSON.rawJSON ? JSON.rawJSON(source) : value;
});

const timerPath = id => `v1/timers/${encodeURIComponent(id)}`;
