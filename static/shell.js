// The bar's search: Ctrl-K goes there, arrows go through what it found, Escape leaves it.
"use strict";

{
  const field = document.querySelector("#jump"), results = document.querySelector("#jump-results");
  if (field) {
    const links = () => [field, ...results.querySelectorAll("a")];
    document.addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") {
        event.preventDefault();
        field.focus();
        field.select();
      }
    });
    field.form.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], all = links(), at = all.indexOf(document.activeElement);
      if (event.key === "Escape") results.replaceChildren();
      if (!step || at < 0) return;
      event.preventDefault();
      all[(at + step + all.length) % all.length].focus();
    });
    document.addEventListener("click", (event) => { if (!field.form.contains(event.target)) results.replaceChildren(); });
  }
}
