// The task page at work: keeps drafts, measures the work (never the keys), and takes shortcuts.
// Everything works without it; only what is lost by a reload then is lost.
"use strict";

(() => {
  document.getElementById("summary")?.focus();
  const form = document.getElementById("work");
  if (!form) return;

  // Measures of this visit

  const IDLE_MS = 60_000;
  const visit = Math.random().toString(36).slice(2, 14);
  const measures = { active_ms: 0, keystrokes: 0, pastes: 0, pasted_characters: 0, focus_losses: 0, edits: 0 };
  let lastSign = performance.now();
  let counted = lastSign;
  let here = document.hasFocus();

  // Time counts while the page is to be seen and somebody gave a sign within the last minute.
  function clock() {
    const now = performance.now();
    const until = Math.min(now, lastSign + IDLE_MS);
    if (!document.hidden && until > counted) measures.active_ms += Math.round(until - counted);
    counted = now;
  }
  function sign() {
    clock();
    lastSign = performance.now();
  }
  function left() {
    if (here) measures.focus_losses += 1;
    here = false;
  }
  for (const name of ["pointermove", "pointerdown", "keydown", "scroll", "focusin", "input"])
    document.addEventListener(name, sign, { capture: true, passive: true });
  document.addEventListener("keydown", (event) => {
    if (event.repeat || ["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock"].includes(event.key)) return;
    measures.first_key_ms ??= Math.round(performance.now());
    measures.keystrokes += 1;
  }, true);
  document.addEventListener("paste", (event) => {
    measures.pastes += 1;
    measures.pasted_characters += event.clipboardData?.getData("text").length ?? 0;
  }, true);
  // An edit takes something back: a deletion, or another choice than before.
  const chosen = new Set([...form.querySelectorAll("input:checked")].map((input) => input.name));
  form.addEventListener("input", (event) => {
    const { name, type } = event.target;
    if (!name) return;
    if (type === "radio" || type === "checkbox") {
      if (chosen.has(name)) measures.edits += 1;
      chosen.add(name);
    } else if (event.inputType?.startsWith("delete") || event.inputType === "historyUndo") {
      measures.edits += 1;
    }
  });
  window.addEventListener("blur", left);
  window.addEventListener("focus", () => { here = true; sign(); });
  setInterval(clock, 1000);

  function telemetry() {
    clock();
    return { visit, ...measures };
  }

  // Drafts: what changed since the server last said "kept", one request at a time

  const WAIT_MS = 1000;
  const LONGEST_WAIT_MS = 5000;
  const status = form.querySelector(".saved");
  const keys = form.querySelector(".shortcuts input");
  let kept = fields();
  let timer = 0;
  let since = 0;
  let busy = false;
  let sending = false;
  let unreachable = false;
  let held = null;

  function fields() {
    const now = new Map([["|shortcuts", keys.checked ? "on" : "off"]]);
    for (const [name, value] of new FormData(form))
      if (name.includes("|") && typeof value === "string") now.set(name, value);
    return now;
  }
  function changes(now) {
    const changed = {};
    for (const [name, value] of now) if (kept.get(name) !== value) changed[name] = value;
    for (const name of kept.keys()) if (!now.has(name)) changed[name] = null;
    return changed;
  }
  function say(words, wrong = false) {
    status.textContent = words;
    status.classList.toggle("wrong", wrong);
  }
  function later(wait = WAIT_MS) {
    since ||= Date.now();
    clearTimeout(timer);
    timer = setTimeout(save, Math.max(0, Math.min(wait, since + LONGEST_WAIT_MS - Date.now())));
  }
  async function save(last = false) {
    clearTimeout(timer);
    if (sending || (busy && !last) || !form.dataset.draft) return;
    const now = fields();
    const body = JSON.stringify({ fields: changes(now), telemetry: telemetry() });
    since = 0;
    busy = true;
    try {
      const answer = await fetch(form.dataset.draft, {
        method: "POST",
        headers: {
          Authorization: `Ticket ${form.dataset.ticket}`,
          "Content-Type": "application/json",
          "Accept-Language": document.documentElement.lang,
        },
        body,
        keepalive: last === true && body.length < 60_000,
        credentials: "omit",
      });
      unreachable = answer.status >= 500;
      if (answer.ok) {
        const { send_all: all } = await answer.json().catch(() => ({}));
        kept = all ? new Map() : now;
        say(form.dataset.saved);
      } else if (answer.status < 500) {
        const { error } = await answer.json().catch(() => ({}));
        say(`${form.dataset.refused} ${error ?? ""}`, true);
        kept = now;
      } else throw new Error();
    } catch {
      unreachable = true;
      say(held ? form.dataset.offline : form.dataset.waiting, true);
      setTimeout(later, 5000);
    }
    busy = false;
    if (Object.keys(changes(fields())).length && !status.classList.contains("wrong")) later();
  }

  form.addEventListener("input", () => {
    if (status.textContent === form.dataset.saved) say("");
    later();
  });
  document.addEventListener("visibilitychange", () => {
    clock();
    if (document.hidden) {
      left();
      save(true);
    }
  });
  window.addEventListener("pagehide", () => save(true));
  window.addEventListener("pageshow", () => { sending = false; });
  // Sent without a line, the answer would be replaced by a page of the browser: it is held until there is one.
  async function probe() {
    if (!held || !navigator.onLine) return;
    await save();
    if (!held || unreachable) return;
    const { submitter } = held;
    held = null;
    form.requestSubmit(submitter);
  }
  window.addEventListener("online", probe);
  setInterval(probe, 4000);

  form.addEventListener("submit", (event) => {
    if (form.dataset.draft && (!navigator.onLine || unreachable)) {
      event.preventDefault();
      held = { submitter: event.submitter };
      say(form.dataset.offline, true);
      probe();
      return;
    }
    form.elements.telemetry.value = JSON.stringify(telemetry());
    sending = true;
    clearTimeout(timer);
    say(form.dataset.sending);
  });

  // Shortcuts, with a switch

  const groups = [...form.querySelectorAll(".choices")];
  const instructions = document.getElementById("instructions");
  const button = form.querySelector(".send [data-submit]");
  let before = null;

  const inputs = (group) => [...group.querySelectorAll(".choice input")];
  const slider = (group) => group.querySelector("input[type=range]:not([hidden])");
  const open = (group) =>
    group.hasAttribute("data-optional") || group.closest("[hidden][data-show-if]") ? false : slider(group) ? group.querySelector("input[type=number]").value === "" : !inputs(group).some((input) => input.checked);
  // A score has its own number as its key; other choices are counted.
  const scored = (group) => group.classList.contains("scale");
  const keyed = (group, key) =>
    scored(group) ? inputs(group).find((input) => input.value === key) : inputs(group)[Number(key) - 1];
  const isHere = (group) => !group.closest("[hidden]");
  const current = () => groups.find((group) => group.contains(document.activeElement)) ?? groups.filter(isHere).find(open) ?? groups.find(isHere);

  function mark() {
    const now = current();
    for (const group of groups) group.classList.toggle("current", groups.length > 1 && group === now);
  }
  function advance(from) {
    const after = groups.slice(groups.indexOf(from) + 1).find(open) ?? groups.find(open);
    if (after) stepTo(units.findIndex((unit) => unit.contains(after)));
    else stepTo(units.length - 1);
    (after ? slider(after) ?? inputs(after)[0] : button).focus();
    (after?.closest(".together") ?? after ?? button).scrollIntoView({ block: "nearest" });
  }
  function help() {
    if (before?.isConnected) {
      before.focus();
      before = null;
      return;
    }
    before = document.activeElement;
    instructions.open = true;
    instructions.querySelector("summary").focus();
    instructions.scrollIntoView({ block: "nearest" });
  }

  for (const group of groups)
    inputs(group).slice(0, scored(group) ? undefined : 9).forEach((input, index) => {
      if (scored(group) && !/^[0-9]$/.test(input.value)) return;
      const hint = document.createElement("kbd");
      hint.textContent = scored(group) ? input.value : index + 1;
      hint.setAttribute("aria-hidden", "true");
      input.closest(".choice").append(hint);
    });
  form.querySelector("[data-digits]").hidden = !form.querySelector(".choice kbd");
  form.querySelector(".shortcuts").hidden = false;
  const shown = () => form.classList.toggle("with-keys", keys.checked);
  keys.addEventListener("change", shown);
  form.addEventListener("change", mark);
  form.addEventListener("focusin", mark);
  shown();
  mark();

  // How far one is, where the page has several units
  const way = document.querySelector(".way");
  const units = [...form.querySelectorAll(".unit")];
  const isAnswered = (unit) => {
    const asked = groups.filter((group) => unit.contains(group) && !group.hasAttribute("data-optional") && !group.closest("[hidden][data-show-if]"));
    if (asked.length) return !asked.some(open);
    return [...unit.querySelectorAll("textarea, input:not([type=hidden])")].some((field) => field.value.trim());
  };
  function count() {
    const n = units.filter(isAnswered).length;
    way.querySelector("progress").value = n;
    way.querySelector("span").textContent = way.dataset.words.replace("{n}", n).replace("{all}", units.length);
  }
  if (way) {
    way.hidden = false;
    count();
    form.addEventListener("input", count);
  }

  // One unit at a time, with a way back: for kinds that want it. What is wrong or left open is shown first.
  const stepped = form.hasAttribute("data-steps") && units.length > 1;
  const [back, next] = [form.querySelector("[data-back]"), form.querySelector("[data-next]")];
  let at = 0;
  function stepTo(place) {
    if (!stepped || place < 0) return;
    at = Math.min(place, units.length - 1);
    units.forEach((unit, number) => { unit.hidden = number !== at; });
    back.hidden = at === 0;
    next.hidden = at === units.length - 1;
    button.hidden = !next.hidden;
  }
  function go(place) {
    stepTo(place);
    units[at].scrollIntoView({ block: "start" });
    units[at].querySelector("input:not([type=hidden]), textarea, select, [tabindex]")?.focus({ preventScroll: true });
  }
  if (stepped) {
    const wrong = units.findIndex((unit) => unit.querySelector(".error"));
    const begun = units.findIndex((unit) => !isAnswered(unit));
    stepTo(wrong >= 0 ? wrong : Math.max(0, begun));
    back.addEventListener("click", () => go(at - 1));
    next.addEventListener("click", () => { save(); go(at + 1); });
    for (const link of document.querySelectorAll(".summary a[href^='#']"))
      link.addEventListener("click", () => {
        const mark = document.getElementById(link.hash.slice(1));
        stepTo(units.findIndex((unit) => unit.contains(mark)));
      });
  }

  // What a kind wants to be seen together is seen: instructions that push it out of the window fold.
  function makeRoom() {
    const together = form.querySelector(".together");
    if (!together || window.scrollY > 0) return;
    if (together.getBoundingClientRect().bottom > window.innerHeight) instructions.open = false;
  }
  if (document.readyState === "complete") makeRoom();
  else window.addEventListener("load", makeRoom);

  document.addEventListener("keydown", (event) => {
    if (!keys.checked || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    const at = event.target;
    if (event.key === "Enter" && at.matches(".slider input")) {
      event.preventDefault();
      advance(at.closest(".choices"));
      return;
    }
    if (at.matches("textarea, select, input:not([type=radio], [type=checkbox]), [contenteditable]")) return;
    if (event.key === "Enter" && at.matches(".choice input")) {
      event.preventDefault();
      advance(at.closest(".choices"));
    } else if (event.key === "?") {
      event.preventDefault();
      help();
    } else if (/^[0-9]$/.test(event.key) && groups.length) {
      const input = keyed(current(), event.key);
      if (!input) return;
      event.preventDefault();
      input.click();
      input.focus();
    }
  });
})();
