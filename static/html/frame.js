// In the frame of a task page that we serve: makes up for what a page without an origin of its own lacks.
"use strict";

(() => {
  const asked = new URLSearchParams(window.location.search);
  const submitTo = asked.get("turkSubmitTo");
  const MTURK = /^(?:(?:https?:)?\/\/(?:www|worker|workersandbox)\.mturk\.com)?\/+mturk\/externalSubmit\/?$/i;

  // Storage and cookies of such a page throw; pages that use them get some that last as long as they do.
  const storage = () => {
    const kept = new Map();
    return {
      get length() { return kept.size; },
      key: (index) => [...kept.keys()][index] ?? null,
      getItem: (name) => kept.get(String(name)) ?? null,
      setItem: (name, value) => void kept.set(String(name), String(value)),
      removeItem: (name) => void kept.delete(String(name)),
      clear: () => kept.clear(),
    };
  };
  for (const name of ["localStorage", "sessionStorage"]) {
    Object.defineProperty(window, name, { value: storage(), configurable: true });
  }
  const cookies = new Map();
  Object.defineProperty(document, "cookie", {
    configurable: true,
    get: () => [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
    set: (text) => {
      const [name, value] = String(text).split(";")[0].split(/=(.*)/s);
      cookies.set(name.trim(), (value ?? "").trim());
    },
  });

  // Pages of the days before phones fit one where they say nothing else.
  const fits = new CSSStyleSheet();
  fits.replaceSync("@media (max-width: 40rem) { :where(img, video, textarea, input, select, iframe) { max-width: 100%; box-sizing: border-box; } }");
  document.adoptedStyleSheets = [fits];

  // The frame stays with the task: a link to another page opens a tab of its own.
  window.addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest("a[href], area[href]");
    if (!link || event.defaultPrevented || !/^https?:$/.test(link.protocol)) return;
    const there = link.href.split("#");
    if (there.length > 1 && there[0] === window.location.href.split("#")[0]) return;
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  });

  // A form that goes to MTurk goes to us; in a preview none goes anywhere, and that is said.
  function lead(form) {
    if (!MTURK.test(form.getAttribute("action") ?? "")) return;
    form.setAttribute("action", `${submitTo}/mturk/externalSubmit`);
    form.setAttribute("method", "post");
  }

  function say() {
    const note = document.createElement("div");
    note.setAttribute("role", "status");
    note.style.cssText = "position:fixed;inset:auto 12px 12px 12px;z-index:2147483647;padding:12px 16px;" +
      "border-radius:8px;background:#2b2119;color:#fff;font:16px/1.4 sans-serif;text-align:center";
    note.textContent = "This is a preview: nothing was sent. Accept the HIT first.";
    document.body.append(note);
    setTimeout(() => note.remove(), 6000);
  }

  const submit = HTMLFormElement.prototype.submit;
  HTMLFormElement.prototype.submit = function () {
    if (!submitTo) return say();
    lead(this);
    return submit.call(this);
  };
  window.addEventListener("submit", (event) => {
    if (submitTo) return lead(event.target);
    if (event.defaultPrevented) return undefined;
    event.preventDefault();
    return say();
  });
})();
