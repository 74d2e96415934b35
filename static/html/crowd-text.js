// Crowd elements on a text: entities that are marked in it, and questions with answers that refer to it.
// Offsets count characters as Python does, not the halves of pairs.
"use strict";

(window.distilleryCrowd ??= []).push(({ Field, define, fresh, instructionsOf, make, read, strings }) => {
  const COLOURS = ["#cfe3f5", "#ffe0bf", "#d3efd3", "#f9d0d0", "#e4d8f2", "#ead9d3", "#f8dbee", "#e2e2e2", "#eeeebb", "#c9eff3"];

  // A text in which pieces are chosen by mouse, finger or keys. `marks` are [from, to, element builder].
  class TextBoard {
    constructor(text, { label, onSelect, onKey }) {
      this.signs = [...text];
      this.from = this.to = 0;
      this.marks = [];
      this.onSelect = onSelect;
      this.box = make("div", { className: "crowd-text", tabIndex: 0 });
      this.box.setAttribute("role", "application");
      this.box.setAttribute("aria-label", label);
      this.box.addEventListener("pointerup", (event) => { if (event.pointerType === "mouse") this.take(true); });
      document.addEventListener("selectionchange", () => this.take(false));
      this.box.addEventListener("keydown", (event) => {
        if (event.target !== this.box) return;
        if (this.step(event) || onKey(event)) event.preventDefault();
      });
      this.paint();
    }

    // Where a place of the browser's selection is in the text; each run knows where it begins.
    offset(node, at) {
      const run = (node.nodeType === Node.TEXT_NODE ? node.parentElement : node)?.closest?.("[data-from]");
      if (run && this.box.contains(run)) {
        const before = node.nodeType === Node.TEXT_NODE ? [...node.data.slice(0, at)].length : at ? [...run.textContent].length : 0;
        return Number(run.dataset.from) + before;
      }
      if (node !== this.box) return null;
      const next = [...this.box.childNodes].slice(at).find((each) => each.dataset?.from !== undefined);
      return next ? Number(next.dataset.from) : this.signs.length;
    }
    take(done) {
      const selection = document.getSelection();
      if (!selection.rangeCount || selection.isCollapsed) return;
      const range = selection.getRangeAt(0);
      if (!this.box.contains(range.commonAncestorContainer)) return;
      const [from, to] = [this.offset(range.startContainer, range.startOffset), this.offset(range.endContainer, range.endOffset)];
      if (from === null || to === null || from === to) return;
      [this.from, this.to] = this.trim(Math.min(from, to), Math.max(from, to));
      if (done) this.onSelect();
    }
    trim(from, to) {
      while (from < to && /\s/.test(this.signs[from])) from += 1;
      while (to > from && /\s/.test(this.signs[to - 1])) to -= 1;
      return [from, to];
    }

    // Arrows go from word to word, with Alt from character to character; Shift takes more in, or gives back.
    step(event) {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by || event.ctrlKey || event.metaKey) return false;
      const words = [...this.signs.join("").matchAll(/[\p{L}\p{N}_'’-]+|[^\s\p{L}\p{N}_]/gu)].map((found) => {
        const from = [...this.signs.join("").slice(0, found.index)].length;
        return [from, from + [...found[0]].length];
      });
      if (!words.length) return true;
      if (event.altKey) {
        if (event.shiftKey) this.to = Math.max(this.from + 1, Math.min(this.signs.length, this.to + by));
        else [this.from, this.to] = [Math.max(0, Math.min(this.signs.length - 1, this.from + by)), 0];
        if (!event.shiftKey) this.to = this.from + 1;
      } else if (event.shiftKey && this.to > this.from) {
        const ends = words.map(([, end]) => end);
        this.to = by > 0 ? ends.find((end) => end > this.to) ?? this.to : ends.findLast((end) => end < this.to && end > this.from) ?? this.to;
      } else {
        const at = this.to > this.from ? words.findIndex(([from, to]) => from <= this.from && this.from < to) + by : 0;
        [this.from, this.to] = words[Math.max(0, Math.min(words.length - 1, at))];
      }
      document.getSelection().removeAllRanges();
      this.paint();
      return true;
    }

    get chosen() { return this.signs.slice(this.from, this.to).join(""); }
    clear() {
      this.from = this.to = 0;
      document.getSelection().removeAllRanges();
      this.paint();
    }

    run(from, to) {
      const run = make("span", {}, this.signs.slice(from, to).join(""));
      run.dataset.from = from;
      if (from >= this.from && to <= this.to && this.to > this.from) run.className = "crowd-chosen";
      return run;
    }
    paint() {
      const cuts = [...new Set([0, this.signs.length, this.from, this.to, ...this.marks.flatMap(([from, to]) => [from, to])])].sort((a, b) => a - b);
      const pieces = [];
      let open = null;
      for (let at = 0; at + 1 < cuts.length; at += 1) {
        const [from, to] = [cuts[at], cuts[at + 1]];
        const mark = this.marks.find((each) => each[0] <= from && to <= each[1]);
        if (mark && mark !== open?.mark) {
          open = { mark, element: mark[2]() };
          pieces.push(open.element);
        } else if (!mark) open = null;
        if (open) open.element.insertBefore(this.run(from, to), open.element.querySelector("[data-last]"));
        else pieces.push(this.run(from, to));
      }
      this.box.replaceChildren(...pieces);
    }
  }

  class EntityAnnotation extends Field {
    entities = [];

    build() {
      this.dataset.kept = "";
      this.kinds = (read(this.attribute("labels"), []) || []).map((each) => (typeof each === "object" ? each : { label: String(each) }));
      this.entities = (read(this.attribute("initial-value"), []) || []).filter((each) => this.kindOf(each.label))
        .map(({ label, startOffset, endOffset }) => ({ endOffset, label, startOffset }));
      this.initial = JSON.stringify(this.entities);
      const side = instructionsOf(this);
      const rest = [...this.childNodes];
      const group = fresh("labels");
      this.inputs = this.kinds.map(({ label, fullDisplayName }, at) => {
        const input = make("input", { type: "radio", name: group, value: label, checked: at === 0 });
        const swatch = make("span", { className: "crowd-swatch" });
        swatch.style.background = this.colourOf(label);
        const choice = make("label", { className: "crowd-tick crowd-category" }, input, swatch, make("span", {}, fullDisplayName ?? label));
        // A piece of text that is chosen gets the label; pressing must not end the choice.
        choice.addEventListener("pointerdown", (event) => { if (this.board.to > this.board.from) event.preventDefault(); });
        choice.addEventListener("click", () => setTimeout(() => { if (this.board.to > this.board.from && input.checked) this.mark(); }));
        return [input, choice];
      });
      this.says = make("p", { className: "crowd-says" });
      this.says.setAttribute("role", "status");
      this.board = new TextBoard(this.attribute("text"), {
        label: "Text to mark",
        onSelect: () => this.mark(),
        onKey: (event) => this.key(event),
      });
      this.list = make("ol", { className: "crowd-drawn" });
      const header = this.attribute("header");
      const work = make("div", { className: "crowd-work" },
        ...(header ? [make("p", { className: "crowd-header" }, header)] : []),
        make("fieldset", { className: "crowd-labels" }, make("legend", {}, "Label"), ...this.inputs.map(([, choice]) => choice)),
        this.board.box,
        make("p", { className: "crowd-help" }, "Choose a label, then select text. With keys: arrows go from word to word (Alt: from character to character), Shift takes in more, Enter marks, Delete removes, 1 to 9 choose a label."),
        this.says, this.list);
      this.place(side, work, rest);
      this.paint();
    }

    // It is a form by itself where none is around it.
    place(side, work, rest) {
      const around = this.parentElement?.closest("crowd-form");
      if (around) {
        this.replaceChildren(...(side ? [side] : []), work, ...rest);
        return;
      }
      const form = make("crowd-form");
      form.widget = this;
      if (this.hasAttribute("answer-format")) form.setAttribute("answer-format", this.attribute("answer-format"));
      form.append(...(side ? [side] : []), work, ...rest);
      this.replaceChildren(form);
    }

    kindOf(label) { return this.kinds.find((each) => each.label === label); }
    colourOf(label) { return COLOURS[Math.max(0, this.kinds.findIndex((each) => each.label === label)) % COLOURS.length]; }

    key(event) {
      const number = /^[1-9]$/.test(event.key) && this.inputs[Number(event.key) - 1];
      if (number) {
        number[0].checked = true;
        this.say(number[0].value);
      } else if (event.key === "Enter" || event.key === " ") this.mark();
      else if (event.key === "Delete" || event.key === "Backspace") {
        const at = this.entities.findIndex(({ startOffset, endOffset }) => startOffset < this.board.to && endOffset > this.board.from);
        if (at >= 0) this.drop(at);
      } else if (event.key === "Escape") this.board.clear();
      else return false;
      return true;
    }

    mark() {
      const label = this.inputs.find(([input]) => input.checked)?.[0].value;
      const { from, to, chosen } = this.board;
      if (this.disabled || label === undefined || to <= from) return;
      const cut = this.entities.some(({ startOffset, endOffset }) => startOffset < to && endOffset > from && (startOffset < from || endOffset > to));
      if (cut) return this.say("A part of a marked piece cannot be marked: choose all of it, or remove its mark.");
      this.entities = this.entities.filter(({ startOffset, endOffset }) => endOffset <= from || startOffset >= to);
      this.entities.push({ endOffset: to, label, startOffset: from });
      this.entities.sort((one, other) => one.startOffset - other.startOffset);
      this.board.from = this.board.to;
      document.getSelection().removeAllRanges();
      this.changed();
      return this.say(`“${chosen}” is marked as ${label}.`);
    }
    drop(at) {
      const [{ label, startOffset, endOffset }] = this.entities.splice(at, 1);
      this.changed();
      this.say(`“${this.board.signs.slice(startOffset, endOffset).join("")}” is no ${label} any more.`);
    }
    say(words) { this.says.textContent = words; }
    changed() {
      this.paint();
      this.dispatchEvent(new Event("change", { bubbles: true }));
    }

    paint() {
      this.board.marks = this.entities.map(({ label, startOffset, endOffset }, at) => [startOffset, endOffset, () => {
        const mark = make("mark", { className: "crowd-entity" });
        mark.style.background = this.colourOf(label);
        const name = make("small", {}, this.kindOf(label)?.shortDisplayName ?? label);
        const remove = make("button", { type: "button", tabIndex: -1 }, "✕");
        remove.setAttribute("aria-label", `Remove ${label}`);
        remove.addEventListener("click", () => this.drop(at));
        const last = make("span", { className: "crowd-entity-name" }, name, remove);
        last.dataset.last = "";
        mark.append(last);
        return mark;
      }]);
      this.board.paint();
      this.list.replaceChildren(...this.entities.map(({ label, startOffset, endOffset }, at) => {
        const text = this.board.signs.slice(startOffset, endOffset).join("");
        const remove = make("button", { type: "button", className: "crowd-button" }, "Remove");
        remove.setAttribute("aria-label", `Remove ${label}: ${text}`);
        remove.addEventListener("click", () => this.drop(at));
        return make("li", {}, make("strong", {}, this.kindOf(label)?.fullDisplayName ?? label), make("span", { className: "crowd-where" }, text), remove);
      }));
    }

    get value() { return { entities: this.entities.map((each) => ({ ...each })) }; }
    set value(value) {
      this.entities = [...(value?.entities ?? [])];
      if (this.built) this.paint();
    }
    get _submittableValue() { return this.value; }
    get draft() { return JSON.stringify(this.entities) === this.initial ? null : this.entities; }
    set draft(entities) { if (Array.isArray(entities)) this.value = { entities }; }
    reset() { this.value = { entities: JSON.parse(this.initial) }; }
  }

  // Questions and answers about a text, with tags and the places in the text that they refer to.
  class QuestionAnswerGeneration extends Field {
    build() {
      this.dataset.kept = "";
      this.tags = strings(this.attribute("question-tags"));
      this.custom = this.hasAttribute("allow-custom-question-tags") && this.attribute("allow-custom-question-tags") !== "false";
      this.limit = (name, fallback) => Number(this.attribute(name)) || fallback;
      const side = instructionsOf(this);
      this.board = new TextBoard(this.attribute("text"), {
        label: "Text",
        onSelect: () => {},
        onKey: (event) => event.key === "Enter" && (this.refer(this.cards.lastElementChild), true),
      });
      this.cards = make("div", { className: "crowd-cards" });
      this.more = make("button", { type: "button", className: "crowd-button" }, "Add a question");
      this.more.addEventListener("click", () => this.card().querySelector("textarea").focus());
      this.replaceChildren(...(side ? [side] : []),
        make("div", { className: "crowd-work" }, this.board.box,
          make("p", { className: "crowd-help" }, "Select text and press “Refer to the selected text” to say what a question is about. With keys: arrows go from word to word, Shift takes in more.")),
        make("div", { className: "crowd-work" }, this.cards, this.more));
      for (let at = 0; at < this.limit("min-questions", 1); at += 1) this.card();
    }

    card({ question = "", answer = "", questionTags = [], textReferences = [] } = {}) {
      const card = make("fieldset", { className: "crowd-card-of-question" });
      const field = (words, kind, text) => {
        const input = make("textarea", { rows: 2, value: text, id: fresh("words"), required: true });
        const check = () => input.setCustomValidity(this.complaint(input.value, kind));
        input.addEventListener("input", check);
        check();
        card.append(make("label", { className: "crowd-caption", htmlFor: input.id }, words), input);
        return input;
      };
      card.append(make("legend", {}, ""));
      card.question = field("Question", "question", question);
      card.answer = field("Answer", "answer", answer);
      card.tags = [...new Set([...this.tags, ...questionTags])].map((tag) => {
        const input = make("input", { type: "checkbox", value: tag, checked: questionTags.includes(tag) });
        return [input, make("label", { className: "crowd-tick crowd-category" }, input, make("span", {}, tag))];
      });
      const tags = make("div", { className: "crowd-categories" }, ...card.tags.map(([, label]) => label));
      if (card.tags.length || this.custom) card.append(tags);
      if (this.custom) card.append(this.customTag(card, tags));
      card.references = [...textReferences];
      card.referred = make("ul", { className: "crowd-drawn" });
      const refer = make("button", { type: "button", className: "crowd-button" }, "Refer to the selected text");
      refer.addEventListener("pointerdown", (event) => event.preventDefault());
      refer.addEventListener("click", () => this.refer(card));
      const remove = make("button", { type: "button", className: "crowd-button" }, "Remove the question");
      remove.addEventListener("click", () => {
        if (this.cards.children.length > this.limit("min-questions", 1)) card.remove();
        this.number();
      });
      card.append(card.referred, make("p", { className: "crowd-bar" }, refer, remove));
      this.cards.append(card);
      this.drawReferences(card);
      this.number();
      return card;
    }
    customTag(card, tags) {
      const input = make("input", { type: "text", maxLength: 100 });
      input.setAttribute("aria-label", "Another tag");
      input.placeholder = "Another tag";
      const add = make("button", { type: "button", className: "crowd-button" }, "Add tag");
      add.addEventListener("click", () => {
        const tag = input.value.trim();
        if (!tag || card.tags.some(([each]) => each.value === tag)) return;
        const box = make("input", { type: "checkbox", value: tag, checked: true });
        const label = make("label", { className: "crowd-tick crowd-category" }, box, make("span", {}, tag));
        card.tags.push([box, label]);
        tags.append(label);
        input.value = "";
        this.changed();
      });
      return make("p", { className: "crowd-slide" }, input, add);
    }
    complaint(text, kind) {
      const words = text.trim().split(/\s+/).filter(Boolean).length;
      const [least, most] = [this.limit(`${kind}-min-words`, 1), this.limit(`${kind}-max-words`, Infinity)];
      if (words < least) return `Write at least ${least} ${least === 1 ? "word" : "words"}; these are ${words}.`;
      return words > most ? `Write at most ${most} words; these are ${words}.` : "";
    }
    refer(card) {
      const { from, to } = this.board;
      if (!card || to <= from) return;
      card.references.push({ startOffset: from, endOffset: to, text: this.board.chosen });
      this.board.clear();
      this.drawReferences(card);
      this.changed();
    }
    drawReferences(card) {
      card.referred.replaceChildren(...card.references.map((reference, at) => {
        const remove = make("button", { type: "button", className: "crowd-button" }, "Remove");
        remove.setAttribute("aria-label", `Remove the reference to “${reference.text}”`);
        remove.addEventListener("click", () => {
          card.references.splice(at, 1);
          this.drawReferences(card);
          this.changed();
        });
        return make("li", {}, make("span", { className: "crowd-where" }, `“${reference.text}”`), remove);
      }));
    }
    number() {
      [...this.cards.children].forEach((card, at) => { card.querySelector("legend").textContent = `Question ${at + 1}`; });
      this.more.disabled = this.cards.children.length >= this.limit("max-questions", Infinity);
      this.changed();
    }
    changed() { this.dispatchEvent(new Event("change", { bubbles: true })); }

    sync() {
      for (const field of this.querySelectorAll(".crowd-cards textarea, .crowd-cards input, button")) field.disabled = this.disabled;
    }

    get value() {
      return {
        questionAnswerPairs: [...this.cards.children].map((card) => ({
          question: card.question.value,
          answer: card.answer.value,
          questionTags: card.tags.filter(([input]) => input.checked).map(([input]) => input.value),
          textReferences: card.references.map((each) => ({ ...each })),
        })),
      };
    }
    set value(value) {
      this.cards.replaceChildren();
      for (const pair of value?.questionAnswerPairs ?? []) this.card(pair);
    }
    get draft() { return this.value; }
    set draft(value) { if (Array.isArray(value?.questionAnswerPairs)) this.value = value; }
  }

  define("crowd-entity-annotation", EntityAnnotation, true);
  define("crowd-question-answer-generation", QuestionAnswerGeneration, true);
});
