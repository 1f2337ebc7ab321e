// Requests to the server, the problems that it answers with, and the token that it may want.

// A request that failed, with the members of the server's problem; status 0 where the server was not reached.
class Problem extends Error {
  constructor(status, members) {
    super(members.detail ?? `the server answered ${status}`);
    Object.assign(this, members, {status});
  }

  get sentence() {
    const allowed = this.allowed ? ` Legal now: ${this.allowed.join(", ") || "nothing"}.` : "";
    return `${capital(this.message)}.${allowed}`;
  }
}

// Paths are relative to the page's own, so that they lead to the server below any prefix that a proxy gives it.
const api = {
  token: sessionStorage.getItem("timerd-token"),

  // Sends a request and returns a good response; throws a `Problem` for any other.
  async open(path, {method = "GET", body, headers = {}, signal} = {}) {
    if (body) headers["Content-Type"] = "application/json";
    for (;;) {
      const sent = Date.now();
      const {token} = this;
      if (token) headers.Authorization = `Bearer ${token}`;
      let response;
      try {
        const options = {method, body, headers, cache: "no-store", signal: signal ?? AbortSignal.timeout(20000)};
        response = await fetch(path, options);
      } catch (error) {
        throw signal?.aborted ? error : new Problem(0, {detail: "the server can't be reached"});
      }
      const date = Date.parse(response.headers.get("Date"));
      if (date) clock.learn(date, date + 1000, sent, Date.now());
      if (response.ok) return response;
      if (response.status !== 401) throw new Problem(response.status, await response.json().catch(() => ({})));
      await askToken(token);
      signal?.throwIfAborted();
    }
  },

  async json(path, options) {
    return (await this.open(path, options)).json();
  },
};

const timerPath = id => `v1/timers/${encodeURIComponent(id)}`;

let tokenAsked = null;

// Asks for another token than `refused`. All requests that lack one wait for the same answer.
function askToken(refused) {
  if (api.token !== refused) return null;
  // The tabs that share a stream are those of one token.
  if (!tokenAsked) watch.visit.abort();
  show("waiting", "Token needed");
  return tokenAsked ??= new Promise(resolve => {
    $("token-error").textContent = refused ? "The server does not know this token." : "";
    $("token").showModal();
    $("token-form").onsubmit = event => {
      event.preventDefault();
      api.token = event.target.token.value;
      sessionStorage.setItem("timerd-token", api.token);
      tokenAsked = null;
      $("token").close();
      resolve();
    };
  });
}

$("token").oncancel = event => event.preventDefault();
