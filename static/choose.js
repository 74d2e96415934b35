// "Choose all on this page", above a column of check boxes.
"use strict";

(() => {
  const label = document.querySelector("[data-choose-all]");
  if (!label) return;
  const all = label.querySelector("input");
  const boxes = [...document.querySelectorAll("input[name=chosen]")];
  const tell = () => {
    const ticked = boxes.filter((box) => box.checked).length;
    all.checked = ticked > 0 && ticked === boxes.length;
    all.indeterminate = ticked > 0 && ticked < boxes.length;
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
