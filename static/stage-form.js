// Keeps the cost and the worker's page beside a form in step with what is entered; buttons do the same by hand.
"use strict";

(() => {
  const form = document.querySelector("[data-stage-form]");
  if (!form) return;
  const preview = document.getElementById("preview");
  let timer = 0;
  let asked = 0;

  const ask = async (step) => {
    const entered = new FormData(form);
    entered.set("step", step);
    entered.delete("picture"); // it is added by its button, and with what is saved
    const answer = await fetch(location.href, {method: "POST", body: entered, redirect: "error"});
    return answer.text();
  };

  const refresh = async () => {
    const number = ++asked;
    try {
      const page = new DOMParser().parseFromString(await ask("cost"), "text/html");
      if (number !== asked) return;
      for (const part of form.querySelectorAll("[data-live]")) {
        const fresh = page.getElementById(part.id);
        if (fresh) part.replaceChildren(...fresh.childNodes);
      }
      if (!preview || preview.offsetParent === null) return;
      const task = await ask("preview");
      if (number !== asked) return;
      // A new frame each time: a frame that goes elsewhere is a step that the button "back" takes.
      const old = preview.querySelector("iframe");
      const next = old.cloneNode();
      next.srcdoc = task;
      old.replaceWith(next);
    } catch {
      // No connection just now, or signed out: the buttons say so.
    }
  };

  form.addEventListener("input", (event) => {
    if (event.target.name === "width") return;
    clearTimeout(timer);
    timer = setTimeout(refresh, 700);
  });
  window.addEventListener("hashchange", refresh);
  form.querySelector("[data-cost]").hidden = true;
  if (preview) form.querySelector("[data-preview]").hidden = true;
  refresh();
})();
