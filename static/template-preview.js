// The preview beside the editor of a template: after each pause in typing the page is sent, comes back with a sample
// row in the frame that workers get, and what there is to say of it is listed. Nothing is stored.
"use strict";

(() => {
  const pane = document.querySelector("[data-preview]");
  const editor = document.querySelector("[data-template-form] textarea[name=html]");
  const form = document.querySelector("[data-preview-form]");
  if (!pane || !form || !editor) return;
  const part = (name) => pane.querySelector(`[data-preview-${name}]`);
  const [frame, status, problems, rows, row] = ["frame", "status", "problems", "rows", "row"].map(part);
  const PAUSE = 700;
  let timer = 0, run = 0;
  pane.hidden = false;

  function draw() {
    // A frame of its own each time: going back in the browser does not lead through former previews.
    const made = document.createElement("iframe");
    made.name = `template-preview-${run}`;
    made.title = "The page as workers see it";
    made.setAttribute("sandbox", pane.dataset.sandbox);
    made.referrerPolicy = "no-referrer";
    made.className = "task";
    if (Number(pane.dataset.height)) made.height = pane.dataset.height;
    frame.replaceChildren(made);
    form.target = made.name;
    form.submit();
  }

  function list(found) {
    problems.replaceChildren(...found.problems.map((each) => {
      const item = document.createElement("li");
      item.textContent = each.words;
      item.className = each.wrong ? "wrong" : "";
      if (each.line) {
        const way = document.createElement("button");
        way.type = "button";
        way.className = "quiet";
        way.textContent = "Show";
        way.addEventListener("click", () => mark(each.line));
        item.append(" ", way);
      }
      return item;
    }));
    problems.hidden = !found.problems.length;
    const wrong = found.problems.some((each) => each.wrong);
    const what = found.made_up ? "Values are made up of the variables." : "";
    status.textContent = wrong ? "It cannot be saved like this." : what;
    rows.hidden = found.rows < 2;
    row.textContent = `Row ${found.row} of ${found.rows}`;
    form.elements.row.value = found.row;
  }

  function mark(line) {
    const lines = editor.value.split("\n");
    const begin = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    editor.focus();
    editor.setSelectionRange(begin, begin + lines[line - 1].length);
    editor.scrollTop = Math.max(0, (line - 4) * (editor.scrollHeight / lines.length));
  }

  async function refresh() {
    const mine = ++run;
    form.elements.html.value = editor.value;
    const asked = new FormData(form);
    asked.set("check", "1");
    try {
      const answer = await fetch(form.action, { method: "POST", body: asked });
      if (!answer.ok) throw new Error(answer.status);
      const found = await answer.json();
      if (mine !== run) return;
      list(found);
      draw();
    } catch {
      if (mine === run) status.textContent = "The preview could not be made. It is tried again when you type.";
    }
  }

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(refresh, PAUSE);
  }

  editor.addEventListener("input", soon);
  form.elements.sample.addEventListener("input", () => { form.elements.row.value = 1; soon(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  pane.querySelector("#sample-file").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    form.elements.sample.value = (await file.slice(0, 500_000).text()).replace(/^\uFEFF/, "");
    form.elements.row.value = 1;
    refresh();
  });
  for (const button of pane.querySelectorAll("[data-step]")) {
    button.addEventListener("click", () => {
      form.elements.row.value = Math.max(1, Number(form.elements.row.value) + Number(button.dataset.step));
      refresh();
    });
  }
  if (editor.value.trim()) refresh();
})();
