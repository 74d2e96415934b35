// Keeps the live part of a page fresh: asks every five seconds while somebody looks, the first times sooner,
// until it is done. What is done then leads on by itself, where it has one place to lead to.
"use strict";

(() => {
  const place = document.querySelector("[data-live]");
  if (!place) return;
  const finished = () => place.querySelector("[data-done]") !== null;
  let timer = 0;
  let wait = 500;

  const refresh = async () => {
    try {
      const answer = await fetch(place.dataset.live, {redirect: "error"});
      if (answer.status === 404) return;
      if (answer.status === 200) show(await answer.text());
    } catch {
      // No connection just now; the next round may have one.
    }
    again();
  };

  const show = (text) => {
    if (place.contains(document.activeElement)) return;
    const open = [...place.querySelectorAll("details[open]")].map((each) => each.id);
    const fresh = new DOMParser().parseFromString(text, "text/html");
    place.replaceChildren(...fresh.body.childNodes);
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    const onward = place.querySelector("[data-onward]");
    if (onward) location.replace(onward.href);
  };

  const again = () => {
    clearTimeout(timer);
    if (!finished() && !document.hidden) timer = setTimeout(refresh, wait);
    wait = Math.min(2 * wait, 5000);
  };

  document.addEventListener("visibilitychange", again);
  again();
})();
