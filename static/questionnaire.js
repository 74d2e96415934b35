// Questionnaires: fields that depend on others come and go, and buttons mark words of a text.
// Without it all fields are there, and marks are typed; what is not asked is left out when the form is read.
"use strict";

(() => {
  // Fields that depend on others

  const dependent = [...document.querySelectorAll("[data-show-if]:not([data-ready])")];
  const valuesOf = (name) =>
    [...document.getElementsByName(name)]
      .filter((input) => (["radio", "checkbox"].includes(input.type) ? input.checked : true) && !input.closest("[hidden][data-show-if]"))
      .map((input) => input.value);
  function show() {
    for (const field of dependent) {
      const conditions = Object.entries(JSON.parse(field.dataset.showIf));
      field.hidden = !conditions.every(([name, accepted]) => valuesOf(field.dataset.prefix + name).some((value) => accepted.includes(value)));
    }
  }
  for (const field of dependent) field.dataset.ready = "";
  if (dependent.length) {
    document.addEventListener("input", show);
    show();
  }

  // Marks: a button for each kind takes the words that are selected; a list takes them back

  const points = (text) => Array.from(text).length;
  for (const field of document.querySelectorAll("textarea[data-marks-in]:not([data-ready])")) {
    field.dataset.ready = "";
    const text = document.getElementById(field.dataset.marksIn);
    const whole = text.textContent;
    const buttons = document.createElement("p");
    buttons.className = "marks";
    const said = document.createElement("span");
    said.className = "help";
    said.setAttribute("role", "status");
    const list = document.createElement("ul");
    list.className = "marked-parts";

    function place() {
      const selection = document.getSelection();
      if (!selection.rangeCount || selection.isCollapsed) return null;
      const range = selection.getRangeAt(0);
      if (!text.contains(range.startContainer) || !text.contains(range.endContainer)) return null;
      const before = document.createRange();
      before.selectNodeContents(text);
      before.setEnd(range.startContainer, range.startOffset);
      let start = before.toString().length;
      let end = start + range.toString().length;
      while (start < end && /\s/u.test(whole[start])) start += 1;
      while (end > start && /\s/u.test(whole[end - 1])) end -= 1;
      return start < end ? [start, end] : null;
    }
    const lines = () => field.value.split("\n").filter((line) => line.trim());
    function set(all) {
      field.value = all.join("\n");
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    function draw() {
      const ranges = [];
      list.replaceChildren(
        ...lines().map((line, number) => {
          const item = document.createElement("li");
          const words = document.createElement("bdi");
          words.textContent = line.replace(/ \d+-\d+:/u, ":");
          const remove = document.createElement("button");
          remove.type = "button";
          remove.textContent = "×";
          remove.setAttribute("aria-label", `${field.dataset.remove}: ${words.textContent}`);
          remove.addEventListener("click", () => {
            set(lines().filter((_, at) => at !== number));
            (list.querySelector("button") ?? buttons.querySelector("button")).focus();
          });
          item.append(words, remove);
          const at = line.match(/ (\d+)-(\d+):/u);
          if (at) ranges.push([Number(at[1]), Number(at[2])]);
          return item;
        }),
      );
      const characters = Array.from(whole);
      const marks = characters.map((_, at) => ranges.some(([start, end]) => start <= at && at < end));
      text.replaceChildren();
      for (let start = 0; start < characters.length; ) {
        let end = start;
        while (end < characters.length && marks[end] === marks[start]) end += 1;
        const node = marks[start] ? document.createElement("mark") : document.createDocumentFragment();
        node.append(characters.slice(start, end).join(""));
        text.append(node);
        start = end;
      }
    }
    for (const [kind, label] of JSON.parse(field.dataset.kinds)) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "mark";
      button.textContent = label;
      // Pressing a button would take the selection away first.
      button.addEventListener("pointerdown", (event) => event.preventDefault());
      button.addEventListener("click", () => {
        const range = place();
        if (!range) {
          said.textContent = field.dataset.unselected;
          return;
        }
        const [start, end] = range.map((at) => points(whole.slice(0, at)));
        set([...lines(), `${kind} ${start}-${end}: ${whole.slice(...range).replace(/\s+/gu, " ")}`]);
        said.textContent = field.dataset.marked;
      });
      buttons.append(button);
    }
    field.addEventListener("input", draw);
    field.before(buttons, said, list);
    field.hidden = true;
    document.querySelector(`label[for="${field.id}"]`)?.setAttribute("for", "");
    buttons.setAttribute("role", "group");
    buttons.setAttribute("aria-label", field.parentElement.querySelector("label").textContent);
    document.getElementById(`${field.id}-help`)?.querySelector("span")?.remove();
    if (field.disabled || field.matches(":disabled")) for (const button of buttons.children) button.disabled = true;
    draw();
  }
})();
