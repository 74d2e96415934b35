// The working page: counts the time down, saves "accept the next one", and goes on after a submission.
"use strict";

(() => {
  const frame = document.getElementById("task");
  const timer = document.querySelector(".timer");
  const words = timer.querySelector(".timer-words");
  const says = document.getElementById("timer-says");
  const end = Date.now() + Number(timer.dataset.secondsLeft) * 1000;
  const announcements = [[300, "Five minutes left."], [60, "One minute left."]];

  function clock(seconds) {
    const pad = (number) => String(number).padStart(2, "0");
    const hours = Math.floor(seconds / 3600);
    const minutes = Math.floor(seconds / 60) % 60;
    if (hours >= 24) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
    return hours ? `${hours}:${pad(minutes)}:${pad(seconds % 60)}` : `${minutes}:${pad(seconds % 60)}`;
  }

  function announce(left) {
    while (announcements.length && left <= announcements[0][0]) {
      const [limit, sentence] = announcements.shift();
      if (left > limit - 30) says.textContent = sentence;
    }
  }

  function tick() {
    const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    words.textContent = clock(left);
    timer.classList.toggle("soon", left <= 300);
    announce(left);
    if (left > 0) return;
    clearInterval(ticking);
    timer.classList.add("over");
    frame.hidden = true;
    document.querySelector(".time-over").hidden = false;
  }

  const ticking = setInterval(tick, 1000);
  tick();

  // How often the page was left and something pasted, for whoever reviews; it decides nothing by itself.
  const seen = { left: 0, left_seconds: 0, pastes: 0, pasted: 0 };
  let away = 0;
  let submitted = false;

  function leave() {
    if (away || submitted) return;
    away = Date.now();
    seen.left += 1;
  }

  function comeBack() {
    if (!away) return;
    seen.left_seconds += Math.round((Date.now() - away) / 1000);
    away = 0;
  }

  function report() {
    const body = new FormData();
    body.set("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
    body.set("holding", frame.dataset.holding);
    for (const [name, count] of Object.entries(seen)) body.set(name, count);
    navigator.sendBeacon(frame.dataset.attention, body);
  }

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return comeBack();
    leave();
    return submitted ? undefined : report();
  });
  // The focus goes into the frame with every click on the task: that is no leaving.
  window.addEventListener("blur", () => setTimeout(() => {
    if (!document.hasFocus()) leave();
  }));
  window.addEventListener("focus", comeBack);

  window.addEventListener("message", (event) => {
    // Only our own page in the frame says so; a task page that claims it is not believed.
    // In a frame without an origin ours has none either; there the server's page of what follows decides.
    const origins = [window.location.origin, frame.dataset.origin];
    const ours = "opaque" in frame.dataset ? event.origin === "null" : origins.includes(event.origin);
    if (!ours || event.source !== frame.contentWindow || !event.data) return;
    if (event.data.distillery === "pasted") {
      seen.pastes = Math.max(seen.pastes, Number(event.data.pastes) || 0);
      seen.pasted = Math.max(seen.pasted, Number(event.data.characters) || 0);
    }
    if (event.data.distillery === "submitted" && String(event.data.holding) === frame.dataset.holding) {
      comeBack();
      submitted = true;
      report();
      window.location.assign(frame.dataset.continue);
    }
  });

  const form = document.querySelector(".accept-next");
  const saved = form.querySelector(".saved");
  form.querySelector("button").hidden = true;
  form.addEventListener("change", async () => {
    saved.textContent = "";
    const body = new FormData(form);
    try {
      const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
      saved.textContent = answer.ok ? "Saved" : "Not saved";
    } catch {
      saved.textContent = "Not saved";
    }
  });
})();
