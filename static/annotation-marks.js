// Marking words of a passage: a button beside each field takes what is selected in its passage.
// Without it the words are typed or pasted.
"use strict";

(() => {
  for (const field of document.querySelectorAll("textarea[data-marks]:not([data-ready])")) {
    field.dataset.ready = "";
    const text = document.getElementById(field.dataset.marks);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "mark";
    button.textContent = field.dataset.button;
    const said = document.createElement("span");
    said.className = "help";
    said.setAttribute("role", "status");

    // Pressing a button would take the selection away first.
    button.addEventListener("pointerdown", (event) => event.preventDefault());
    button.addEventListener("click", () => {
      const selection = document.getSelection();
      const inside = selection.rangeCount > 0 && text.contains(selection.anchorNode) && text.contains(selection.focusNode);
      const words = inside ? selection.toString().replace(/\s+/gu, " ").trim() : "";
      if (!words) {
        said.textContent = field.dataset.unselected;
        return;
      }
      field.value = [field.value.trim(), words].filter(Boolean).join("\n");
      said.textContent = field.dataset.marked;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    field.before(button, said);
  }
})();
