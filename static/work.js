// The working page: counts the time down, saves "accept the next one", and goes on after a submission.
"use strict";

(() => {
  const frame = document.getElementById("task");
  const timer = document.querySelector(".timer");
  const words = timer.querySelector(".timer-words");
  const says = document.getElementById("timer-says");
  const end = Date.now() + Number(timer.dataset.secondsLeft) * 1000;
  const announcements = [[300, says.dataset.left300], [60, says.dataset.left60]];

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

  // Who came by a study link has none: there the address is what entitles.
  const token = document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";

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
    body.set("csrfmiddlewaretoken", token);
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

  function goOn() {
    comeBack();
    submitted = true;
    report();
    window.location.assign(frame.dataset.continue);
  }

  // What a task page that we serve hands over: it has no origin, so this page keeps its draft, delivers its
  // answer and brings its storage to the server. Everything it says may be said by a hostile script.

  const MOST = { draft: 512 * 1024, answer: 2_400_000, fields: 10_000, changes: 2_000, value: 65_536 };
  const opaque = "opaque" in frame.dataset;
  const delivery = document.querySelector(".delivery");
  const names = { draft: `distillery.draft.${frame.dataset.holding}`, answer: `distillery.answer.${frame.dataset.holding}` };
  const memory = new Map();

  function keep(name, value) {
    memory.set(name, value);
    try {
      localStorage.setItem(name, JSON.stringify({ until: end, value }));
      return true;
    } catch {
      return false; // No room, or storage is switched off: this page holds it as long as it is open.
    }
  }
  function kept(name) {
    if (memory.has(name)) return memory.get(name);
    try {
      return JSON.parse(localStorage.getItem(name))?.value ?? null;
    } catch {
      return null;
    }
  }
  function drop(...gone) {
    for (const name of gone) {
      memory.delete(name);
      try {
        localStorage.removeItem(name);
      } catch {
        // Nothing was kept there.
      }
    }
  }
  // Drafts of tasks whose time is over go with the next task.
  function sweep() {
    try {
      for (const name of Object.keys(localStorage).filter((each) => /^distillery\.(draft|answer)\./.test(each))) {
        if (!(JSON.parse(localStorage.getItem(name))?.until > Date.now() - 86_400_000)) localStorage.removeItem(name);
      }
    } catch {
      // Storage is switched off.
    }
  }
  const tell = (kind, more) => frame.contentWindow.postMessage({ distillery: kind, ...more }, "*");

  function say(words, wrong = false) {
    if (delivery.textContent !== words) delivery.textContent = words;
    delivery.hidden = !words;
    delivery.classList.toggle("wrong", wrong);
  }

  let busy = false;
  let again = 0;
  let pause = 0;

  async function deliver() {
    clearTimeout(again);
    const fields = kept(names.answer);
    if (!fields || busy || submitted) return;
    busy = true;
    const slow = setTimeout(() => say(delivery.dataset.sending), 800);
    // multipart/form-data escapes quotes and line ends in names; URL encoding triples texts in other scripts.
    const body = fields.some(([name]) => /["\r\n]/.test(name)) ? new URLSearchParams() : new FormData();
    for (const [name, value] of fields) body.append(name, value);
    let answer = null;
    let said = {};
    try {
      answer = await fetch(frame.dataset.submit, { method: "POST", body, headers: { Accept: "application/json" }, credentials: "omit" });
      said = await answer.json().catch(() => ({}));
    } catch {
      answer = null;
    }
    clearTimeout(slow);
    busy = false;
    if (answer?.ok && said.arrived) {
      drop(names.answer, names.draft);
      await Promise.race([carry(), new Promise((done) => setTimeout(done, 3000))]);
      goOn();
    } else if (answer?.status === 422) {
      drop(names.answer);
      say("");
      tell("invalid");
    } else if (answer && answer.status >= 400 && answer.status < 500 && ![408, 429].includes(answer.status)) {
      drop(names.answer);
      say(said.refused || delivery.dataset.refused, true);
    } else {
      say(answer ? delivery.dataset.busy : delivery.dataset.kept, true);
      pause = Math.min(15_000, (pause || 1000) * 2);
      again = setTimeout(deliver, pause);
    }
  }

  function takeAnswer(fields) {
    const pairs = Array.isArray(fields) && fields.length > 0 && fields.length <= MOST.fields &&
      fields.every((each) => Array.isArray(each) && each.length === 2 && each.every((part) => typeof part === "string"));
    if (!pairs) return tell("refused", { sentence: delivery.dataset.noFields });
    if (fields.reduce((sum, [name, value]) => sum + name.length + value.length, 0) > MOST.answer) {
      return tell("refused", { sentence: delivery.dataset.tooLong });
    }
    tell("taken");
    keep(names.answer, fields);
    pause = 0;
    return deliver();
  }

  // Storage: the last change of each name counts, and clearing an area makes those before it void.
  const changes = new Map();
  let carrying = null;
  let next = 0;
  let carried = 0;

  function takeChanges(given) {
    if (!Array.isArray(given) || given.length > MOST.changes) return;
    for (const change of given) {
      if (!Array.isArray(change) || change.length !== 4 || String(change[2] ?? "").length > MOST.value) continue;
      const [area, name] = change;
      if (name === null) for (const [key, each] of changes) if (each[0] === area) changes.delete(key);
      const key = JSON.stringify([area, name]);
      changes.delete(key);
      changes.set(key, change);
    }
    for (const key of changes.keys()) if (changes.size > MOST.changes) changes.delete(key);
    next ||= setTimeout(carry, Math.max(0, carried + 1000 - Date.now()));
  }
  function storageForm(sent) {
    const body = new FormData();
    body.set("csrfmiddlewaretoken", token);
    body.set("holding", frame.dataset.holding);
    body.set("changes", JSON.stringify(sent));
    return body;
  }
  async function carry() {
    clearTimeout(next);
    next = 0;
    if (carrying) await carrying;
    if (!changes.size) return;
    const sent = [...changes.values()];
    changes.clear();
    carried = Date.now();
    carrying = fetch(frame.dataset.storage, { method: "POST", body: storageForm(sent) }).then(
      (answer) => answer.status < 500,
      () => false,
    );
    const arrived = await carrying;
    carrying = null;
    if (arrived) return;
    const newer = [...changes.values()];
    changes.clear();
    takeChanges(sent);
    takeChanges(newer);
    clearTimeout(next);
    next = setTimeout(carry, 5000);
  }

  function takeDraft(state) {
    if (typeof state !== "string" || state.length > MOST.draft) return;
    if (submitted) return;
    if (state === "{}") drop(names.draft);
    else keep(names.draft, state);
  }

  function hear({ distillery: kind, ...data }) {
    if (kind === "hello") tell("here");
    else if (kind === "ready") {
      const state = kept(names.draft);
      if (typeof state === "string") tell("draft", { state });
    } else if (kind === "draft") takeDraft(data.state);
    else if (kind === "submit") takeAnswer(data.fields);
    else if (kind === "storage") takeChanges(data.changes);
  }

  if (opaque) {
    sweep();
    deliver();
    tell("here");
    window.addEventListener("online", () => { pause = 0; deliver(); carry(); });
    window.addEventListener("pagehide", () => {
      if (changes.size && navigator.sendBeacon(frame.dataset.storage, storageForm([...changes.values()]))) changes.clear();
    });
    document.querySelector("form.return").addEventListener("submit", () => drop(names.draft, names.answer));
  } else {
    window.addEventListener("offline", () => say(delivery.dataset.offline, true));
    window.addEventListener("online", () => say(""));
  }

  window.addEventListener("message", (event) => {
    // Only our own page in the frame says so; a task page that claims it is not believed.
    // In a frame without an origin ours has none either; there the server's page of what follows decides.
    const origins = [window.location.origin, frame.dataset.origin];
    const ours = opaque ? event.origin === "null" : origins.includes(event.origin);
    if (!ours || event.source !== frame.contentWindow || !event.data || typeof event.data !== "object") return;
    if (event.data.distillery === "pasted") {
      seen.pastes = Math.max(seen.pastes, Number(event.data.pastes) || 0);
      seen.pasted = Math.max(seen.pasted, Number(event.data.characters) || 0);
    }
    if (opaque) hear(event.data);
    if (event.data.distillery === "submitted" && String(event.data.holding) === frame.dataset.holding) goOn();
  });

  const form = document.querySelector(".accept-next");
  if (!form) return;
  const saved = form.querySelector(".saved");
  form.querySelector("button").hidden = true;
  form.addEventListener("change", async () => {
    saved.textContent = "";
    const body = new FormData(form);
    try {
      const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
      saved.textContent = answer.ok ? saved.dataset.saved : saved.dataset.failed;
    } catch {
      saved.textContent = saved.dataset.failed;
    }
  });
})();
