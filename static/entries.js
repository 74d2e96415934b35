// Keeps what was typed into a form when it is sent, until the next page of the desk or of a requester. Where that page says that
// the form was not heard (its person had to sign in or to confirm), they are filled in again. Not kept: files, passwords, codes,
// and hidden fields but for the revision, by which the server notices what others saved meanwhile.
"use strict";

{
  const NAME = "distillery.entries";
  const person = document.currentScript.dataset.person; // absent on pages that only forget
  const attempt = (work) => { try { return work(); } catch { return null; /* storage is full or not allowed */ } };
  const forget = () => attempt(() => sessionStorage.removeItem(NAME));

  const OTHER = ["hidden", "submit", "button", "image", "reset", "fieldset", "output"];
  const isSecret = (each) => ["file", "password"].includes(each.type) || /password|one-time-code/.test(each.autocomplete);
  const isEntry = (each) => each.name && !isSecret(each) && (each.name === "revision" || !OTHER.includes(each.type));
  const isChoice = (each) => ["checkbox", "radio"].includes(each.type);
  const nameOf = (each) => isChoice(each) ? `${each.name}=${each.value}` : each.name;
  const read = (each) => {
    if (each.type === "select-multiple") return [...each.selectedOptions].map((option) => option.value);
    return isChoice(each) ? each.checked : each.value;
  };
  const write = (each, value) => {
    if (each.type === "select-multiple") for (const option of each.options) option.selected = value.includes(option.value);
    else each[isChoice(each) ? "checked" : "value"] = value;
  };
  const actionOf = (form) => new URL(form.getAttribute("action") || location.href, location.href).pathname;
  const formsTo = (action) => [...document.querySelectorAll("main form[method=post]")].filter((form) => actionOf(form) === action);
  const reveal = (each) => { for (; each; each = each.parentElement?.closest("details")) if (each.tagName === "DETAILS") each.open = true; };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (person !== undefined || !form.closest("main")) forget(); // signing out is above <main>
    if (person === undefined || event.defaultPrevented || !form.matches("main form[method=post]")) return;
    const fields = [...form.elements], action = actionOf(form), forms = formsTo(action);
    const entries = fields.filter(isEntry).map((each) => [nameOf(each), read(each)]);
    const left = fields.some((each) => isSecret(each) && each.value);
    const kept = { person, action, at: forms.indexOf(form), of: forms.length, entries, left };
    attempt(() => sessionStorage.setItem(NAME, JSON.stringify(kept)));
  });

  const note = document.querySelector(".interrupted");
  const kept = person === undefined ? null : attempt(() => JSON.parse(sessionStorage.getItem(NAME)));
  if (person !== undefined) forget();
  const forms = kept && note && kept.person === person ? formsTo(kept.action) : [];
  if (forms.length && forms.length === kept.of) {
    const form = forms[kept.at], free = [...form.elements].filter(isEntry);
    for (const [name, value] of kept.entries) {
      const at = free.findIndex((each) => nameOf(each) === name);
      const [each] = at < 0 ? [] : free.splice(at, 1);
      if (!each || String(read(each)) === String(value)) continue;
      write(each, value);
      reveal(each);
    }
    reveal(form);
    form.dispatchEvent(new Event("input", { bubbles: true }));
    for (const [part, shown] of [["lost", false], ["back", true], ["left", kept.left]])
      note.querySelector(`[data-${part}]`).hidden = !shown;
    note.tabIndex = -1;
    note.focus();
  }
}
