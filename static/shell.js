// The bar's search: Ctrl-K goes there, arrows go through what it found, Escape leaves it.
"use strict";

// In a list, j and k go from row to row, Enter opens one, x ticks it.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, textarea, select")) return;
  const rows = [...document.querySelectorAll("main tbody tr:has(th a)")], row = event.target.closest?.("tbody tr");
  const step = { j: 1, k: -1 }[event.key], box = row?.querySelector("input[type=checkbox]");
  if (!row) return; // only where a row has the focus: single keys may mean something else elsewhere
  if (step) {
    const next = rows[Math.min(Math.max(rows.indexOf(row) + step, 0), rows.length - 1)];
    next.querySelector("th a").focus();
    next.scrollIntoView({ block: "nearest" });
  } else if (event.key === "x" && box) box.click();
});

// What can be undone for ten seconds has a button for as long, unless somebody is on it.
for (const form of document.querySelectorAll("form.undo"))
  setTimeout(() => { if (!form.contains(document.activeElement)) form.closest("li").remove(); }, 10_000);

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
