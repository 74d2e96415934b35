// The page of a qualification test: counts the time down, and takes the form away when it is over.
"use strict";

(() => {
  const form = document.getElementById("test");
  const timer = document.querySelector(".timer");
  const words = timer.querySelector(".timer-words");
  const says = document.getElementById("timer-says");
  const end = Date.now() + Number(timer.dataset.secondsLeft) * 1000;
  const announcements = [[300, says.dataset.left300], [60, says.dataset.left60], [15, says.dataset.left15]];
  let touched = false;

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
      if (left > limit * 0.8) says.textContent = sentence;
    }
  }

  function tick() {
    const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    words.textContent = clock(left);
    timer.classList.toggle("soon", left <= 60);
    announce(left);
    if (left > 0) return;
    clearInterval(ticking);
    touched = false;
    timer.classList.add("over");
    form.hidden = true;
    document.getElementById("time-over").hidden = false;
  }

  const ticking = setInterval(tick, 1000);
  tick();

  // Nothing is kept but what is handed in, so leaving by mistake is asked about.
  form.addEventListener("input", () => { touched = true; });
  form.addEventListener("submit", (event) => { if (!event.defaultPrevented) touched = false; });
  addEventListener("beforeunload", (event) => { if (touched) event.preventDefault(); });
})();
