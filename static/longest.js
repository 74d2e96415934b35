// No field cuts what is typed or pasted in silence: near its limit a field counts, beyond it the form says so
// and is not sent. Without this script the server refuses in words, or the browser stops at `maxlength`.
"use strict";

(() => {
  const NEAR = 0.8;
  const sentences = document.currentScript.dataset;
  const language = document.documentElement.lang;
  let number = 0;
  const counted = new Map();

  // Characters as the server counts them, with line ends of one character.
  const length = (field) => [...field.value.replaceAll("\r\n", "\n")].length;

  function watch(field) {
    const longest = Number(field.dataset.longest ?? field.getAttribute("maxlength"));
    const least = Number(field.getAttribute("minlength"));
    if (!(longest > 0) || field.type === "hidden" || counted.has(field)) return;
    field.removeAttribute("maxlength");
    const words = document.createElement("p");
    words.className = "counter help";
    words.id = `counter-${(number += 1)}`;
    words.setAttribute("role", "status");
    words.hidden = true;
    field.after(words);
    const described = field.getAttribute("aria-describedby");
    field.setAttribute("aria-describedby", described ? `${described} ${words.id}` : words.id);
    counted.set(field, { least, longest, words });
    say(field);
  }
  function say(field) {
    const { least, longest, words } = counted.get(field);
    const n = length(field);
    const over = n > longest;
    const under = n < least;
    words.hidden = !under && n < longest * NEAR;
    words.classList.toggle("wrong", over);
    const figures = { n, limit: under ? least : longest, over: n - longest };
    const sentence = over ? sentences.long : under ? sentences.short : sentences.counts;
    words.textContent = sentence.replace(/\{(\w+)\}/g, (_, name) => figures[name].toLocaleString(language));
    field.setCustomValidity(over ? words.textContent : "");
  }

  for (const field of document.querySelectorAll("[data-longest], [maxlength]")) watch(field);
  document.addEventListener("input", (event) => {
    if (counted.has(event.target)) say(event.target);
  });
  document.addEventListener("submit", (event) => {
    const long = [...counted.keys()].find((field) => field.form === event.target && field.validity.customError);
    if (!long) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    long.focus();
    long.scrollIntoView({ block: "center" });
  }, true);
})();
