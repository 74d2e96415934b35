// Reviewing answers from the keyboard: j and k go from one to the next, and the letters that an answer names
// decide on it (a form is sent, a fold is opened at its first field), from the first undecided one on without going
// there first. Control and Enter send the form that is being filled in. Nothing needs it.
"use strict";

(() => {
  const place = document.querySelector("[data-review]");
  if (!place) return;
  const answers = [...place.querySelectorAll("[data-answer]")];
  // The switch of shortcuts is kept by shortcuts.js.
  const keys = place.querySelector(".keys input");
  if (!answers.length) return;

  const letters = new Set([...place.querySelectorAll("[data-do]")].map((way) => way.dataset.do));
  const focused = () => answers.find((answer) => answer.contains(document.activeElement));
  let last = answers.find((answer) => answer.classList.contains("state-undecided")) ?? answers[0];
  const current = () => focused() ?? last;
  // The answer on which the letters decide has a mark, also before anything has the focus.
  function mark() {
    last = current();
    for (const answer of answers) answer.classList.toggle("is-current", answer === last);
    const number = String(answers.indexOf(last) + 1);
    for (const each of document.querySelectorAll("mark[data-shared]"))
      each.classList.toggle("of-other", !each.dataset.shared.split(", ").includes(number));
  }
  place.addEventListener("focusin", mark);
  function go(to) {
    if (!to) return;
    to.focus({ preventScroll: true });
    to.scrollIntoView({ block: "nearest" });
  }
  function step(by) {
    const at = answers.indexOf(focused());
    go(answers[at < 0 ? (by > 0 ? 0 : answers.length - 1) : Math.min(answers.length - 1, Math.max(0, at + by))]);
  }
  function decide(key) {
    const way = current()?.querySelector(`[data-do="${key}"]`);
    if (way instanceof HTMLFormElement) way.requestSubmit();
    else if (way) {
      way.open = true;
      way.querySelector("textarea, input:not([type=hidden])").focus();
    }
  }

  mark();
  place.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing || event.repeat) return;
    const form = event.target.closest("[data-do] form, form[data-do]");
    if (!form || !event.target.matches("textarea, input")) return;
    event.preventDefault();
    form.requestSubmit();
  });

  const marked = location.hash && document.getElementById(location.hash.slice(1));
  if (answers.includes(marked)) go(marked);

  document.addEventListener("keydown", (event) => {
    if (!keys?.checked || event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.target.matches("textarea, select, input:not([type=checkbox]), [contenteditable]")) return;
    if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
    else if (letters.has(event.key)) decide(event.key);
    else return;
    event.preventDefault();
  });
})();
