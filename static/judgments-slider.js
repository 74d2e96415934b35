// A slider above the number field that the form sends. Nothing is set until somebody moves it, presses it or
// types: where the slider begins is no answer. Without it the number is typed.
"use strict";

(() => {
  for (const group of document.querySelectorAll(".slider:not([data-ready])")) {
    group.dataset.ready = "";
    const range = group.querySelector("input[type=range]");
    const number = group.querySelector("input[type=number]");
    const start = range.value;

    function show() {
      const unset = number.value === "";
      group.classList.toggle("unset", unset);
      range.value = unset ? start : number.value;
      range.setAttribute("aria-valuetext", unset ? range.dataset.unset : number.value);
    }
    function take() {
      number.value = range.value;
      show();
      number.dispatchEvent(new Event("input", { bubbles: true }));
    }

    range.addEventListener("input", take);
    // Pressing it where it begins changes no value, and is an answer all the same. A touch makes no click.
    for (const name of ["pointerup", "click"])
      range.addEventListener(name, () => { if (number.value === "") take(); });
    range.addEventListener("keydown", (event) => {
      if (event.key !== " " || number.value !== "") return;
      event.preventDefault();
      take();
    });
    number.addEventListener("input", show);
    range.hidden = false;
    group.querySelector(".hint").hidden = false;
    show();
  }
})();
