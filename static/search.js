// The search page: one search at a time, a word while it runs, and the sum of the weights while they change.
"use strict";

(() => {
  const once = (form, running) => {
    form.addEventListener("submit", (event) => {
      if (form.dataset.running) {
        event.preventDefault();
        return;
      }
      form.dataset.running = "yes";
      running();
    });
  };
  const ask = document.querySelector("[data-ask]");
  const state = document.querySelector("[data-ask-state]");
  once(ask, () => { state.textContent = state.dataset.words; });
  for (const form of document.querySelectorAll("[data-once]")) once(form, () => {});
  // The page comes back as it was left when somebody goes back to it.
  addEventListener("pageshow", () => {
    state.textContent = "";
    for (const form of document.querySelectorAll("form")) delete form.dataset.running;
  });

  for (const group of document.querySelectorAll("[data-profile]")) {
    const sum = group.querySelector("[data-sum]");
    const inputs = [...group.querySelectorAll("input")];
    const tell = () => {
      const total = inputs.reduce((all, each) => all + Number(each.value), 0);
      sum.textContent = Number.isFinite(total) ? `They add up to ${total.toFixed(4)}.` : "";
    };
    group.addEventListener("input", tell);
    tell();
  }
})();
