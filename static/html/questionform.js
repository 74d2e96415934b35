// Checks the regular expressions of a QuestionForm, which only the worker's own browser runs.
"use strict";

(() => {
  const language = document.documentElement.lang;
  const fill = (sentence, size, limit) =>
    sentence.replace("{size}", size.toLocaleString(language)).replace("{limit}", limit.toLocaleString(language));

  function complaint(field) {
    if (!field.value) return "";
    for (const [source, flags, error] of JSON.parse(field.dataset.patterns)) {
      let regex;
      try {
        regex = new RegExp(source, flags.replace("g", ""));
      } catch {
        continue; // What cannot be read as a regular expression asks for nothing.
      }
      if (!regex.test(field.value)) return error || field.dataset.wrong;
    }
    return "";
  }

  const fields = [...document.querySelectorAll("[data-patterns]")];
  for (const field of fields) field.addEventListener("input", () => field.setCustomValidity(""));
  for (const form of new Set(fields.map((field) => field.form))) {
    form.addEventListener("submit", (event) => {
      for (const field of fields.filter((each) => each.form === form)) {
        field.setCustomValidity(complaint(field));
        if (field.reportValidity()) continue;
        event.preventDefault();
        return;
      }
    });
  }

  // A file of the wrong size is named before it travels.
  for (const field of document.querySelectorAll('input[type="file"][data-most]')) {
    field.addEventListener("change", () => {
      const size = field.files[0]?.size ?? 0;
      const [least, most] = [Number(field.dataset.least), Number(field.dataset.most)];
      let problem = "";
      if (field.files.length && size > most) {
        problem = fill(field.dataset.large, size, most);
      } else if (field.files.length && size < least) {
        problem = fill(field.dataset.small, size, least);
      }
      field.setCustomValidity(problem);
      field.reportValidity();
    });
    field.form.addEventListener("submit", (event) => {
      if (!field.reportValidity()) event.preventDefault();
    });
  }

  // Who writes something else has chosen it.
  for (const text of document.querySelectorAll(".something-else input, .something-else textarea")) {
    const option = text.closest(".options")?.querySelector('input[value=""]');
    text.addEventListener("input", () => {
      if (option && text.value) option.checked = true;
    });
  }
})();
