// "Choose all on this page", above a column of check boxes; then all that match on other pages can be chosen.
"use strict";

(() => {
  const label = document.querySelector("[data-choose-all]"), every = document.querySelector("[data-every]");
  if (!label) return;
  const all = label.querySelector("input");
  const boxes = [...label.closest("table").querySelectorAll("tbody .pick input")];
  const tell = () => {
    const ticked = boxes.filter((box) => box.checked).length;
    all.checked = ticked > 0 && ticked === boxes.length;
    all.indeterminate = ticked > 0 && ticked < boxes.length;
    if (!every) return;
    every.hidden = !all.checked;
    const box = every.querySelector("input");
    if (box && every.hidden) box.checked = false;
  };
  label.hidden = false;
  document.querySelector("[data-no-choose-all]").hidden = true;
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
    tell();
  });
  for (const box of boxes) box.addEventListener("change", tell);
  tell();
})();
