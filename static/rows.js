// Rows that have an order: added, removed, and moved by a handle or its arrow keys. Without scripts each has a number and a box.
"use strict";

for (const list of document.querySelectorAll("[data-rows]")) {
  const tools = list.querySelector("template");
  const status = list.querySelector("[role=status]");
  const items = () => [...list.querySelectorAll(":scope > .row-item")];
  const cell = (item, name) => item.querySelector(`[name$="-${name}"]`);
  const value = (item, name) => cell(item, name)?.value.trim() ?? "";
  const nameOf = (item) => value(item, "name") || list.dataset.rows;
  const last = items().at(-1);
  const blank = last.cloneNode(true);
  let count = items().length;

  // What people read, as a name for the data: "Is it clear?" is "is_it_clear".
  const nameFrom = (label) => label.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^[^a-z]+|_+$/g, "").slice(0, 40);

  const nameAsLabel = (item) => {
    const others = new Set(items().filter((each) => each !== item).map((each) => value(each, "name")));
    const plain = nameFrom(value(item, "label")).replace(/_+$/, "");
    let name = plain;
    for (let number = 2; plain && others.has(name); number++) name = `${plain.slice(0, 37)}_${number}`;
    cell(item, "name").value = name;
  };

  // Cells that other types have are not sent either.
  const fit = (item) => {
    for (const part of item.querySelectorAll("[data-types]")) {
      part.hidden = !part.dataset.types.split(" ").includes(value(item, "type"));
      for (const input of part.querySelectorAll("input, select, textarea")) input.disabled = part.hidden;
    }
  };

  // Values of the rows before, to choose a condition from.
  const offer = (item, before) => {
    const condition = cell(item, "show_if"), choice = condition?.parentElement.querySelector("select");
    if (!choice) return;
    const options = before.flatMap((other) => {
      const options = value(other, "options").split("\n").map((each) => each.trim()).filter(Boolean);
      const values = { yesno: ["yes", "no"], choice: options, choices: options, scale: options.map((_, at) => String(at + 1)) };
      return (values[value(other, "type")] ?? []).map((each) => `${value(other, "name")} = ${each}`);
    });
    const now = condition.value.trim();
    const lines = [...new Set(now ? [...options, now] : options)];
    choice.replaceChildren(new Option(list.dataset.always, ""), ...lines.map((text) => new Option(text, text)));
    choice.value = now;
  };

  const refresh = () => {
    const shown = items().filter((item) => !item.hidden);
    shown.forEach((item, at) => {
      cell(item, "ORDER").value = at + 1;
      const words = [value(item, "name"), value(item, "label")].filter(Boolean).join(": ");
      item.querySelector("summary").textContent = `${at + 1}. ${words || list.dataset.rows}`;
      offer(item, shown.slice(0, at));
    });
  };

  const move = (item, to) => {
    const shown = items().filter((each) => !each.hidden), at = shown.indexOf(item);
    if (to < 0 || to >= shown.length || to === at) return;
    shown[to][to < at ? "before" : "after"](item);
    refresh();
    status.textContent = `${nameOf(item)}: ${to + 1} / ${shown.length}`;
  };

  const changed = () => list.dispatchEvent(new Event("input", { bubbles: true }));

  const drag = (handle, item) => {
    handle.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      handle.focus();
      handle.setPointerCapture(event.pointerId);
    });
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const shown = items().filter((each) => !each.hidden);
      const above = shown.filter((each) => each !== item).filter((each) => {
        const box = each.getBoundingClientRect();
        return box.top + box.height / 2 < event.clientY;
      });
      move(item, above.length);
      handle.setPointerCapture(event.pointerId); // moved in the page, it was let go of
    });
    handle.addEventListener("lostpointercapture", changed);
    handle.addEventListener("keydown", (event) => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      move(item, items().filter((each) => !each.hidden).indexOf(item) + step);
      handle.focus();
      changed();
    });
  };

  const equip = (item) => {
    item.append(tools.content.cloneNode(true));
    const [handle, remove] = item.querySelectorAll(".row-tools button");
    let named = Boolean(value(item, "name"));
    drag(handle, item);
    remove.addEventListener("click", () => {
      cell(item, "DELETE").checked = true;
      item.hidden = true;
      status.textContent = `${remove.textContent.trim()}: ${nameOf(item)}`;
      refresh();
      changed();
      list.querySelector("[data-add]").focus();
    });
    const condition = cell(item, "show_if");
    if (condition && !condition.value.includes("\n")) {
      const choice = document.createElement("select");
      choice.setAttribute("aria-label", condition.labels[0].textContent);
      choice.addEventListener("input", () => { condition.value = choice.value; });
      condition.after(choice);
      condition.hidden = true;
    }
    item.addEventListener("input", (event) => {
      if (event.target === cell(item, "name")) named = Boolean(value(item, "name"));
      if (event.target === cell(item, "label") && !named) nameAsLabel(item);
      fit(item);
      refresh();
    });
    fit(item);
  };

  const add = () => {
    let item = items().find((each) => each.hidden && !cell(each, "DELETE").checked);
    if (!item) {
      item = blank.cloneNode(true);
      const from = `-${cell(blank, "ORDER").name.match(/-(\d+)-ORDER$/)[1]}-`;
      for (const part of item.querySelectorAll("*"))
        for (const attribute of ["id", "name", "for", "aria-describedby"])
          if (part.hasAttribute(attribute)) part.setAttribute(attribute, part.getAttribute(attribute).replaceAll(from, `-${count}-`));
      count += 1;
      items().at(-1).after(item);
      equip(item);
    } else {
      items().at(-1).after(item);
    }
    item.hidden = false;
    item.querySelector("details").open = true;
    refresh();
    cell(item, "label").focus();
  };

  for (const item of items()) {
    item.hidden = item.classList.contains("spare");
    equip(item);
  }
  list.classList.add("in-order");
  const button = list.querySelector("[data-add]");
  button.hidden = false;
  button.addEventListener("click", add);
  refresh();
}
