// Sends a form as soon as its page is there, but not again on the way back: accepts the next HIT for workers who
// asked for that, posts an answer that came in the address.
"use strict";

(() => {
  const [arrival] = performance.getEntriesByType("navigation");
  const form = document.querySelector("form[data-at-once]");
  // A field may have the name of a method.
  if (!arrival || arrival.type === "navigate") HTMLFormElement.prototype.submit.call(form);
})();
