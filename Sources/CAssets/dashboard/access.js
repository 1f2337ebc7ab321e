// The credential of this tab, whose it is, and what the page offers with it. It is kept until the tab is closed, goes
// to the server alone, and never to other tabs.

// The scopes that allow what takes each scope.
const HOLDERS = {
  read: ["read", "write", "admin"], kick: ["kick", "write", "admin"], write: ["write", "admin"], admin: ["admin"],
};

const access = {
  // The key that the server takes the credential for, whose id is null where it asks for none; null: not read yet.
  self: null,
  // The promise of the answer that is being read.
  reading: null,
  // The promise that ends with the dialog, and the function that fulfils it; null: the dialog is closed.
  asking: null,
  answered: null,

  // Reads once who the server takes this tab for.
  know() {
    if (this.self) return null;
    return this.reading ??= this.read().finally(() => {
      this.reading = null;
    });
  },

  async read() {
    const self = await api.json("v1/keys/self");
    // The dialog may have read it meanwhile.
    if (!this.self) this.take(self);
  },

  take(self) {
    this.self = self;
    this.apply();
  },

  // Whether the page may do what takes this scope. The page of a key with a prefix may do nothing: it can't list.
  may(scope) {
    if (!this.self) return true;
    return this.self.idPrefix === null && this.self.scopes.some(held => HOLDERS[scope].includes(held));
  },

  // Whether the page may send a command.
  mayCommand(name) {
    return this.may(name === "kick" ? "kick" : "write");
  },

  // Shows who is signed in, and hides what the key can't do.
  apply() {
    deliveries.read();
    const {id, name} = this.self;
    const [words, shownName, rights] = $("who").querySelectorAll("span, b");
    write(words, id === "token" ? "Signed in with a " : "Signed in as ");
    write(shownName, name ?? "");
    shownName.title = name ?? "";
    const isLess = this.may("read") && !this.may("write");
    write(rights, isLess ? this.may("kick") ? " (may read and kick)" : " (may only read)" : "");
    $("who").hidden = id === null;
    this.limit(document);
    document.body.classList.toggle("read-only", !this.may("kick"));
    $("unreadable").hidden = this.may("read");
    if (!this.may("read")) write($("unreadable").querySelector("p"), this.refusal());
    changed();
  },

  // Hides what the key can't do.
  limit(box) {
    for (const part of box.querySelectorAll("[data-scope]")) part.hidden = !this.may(part.dataset.scope);
  },

  // The reason for which there is nothing to see.
  refusal() {
    const {name, idPrefix} = this.self;
    if (idPrefix === null) return `The key ${name} may kick timers, but can't read them. Use it with the API.`;
    const only = `is for single timers, whose ids begin with ${idPrefix}, and can't read the list`;
    return `The key ${name} ${only}. Use it with the API, or sign in with a key without a prefix.`;
  },

  // Asks for another credential than `refused`. All requests that lack one wait for the same answer.
  ask(refused) {
    if (api.token !== refused) return null;
    if (this.asking) return this.asking;
    // The tabs that share a stream are those of one key.
    watch.visit.abort();
    this.asking = new Promise(resolve => {
      this.answered = resolve;
    });
    show("waiting", "Key needed");
    this.complain(refused ? this.refusedText() : "");
    $("token").showModal();
    return this.asking;
  },

  refusedText() {
    const {id, name} = this.self ?? {};
    if (!id) return "The server does not know this token or key.";
    if (id === "token") return "The server no longer takes this token.";
    return `The server no longer takes the key ${name}: it was revoked or replaced, or has expired.`;
  },

  // Tries a credential; one that the server takes ends the dialog.
  async signIn(token) {
    if (!token) return this.complain("Enter a token or a key.");
    if (!/^[!-~]+$/.test(token)) return this.complain("No token or key has such characters: look for a space.");
    let self;
    try {
      self = await api.json("v1/keys/self", {token});
    } catch (problem) {
      const isUnknown = problem.status === 401;
      return this.complain(isUnknown ? "The server does not know this token or key." : problem.sentence);
    }
    const isAnother = this.self !== null;
    api.token = token;
    sessionStorage.setItem("timerd-token", token);
    this.take(self);
    // The timers that another key could read are shown: the page begins again without them.
    if (isAnother && !this.may("read")) return location.reload();
    this.asking = null;
    $("token-form").reset();
    $("token").close();
    show("connecting", "Connecting");
    this.answered();
    // The timer was read with the rights of another key, perhaps.
    if (isAnother && details.id) {
      details.json = null;
      refresh(details.id);
    }
  },

  // Says in the dialog why a credential is not taken; an empty text takes that back.
  complain(text) {
    const input = $("token-form").elements.token;
    $("token-error").textContent = text;
    if (!text) return input.removeAttribute("aria-invalid");
    input.setAttribute("aria-invalid", true);
    input.focus();
    input.select();
  },

  // Forgets the credential and all that was read with it.
  forget() {
    sessionStorage.removeItem("timerd-token");
    location.reload();
  },
};

$("token-form").onsubmit = async event => {
  event.preventDefault();
  const button = event.target.querySelector("button");
  access.complain("");
  // Enter sends nothing while a credential is tried.
  button.disabled = true;
  await access.signIn(event.target.elements.token.value.trim());
  button.disabled = false;
};

// The page shows nothing without a credential: Escape does not close the dialog, not even the second one in a row,
// which no handler can prevent.
$("token").oncancel = event => event.preventDefault();
$("token").onclose = () => {
  if (access.asking) $("token").showModal();
};
for (const button of document.querySelectorAll("[data-forget]")) button.onclick = access.forget;
