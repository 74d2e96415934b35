// Copy buttons beside code.
"use strict";

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.parentElement.querySelector(".saved").textContent = button.dataset.copied ?? "Copied";
  });
}
