// What the demonstration still makes, told while a page is open; at its end the page shows what came.
"use strict";

const coming = document.querySelector("[data-progress]");
const asking = setInterval(async () => {
  if (document.hidden) return;
  try {
    const answer = await fetch(coming.dataset.progress, { headers: { "X-Requested-With": "fetch" } });
    if (answer.status !== 200 || answer.redirected) return;
    const words = await answer.text();
    if (words) {
      coming.firstElementChild.innerHTML = words;
    } else {
      clearInterval(asking);
      location.reload();
    }
  } catch {
    // The next round asks again.
  }
}, 2000);
