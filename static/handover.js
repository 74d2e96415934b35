// Our record stands: goes on to the marketplace by itself, but not when somebody comes back to this page.
"use strict";

(() => {
  const [arrival] = performance.getEntriesByType("navigation");
  if (arrival && arrival.type === "back_forward") return;
  const goOn = () => document.getElementById("handover").submit();
  if (navigator.onLine) goOn();
  else window.addEventListener("online", goOn, { once: true });
})();
