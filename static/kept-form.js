// Puts what was typed before a session ended back into its form. Nothing is sent: the person saves.
"use strict";

{
  const note = document.querySelector("[data-kept]");
  const kept = JSON.parse(document.getElementById("kept-form").textContent);
  const typed = new Map();
  for (const [name, value] of kept.fields) typed.set(name, [...(typed.get(name) ?? []), value]);

  const sendsThere = (element, attribute) =>
    new URL(element.getAttribute(attribute) || location.href, location.href).pathname === kept.action;
  const mayBe = [...document.querySelectorAll("main form[method=post]")].filter(
    (form) => sendsThere(form, "action") || [...form.querySelectorAll("[formaction]")].some((each) => sendsThere(each, "formaction")),
  );
  const known = (form) => [...typed.keys()].filter((name) => form.elements.namedItem(name)).length;
  const form = mayBe.sort((one, other) => known(other) - known(one))[0];

  const fillIn = (element, values) => {
    if (element.type === "checkbox" || element.type === "radio") element.checked = values.includes(element.value);
    else if (element.type === "select-multiple")
      for (const option of element.options) option.selected = values.includes(option.value);
    else if (values.length) element.value = values.shift();
  };

  if (form) {
    const left = new Map([...typed].map(([name, values]) => [name, [...values]]));
    for (const element of form.elements) {
      const ours = ["csrfmiddlewaretoken", "form_of"].includes(element.name);
      if (!element.name || ours || element.disabled || ["file", "submit", "button"].includes(element.type)) continue;
      fillIn(element, left.get(element.name) ?? []);
      element.closest("details")?.setAttribute("open", "");
    }
    note.querySelector("[data-kept-list]").hidden = true;
    note.querySelector("[data-kept-filled]").hidden = false;
    note.querySelector("[data-kept-texts]").open = [...typed.keys()].some((name) => !form.elements.namedItem(name));
    form.dispatchEvent(new Event("input", { bubbles: true }));
  }
  note.focus();
}
