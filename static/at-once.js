// After a submission: accepts the next HIT for workers who asked for that, but not again on the way back.
"use strict";

(() => {
  const [arrival] = performance.getEntriesByType("navigation");
  if (!arrival || arrival.type === "navigate") document.querySelector("form[data-at-once]").submit();
})();
