// Moves the focus to the summary of what is wrong with a form.
"use strict";

document.querySelector("[data-focus]")?.focus();
