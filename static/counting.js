// Opens the page again once its figures are counted. It asks without reloading, so that readers are not interrupted.
"use strict";

(() => {
  const place = document.querySelector("[data-counting]");
  if (!place) return;
  const begun = performance.now() - 1000 * Number(place.dataset.counting);
  let timer = 0;

  const look = async () => {
    try {
      const answer = await fetch(location.href, {method: "HEAD", cache: "no-store"});
      if (answer.status !== 202 && answer.headers.get("Retry-After") !== "2") return open();
    } catch {
      // No connection just now; the next round may have one.
    }
    place.textContent = `Counting for ${Math.round((performance.now() - begun) / 1000)} s.`;
    again();
  };

  const open = () => {
    document.querySelector("[data-ready]").textContent = "The figures are known. Opening the page.";
    location.reload();
  };

  const again = () => {
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(look, 2000);
  };

  document.addEventListener("visibilitychange", again);
  again();
})();
