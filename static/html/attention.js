// In the frame of a task page that we serve: tells the page around how often something was pasted.
"use strict";

(() => {
  if (window.parent === window) return;
  let pastes = 0;
  let characters = 0;
  window.addEventListener("paste", (event) => {
    pastes += 1;
    characters += event.clipboardData?.getData("text/plain").length ?? 0;
    window.parent.postMessage({ distillery: "pasted", pastes, characters }, "*");
  }, true);
})();
