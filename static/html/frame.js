// In the frame of a task page that we serve: makes up for what a page without an origin of its own lacks, with
// the help of the page around it (work.js): storage that lasts, a draft of what is typed, and the delivery.
"use strict";

(() => {
  // Scripts of pages have variables of these names, which take the place of the browser's own.
  const {
    DOMException, Element, Event, FormData, HTMLFormElement, HTMLInputElement, HTMLTextAreaElement, JSON, Map,
    MutationObserver, Object, Promise, Proxy, Request, Response, URL, URLSearchParams, WeakMap, WeakSet,
  } = window;
  const around = window.parent;
  const asked = new URLSearchParams(window.location.search);
  const submitTo = asked.get("turkSubmitTo");
  const MTURK = /^\s*(?:(?:https?:)?\/\/(?:www|worker|workersandbox)\.mturk\.com)?\/+mturk\/externalSubmit\/?\s*(?:[?#].*)?$/i;
  const lent = typeof distilleryLent === "object" ? distilleryLent : null;
  const framed = around !== window;
  // The page around may begin to listen later than this one begins to speak: it says when it is there.
  let unheard = [];
  const post = (message) => around.postMessage(message, "*");
  function tell(kind, more) {
    const message = { distillery: kind, ...more };
    if (!framed) return;
    if (unheard) unheard.push(message);
    else post(message);
  }
  if (framed) post({ distillery: "hello" });

  // Storage and cookies of such a page throw. Pages get some that are the same from task to task of one requester.

  const most = lent?.most ?? 5_000_000;
  const areas = { local: new Map(), session: new Map(), cookies: new Map() };
  for (const [area, kept] of Object.entries(lent?.areas ?? {})) {
    for (const [name, value] of Object.entries(kept)) areas[area].set(name, value);
  }
  let changes = [];
  let used = 0;
  for (const area of Object.values(areas)) for (const [name, [value]] of area) used += name.length + value.length;

  function change(area, name, value, ends = null) {
    const before = name === null ? 0 : areas[area].get(name)?.[0].length ?? -name.length;
    if (name === null) {
      for (const [each, [text]] of areas[area]) used -= each.length + text.length;
      areas[area].clear();
    } else if (value === null) {
      if (!areas[area].delete(name)) return;
      used -= name.length + before;
    } else {
      if (used + value.length - before > most) throw new DOMException("The storage of this page is full.", "QuotaExceededError");
      used += value.length - before;
      areas[area].set(name, [value, ends]);
    }
    if (!lent) return;
    if (!changes.length) queueMicrotask(() => { tell("storage", { changes }); changes = []; });
    changes.push([area, name, value, ends]);
  }

  function storage(area) {
    const kept = areas[area];
    const methods = {
      key: (index) => [...kept.keys()][index] ?? null,
      getItem: (name) => kept.get(String(name))?.[0] ?? null,
      setItem: (name, value) => change(area, String(name), String(value)),
      removeItem: (name) => change(area, String(name), null),
      clear: () => change(area, null, null),
    };
    return new Proxy(Object.create(Storage.prototype), {
      get: (target, name) => {
        if (name === "length") return kept.size;
        if (Object.hasOwn(methods, name)) return methods[name];
        return typeof name === "symbol" ? target[name] : kept.get(name)?.[0];
      },
      set: (_, name, value) => { change(area, String(name), String(value)); return true; },
      has: (_, name) => name === "length" || Object.hasOwn(methods, name) || kept.has(String(name)),
      deleteProperty: (_, name) => { change(area, String(name), null); return true; },
      ownKeys: () => [...kept.keys()],
      getOwnPropertyDescriptor: (_, name) => (kept.has(String(name))
        ? { value: kept.get(String(name))[0], writable: true, enumerable: true, configurable: true } : undefined),
    });
  }
  for (const area of ["local", "session"]) {
    Object.defineProperty(window, `${area}Storage`, { value: storage(area), configurable: true });
  }

  function endOf(attributes) {
    for (const [name, text] of attributes) if (name === "max-age" && text !== "") return Date.now() + Number(text) * 1000;
    for (const [name, text] of attributes) if (name === "expires" && !Number.isNaN(Date.parse(text))) return Date.parse(text);
    return null;
  }
  Object.defineProperty(document, "cookie", {
    configurable: true,
    get: () => [...areas.cookies].filter(([, [, ends]]) => ends === null || ends > Date.now())
      .map(([name, [value]]) => (name ? `${name}=${value}` : value)).join("; "),
    set: (text) => {
      const [pair, ...rest] = String(text).split(";");
      const parts = pair.split(/=(.*)/s);
      const [name, value] = parts.length > 1 ? [parts[0].trim(), parts[1].trim()] : ["", pair.trim()];
      const ends = endOf(rest.map((each) => each.split(/=(.*)/s).map((part) => (part ?? "").trim())).map(([key, said]) => [key.toLowerCase(), said ?? ""]));
      if (ends !== null && !(ends > Date.now())) return change("cookies", name, null);
      try {
        return change("cookies", name, value, ends);
      } catch {
        return undefined; // A browser drops cookies that are too much without a word.
      }
    },
  });

  // Pages of the days before phones fit one where they say nothing else.
  const fits = new CSSStyleSheet();
  fits.replaceSync("@media (max-width: 40rem) { :where(img, video, textarea, input, select, iframe) { max-width: 100%; box-sizing: border-box; } }");
  document.adoptedStyleSheets = [fits];

  // Browsers run no such address in a page without an origin; what the page may run, it may run so.
  function runScript(address) {
    let script = address.replace(/^\s*javascript:/i, "");
    try {
      script = decodeURIComponent(script);
    } catch {
      // A per cent sign of the script itself.
    }
    (0, eval)(script);
  }

  // The frame stays with the task: a link to another page opens a tab of its own.
  window.addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest("a[href], area[href]");
    if (!link || event.defaultPrevented) return;
    if (link.protocol === "javascript:") {
      event.preventDefault();
      runScript(link.href);
      return;
    }
    if (!/^https?:$/.test(link.protocol)) return;
    const there = link.href.split("#");
    if (there.length > 1 && there[0] === window.location.href.split("#")[0]) return;
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  });

  // How often something was pasted, for reviewers; the page around counts how often the task was left.
  let pastes = 0;
  let characters = 0;
  window.addEventListener("paste", (event) => {
    pastes += 1;
    characters += event.clipboardData?.getData("text/plain").length ?? 0;
    tell("pasted", { pastes, characters });
  }, true);

  // A form that goes to MTurk goes to us; in a preview none goes anywhere, and that is said.

  // Fields may have the names of a form's own methods, so those are taken from their prototypes.
  const get = (element, name) => Element.prototype.getAttribute.call(element, name);
  const set = (element, name, value) => Element.prototype.setAttribute.call(element, name, value);
  function lead(form, submitter) {
    if (!submitTo) return;
    const there = `${submitTo}/mturk/externalSubmit`;
    if (submitter && MTURK.test(get(submitter, "formaction") ?? "")) set(submitter, "formaction", there);
    if (!MTURK.test(get(form, "action") ?? "")) return;
    set(form, "action", there);
    set(form, "method", "post");
  }

  // Where answers go; a form that came back with what is wrong in it is at that address itself.
  const here = window.location.href.split(/[?#]/)[0];
  const answersTo = submitTo ? `${submitTo}/mturk/externalSubmit` : here.endsWith("/mturk/externalSubmit") ? here : null;

  function leadsToUs(address) {
    try {
      return answersTo !== null && new URL(address, window.location.href).href.split(/[?#]/)[0] === new URL(answersTo).href;
    } catch {
      return false;
    }
  }

  // Such a form is sent nowhere, in a preview either.
  function closesDialog(form, submitter) {
    const method = (submitter ? get(submitter, "formmethod") : null) ?? get(form, "method") ?? "";
    return /^dialog$/i.test(method);
  }

  // Forms whose address is ours because they had none: the page may still keep them to itself.
  const addressed = new WeakSet();

  // True for the form of the answer. One without an action would be sent to the page itself, which takes nothing:
  // it is the answer's unless another form is.
  function isAnswer(form, submitter) {
    const action = (submitter ? get(submitter, "formaction") : null) ?? get(form, "action") ?? "";
    if (action.trim() !== "") return leadsToUs(action);
    const others = [...document.forms].filter((each) => each !== form && !addressed.has(each));
    return !others.some((each) => (get(each, "action") ?? "").trim() !== "" && leadsToUs(get(each, "action")));
  }

  function say(words, lasts = 6000) {
    document.querySelector("[data-distillery-note]")?.remove();
    const note = document.createElement("div");
    note.setAttribute("role", "status");
    note.dataset.distilleryNote = "";
    note.style.cssText = "position:fixed;inset:auto 12px 12px 12px;z-index:2147483647;padding:12px 16px;" +
      "border-radius:8px;background:#2b2119;color:#fff;font:16px/1.4 sans-serif;text-align:center";
    note.textContent = words;
    document.body.append(note);
    if (lasts) setTimeout(() => note.remove(), lasts);
  }
  const sayPreview = () => say("This is a preview: nothing was sent. Accept the HIT first.");

  const submit = HTMLFormElement.prototype.submit;
  let waiting = null;
  let restoring = false;

  // The page around delivers the fields, and keeps them until they have arrived. Where it does not take them
  // (a page of an earlier version), they are sent as ever: `itself` does that. False where a file is among them.
  function deliver(data, itself) {
    const fields = [];
    for (const [name, value] of data) {
      if (typeof value === "string") fields.push([name, value]);
      else if (value.size) {
        say("This marketplace takes no files. Nothing was sent; tell the requester.");
        return false;
      }
    }
    clearTimeout(waiting?.timer);
    waiting = { itself, timer: setTimeout(itself, 4000) };
    save();
    tell("submit", { fields });
    return true;
  }

  function deliverForm(form, submitter) {
    deliver(new FormData(form, submitter ?? undefined), () => {
      set(form, "action", answersTo);
      set(form, "method", "post");
      submit.call(form);
    });
  }

  function send(form) {
    lead(form);
    if (framed && isAnswer(form)) return deliverForm(form);
    return submit.call(form);
  }

  HTMLFormElement.prototype.submit = function () {
    if (restoring) return undefined;
    if (closesDialog(this)) return submit.call(this);
    return answersTo ? send(this) : sayPreview();
  };

  function finish(event) {
    if (event.defaultPrevented || !event.isTrusted || !(event.target instanceof HTMLFormElement)) return undefined;
    if (restoring) {
      event.preventDefault();
      return undefined;
    }
    if (closesDialog(event.target, event.submitter)) return undefined;
    const action = get(event.target, "action") ?? "";
    if (/^\s*javascript:/i.test(action)) {
      event.preventDefault();
      return runScript(action);
    }
    if (!answersTo) {
      event.preventDefault();
      return sayPreview();
    }
    lead(event.target, event.submitter);
    if (!framed || !isAnswer(event.target, event.submitter)) return undefined;
    event.preventDefault();
    return deliverForm(event.target, event.submitter);
  }
  window.addEventListener("submit", finish);
  // A page that keeps the event from going further is asked last where it ends; without its address the form
  // could not be sent by the browser either.
  window.addEventListener("submit", ({ isTrusted, target, submitter }) => {
    if (!isTrusted || !answersTo || !(target instanceof HTMLFormElement) || closesDialog(target, submitter)) return;
    if (Element.prototype.closest.call(target, "crowd-form")) return;
    lead(target, submitter);
    if (isAnswer(target, submitter) && !submitter?.hasAttribute("formaction")) {
      if ((get(target, "action") ?? "").trim() === "") addressed.add(target);
      set(target, "action", answersTo);
      set(target, "method", "post");
    }
    target.addEventListener("submit", (event) => { if (event.cancelBubble) finish(event); }, { once: true });
  }, true);

  // Scripts that send the fields themselves: they go the same way, and the script is told at once whether they were taken.

  function fieldsOf(body) {
    if (body instanceof FormData || body instanceof URLSearchParams) return [...body];
    return typeof body === "string" && body.includes("=") && !/^\s*[[{]/.test(body) ? [...new URLSearchParams(body)] : null;
  }
  const isSent = (method, address, body) => framed && /^post$/i.test(method ?? "") && leadsToUs(String(address)) && fieldsOf(body) !== null;

  const { fetch } = window;
  window.fetch = (resource, options) => {
    if (resource instanceof Request || !isSent(options?.method, resource, options?.body)) return fetch(resource, options);
    const taken = deliver(fieldsOf(options.body), () => fetch(resource, options));
    return Promise.resolve(new Response("", { status: taken ? 200 : 415 }));
  };

  const { sendBeacon } = navigator;
  navigator.sendBeacon = (address, body) => {
    if (!isSent("POST", address, body)) return sendBeacon.call(navigator, address, body);
    return deliver(fieldsOf(body), () => sendBeacon.call(navigator, address, body));
  };

  const requests = new WeakMap();
  const { open: openRequest, send: sendRequest } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function (method, address, ...more) {
    requests.set(this, [method, address]);
    return openRequest.call(this, method, address, ...more);
  };
  XMLHttpRequest.prototype.send = function (body) {
    if (!isSent(...(requests.get(this) ?? [null, ""]), body)) return sendRequest.call(this, body);
    const taken = deliver(fieldsOf(body), () => sendRequest.call(this, body));
    const [status, statusText] = taken ? [200, "OK"] : [415, "Unsupported Media Type"];
    setTimeout(() => {
      for (const [name, value] of Object.entries({ readyState: 4, status, statusText, response: "", responseText: "" })) {
        Object.defineProperty(this, name, { value, configurable: true });
      }
      for (const name of ["readystatechange", "load", "loadend"]) this.dispatchEvent(new Event(name));
    });
    return undefined;
  };

  // Drafts: what differs from the page as it came, kept by the page around and put back after a reload.

  const LEFT_OUT = ["hidden", "password", "file", "submit", "button", "reset", "image"];
  let came = null;
  let last = "{}";
  let timer = 0;
  const touched = new WeakSet();

  function keyed() {
    const counts = new Map();
    const found = new Map();
    for (const field of document.querySelectorAll("input, textarea, select, [contenteditable], [data-kept]")) {
      if (LEFT_OUT.includes(field.type) && field.localName !== "select") continue;
      const ticked = field.type === "radio" || field.type === "checkbox";
      const base = [field.localName, field.getAttribute("name") || field.id, ticked ? field.value : ""].join("|");
      counts.set(base, (counts.get(base) ?? 0) + 1);
      found.set(`${base}|${counts.get(base)}`, field);
    }
    return found;
  }

  function valueOf(field) {
    if ("kept" in field.dataset) return field.draft ?? null;
    if (field.type === "radio" || field.type === "checkbox") return field.checked;
    if (field.localName === "select") return [...field.selectedOptions].map((option) => option.value);
    return field.isContentEditable && field.localName !== "textarea" && field.localName !== "input" ? field.innerText : field.value;
  }

  function firstOf(field) {
    if ("kept" in field.dataset) return null;
    if (field.type === "radio" || field.type === "checkbox") return field.defaultChecked;
    if (field.localName === "select") return null;
    return field.defaultValue ?? null;
  }

  function save() {
    clearTimeout(timer);
    timer = 0;
    if (!came || restoring || !answersTo) return;
    const state = {};
    for (const [key, field] of keyed()) {
      const value = valueOf(field);
      const before = came.has(key) ? came.get(key) : JSON.stringify(firstOf(field));
      if (JSON.stringify(value) !== before) state[key] = value;
    }
    for (const [key, value] of pending) if (!(key in state)) state[key] = value;
    const text = JSON.stringify(state);
    if (text !== last) tell("draft", { state: text });
    last = text;
  }
  function later() {
    if (timer) return;
    timer = setTimeout(save, 120);
  }

  const pending = new Map();
  function put(field, value) {
    if (touched.has(field) || JSON.stringify(valueOf(field)) === JSON.stringify(value)) return;
    if ("kept" in field.dataset) {
      field.draft = value;
      return;
    }
    if (field.type === "radio" || field.type === "checkbox") {
      if (!field.disabled && (field.type === "checkbox" || value)) field.click();
      if (field.checked !== value) field.checked = value;
      return;
    }
    if (field.localName === "select") {
      for (const option of field.options) option.selected = value.includes(option.value);
    } else if (field.isContentEditable && !("value" in field)) {
      field.innerText = value;
    } else {
      const prototype = field.localName === "textarea" ? HTMLTextAreaElement : HTMLInputElement;
      Object.getOwnPropertyDescriptor(prototype.prototype, "value").set.call(field, value);
    }
    for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
  }
  function restore() {
    if (!pending.size) return;
    restoring = true;
    try {
      for (const [key, field] of keyed()) {
        if (!pending.has(key)) continue;
        const value = pending.get(key);
        pending.delete(key);
        put(field, value);
      }
    } finally {
      restoring = false;
    }
  }

  function receive(text) {
    try {
      for (const [key, value] of Object.entries(JSON.parse(text))) pending.set(key, value);
    } catch {
      return;
    }
    last = text;
    restore();
    // Fields that scripts of the page make in answer to what was put back get theirs too.
    const watch = new MutationObserver(restore);
    if (pending.size) watch.observe(document.documentElement, { childList: true, subtree: true });
    setTimeout(() => { watch.disconnect(); pending.clear(); }, 10_000);
  }

  window.addEventListener("message", (event) => {
    if (event.source !== around || !framed || !event.data) return;
    const { distillery: kind, state, sentence } = event.data;
    if (kind === "here" && unheard) {
      const messages = unheard;
      unheard = null;
      messages.forEach(post);
    }
    if (kind === "draft" && typeof state === "string") receive(state);
    if (kind === "taken") clearTimeout(waiting?.timer);
    if (kind === "invalid") waiting?.itself();
    if (kind === "refused" && typeof sentence === "string") say(sentence, 12_000);
  });

  function start() {
    came = new Map([...keyed()].map(([key, field]) => [key, JSON.stringify(valueOf(field))]));
    for (const name of ["input", "change", "click", "keyup", "pointerup", "drop"]) {
      window.addEventListener(name, (event) => {
        if (event.isTrusted && (name === "input" || name === "change") && event.target instanceof Element) touched.add(event.target);
        later();
      }, true);
    }
    window.addEventListener("pagehide", () => save());
    if (answersTo) tell("ready");
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => setTimeout(start));
  else setTimeout(start);
})();
