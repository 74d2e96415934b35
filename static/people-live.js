// The counts of a study link renew themselves while the page is looked at.
"use strict";

const place = document.querySelector("[data-live]");
setInterval(async () => {
  if (document.hidden) return;
  try {
    const answer = await fetch(place.dataset.live, { headers: { "X-Requested-With": "fetch" } });
    if (answer.status === 200 && !answer.redirected) place.innerHTML = await answer.text();
  } catch {
    // The next round asks again.
  }
}, 10000);
