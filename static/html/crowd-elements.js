// Elements of crowd forms, written anew for this marketplace: <crowd-form> and the fields and boxes that go
// into it. What each posts stands in docs/html-questions.md. Everything is drawn into the page itself with
// native fields, so that labels, keys, validation and screen readers work as in any form.
"use strict";

(() => {
  const query = new URLSearchParams(window.location.search);
  const NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE";
  const looking = query.get("assignmentId") === NOT_ACCEPTED || !query.get("turkSubmitTo");
  let numbers = 0;
  const fresh = (name) => `crowd-${name}-${(numbers += 1)}`;

  // Children are there only when the page has been read; what comes later is there at once.
  function whenParsed(work) {
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", work, { once: true });
    else queueMicrotask(work);
  }

  function make(name, properties = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
      if (key in element) element[key] = value;
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  }

  // "['Cat', 'Dog']" as templates have it, or JSON; single quotes are no JSON.
  function strings(text) {
    try {
      const read = JSON.parse(text);
      if (Array.isArray(read)) return read.map((each) => (typeof each === "object" ? each.label ?? each.text : String(each)));
      if (typeof read === "string") return [read];
    } catch {
      // Not JSON: pieces in quotes.
    }
    const pieces = [...(text ?? "").matchAll(/'((?:[^'\\]|\\.|'(?![\s]*[,\]}]))*)'|"((?:[^"\\]|\\.)*)"/g)];
    return pieces.map((found) => (found[1] ?? found[2]).replace(/\\(.)/g, "$1"));
  }

  function excluding(text) {
    if (!text) return "";
    try {
      return JSON.parse(text).text ?? "";
    } catch {
      return strings(text.replace(/^\s*\{?\s*['"]?text['"]?\s*:/, ""))[0] ?? "";
    }
  }

  // Base of all: built once, with its children; its properties are its attributes.
  class Crowd extends HTMLElement {
    static observedAttributes = ["disabled", "required", "checked", "value", "label", "placeholder", "max", "min"];

    connectedCallback() {
      if (this.built) return;
      whenParsed(() => {
        if (this.built || !this.isConnected) return;
        this.built = true;
        this.build();
        this.sync();
      });
    }

    attributeChangedCallback(name) {
      if (this.built) this.sync(name);
    }

    build() {}
    sync() {}

    attribute(name, fallback = "") {
      return this.getAttribute(name) ?? fallback;
    }

    region(name) {
      return [...this.children].find((child) => child.localName === name);
    }

    // Everything inside goes into `box`.
    wrap(box) {
      box.append(...this.childNodes);
      this.append(box);
      return box;
    }
  }

  for (const name of ["disabled", "required"]) {
    Object.defineProperty(Crowd.prototype, name, {
      get() { return this.hasAttribute(name); },
      set(on) { this.toggleAttribute(name, Boolean(on)); },
    });
  }

  // Fields

  class Field extends Crowd {
    get name() { return this.attribute("name"); }
    set name(name) { this.setAttribute("name", name); }
    get value() { return this.input ? this.input.value : this.attribute("value"); }
    set value(value) {
      if (this.input) this.input.value = value ?? "";
      else this.setAttribute("value", value ?? "");
    }

    focus() { this.input?.focus(); }

    answer() { return this.value; }

    // A name for those who do not see the field: its label, one that points at it, or what is at hand.
    nameInput(input, text) {
      const outside = this.id && document.querySelector(`label[for="${CSS.escape(this.id)}"]`);
      if (outside) {
        input.setAttribute("aria-label", outside.textContent.trim());
        outside.addEventListener("click", () => input.focus());
      } else if (!text) {
        input.setAttribute("aria-label", this.attribute("aria-label") || this.attribute("placeholder") || this.name);
      }
    }

    share(names) {
      for (const name of names) {
        if (this.hasAttribute(name)) this.input.setAttribute(name, this.getAttribute(name));
        else this.input.removeAttribute(name);
      }
    }
  }

  class TextField extends Field {
    draw(input) {
      this.input = input;
      input.id = fresh("field");
      const label = this.attribute("label");
      this.caption = make("label", { htmlFor: input.id, className: "crowd-caption", hidden: !label }, label);
      input.value = this.attribute("value") || this.textContent.trim();
      this.replaceChildren(this.caption, input);
      this.nameInput(input, label);
      const longest = this.attribute("max-length") || this.attribute("maxlength");
      if (longest) input.maxLength = Number(longest);
      if (this.hasAttribute("autofocus")) input.focus();
    }

    sync(changed) {
      this.share(["disabled", "required", "placeholder"]);
      if (changed === "value") this.input.value = this.attribute("value");
      if (changed === "label") {
        this.caption.textContent = this.attribute("label");
        this.caption.hidden = !this.attribute("label");
      }
    }
  }

  class CrowdInput extends TextField {
    build() {
      const kinds = ["text", "number", "email", "url", "tel", "date", "time", "password", "search"];
      const type = kinds.includes(this.attribute("type")) ? this.attribute("type") : "text";
      this.draw(make("input", { type }));
      const shortest = this.attribute("min-length") || this.attribute("minlength");
      if (shortest) this.input.minLength = Number(shortest);
      this.share(["min", "max", "step", "pattern"]);
      if (type === "number" && !this.hasAttribute("step")) this.input.step = "any";
      const message = this.attribute("error-message");
      if (!message) return;
      this.input.addEventListener("invalid", () => this.input.setCustomValidity(message));
      this.input.addEventListener("input", () => this.input.setCustomValidity(""));
    }
  }

  class CrowdTextArea extends TextField {
    build() {
      this.draw(make("textarea", { rows: Number(this.attribute("rows")) || 3 }));
      if (!this.hasAttribute("char-counter")) return;
      const count = make("output", { className: "crowd-count" });
      const write = () => { count.textContent = `${this.input.value.length}${this.input.maxLength > 0 ? ` / ${this.input.maxLength}` : ""}`; };
      this.input.addEventListener("input", write);
      this.append(count);
      write();
    }
  }

  class Tick extends Field {
    draw(type, role) {
      this.input = make("input", { type, checked: this.hasAttribute("checked") });
      if (role) this.input.setAttribute("role", role);
      const words = make("span");
      this.wrap(words);
      if (!words.textContent.trim() && this.attribute("label")) words.textContent = this.attribute("label");
      if (!words.textContent.trim()) this.nameInput(this.input, "");
      this.replaceChildren(make("label", { className: "crowd-tick" }, this.input, words));
    }

    sync(changed) {
      this.share(["disabled", "required"]);
      if (changed === "checked") this.input.checked = this.hasAttribute("checked");
    }

    get checked() { return this.input ? this.input.checked : this.hasAttribute("checked"); }
    set checked(on) {
      if (this.input) this.input.checked = Boolean(on);
      else this.toggleAttribute("checked", Boolean(on));
    }

    get value() { return this.attribute("value", "on"); }
    set value(value) { this.setAttribute("value", value); }

    answer() { return { [this.value]: this.checked }; }
  }

  class CrowdCheckbox extends Tick {
    build() { this.draw("checkbox"); }
  }

  class CrowdToggle extends Tick {
    build() { this.draw("checkbox", "switch"); }
  }

  class CrowdRadioButton extends Tick {
    build() {
      this.draw("radio");
      const group = this.closest("crowd-radio-group");
      if (group) group.groupName ??= fresh("group");
      this.input.name = group ? group.groupName : fresh("group");
    }
  }

  class CrowdRadioGroup extends Crowd {
    build() {
      this.setAttribute("role", "radiogroup");
      const label = this.attribute("label") || this.attribute("aria-label") || this.attribute("name");
      if (label && !this.hasAttribute("aria-labelledby")) this.setAttribute("aria-label", label);
    }

    sync() {
      const buttons = [...this.querySelectorAll("crowd-radio-button")];
      for (const button of buttons) {
        if (this.disabled) button.disabled = true;
        if (this.required) button.required = true;
      }
    }

    get selected() { return [...this.querySelectorAll("crowd-radio-button")].find((each) => each.checked)?.name; }
    get value() { return [...this.querySelectorAll("crowd-radio-button")].find((each) => each.checked)?.value; }
  }

  class CrowdSlider extends Field {
    build() {
      const number = (name, fallback) => this.attribute(name, fallback);
      this.input = make("input", { type: "range", min: number("min", "0"), max: number("max", "100"), step: number("step", "1") });
      this.input.value = this.attribute("value", this.input.min);
      const label = this.attribute("label");
      this.input.id = fresh("slider");
      this.shown = make("output", { className: "crowd-count", htmlFor: this.input.id });
      this.typed = this.hasAttribute("editable") ? make("input", { type: "number", min: this.input.min, max: this.input.max, step: this.input.step }) : null;
      this.typed?.setAttribute("aria-label", `${label || this.name}, as a number`);
      this.typed?.addEventListener("input", () => { this.value = this.typed.value; });
      this.input.addEventListener("input", () => this.show());
      this.replaceChildren(
        make("label", { htmlFor: this.input.id, className: "crowd-caption", hidden: !label }, label),
        make("span", { className: "crowd-slide" }, this.input, this.typed ?? this.shown),
      );
      this.nameInput(this.input, label);
      this.show();
    }

    show() {
      this.shown.textContent = this.input.value;
      if (this.typed && this.typed !== document.activeElement) this.typed.value = this.input.value;
    }

    sync(changed) {
      this.share(["disabled"]);
      if (["min", "max"].includes(changed)) this.share([changed]);
      if (changed === "value") this.value = this.attribute("value");
    }

    get value() { return this.input ? Number(this.input.value) : Number(this.attribute("value", "0")); }
    set value(value) {
      if (!this.input) { this.setAttribute("value", value); return; }
      this.input.value = value;
      this.show();
    }
  }

  // Classifiers: something to look at, categories to choose from, instructions beside them.

  class Classifier extends Field {
    several = false;

    build() {
      const group = fresh("categories");
      const options = strings(this.attribute("categories"));
      const none = this.several ? excluding(this.attribute("exclusion-category")) : "";
      this.inputs = [];
      const draw = (text, alone) => {
        const input = make("input", { type: this.several ? "checkbox" : "radio", name: group, value: text, required: !this.several });
        input.dataset.alone = alone ? "yes" : "";
        this.inputs.push(input);
        return make("label", { className: "crowd-tick crowd-category" }, input, make("span", {}, text));
      };
      const list = make("div", { className: "crowd-categories" }, ...options.map((text) => draw(text, false)));
      if (none) list.append(draw(none, true));
      const asked = make("fieldset", {}, make("legend", {}, this.attribute("header")), this.target(), list);
      const short = this.region("short-instructions");
      const full = this.region("full-instructions");
      const side = make("div", { className: "crowd-side" });
      if (short) side.append(short);
      if (full) side.append(...dialogOf("View full instructions", "link", full.getAttribute("header") || "Instructions", full));
      this.replaceChildren(...(side.childNodes.length ? [side] : []), asked);
      if (this.several) {
        list.addEventListener("change", (event) => this.settle(event.target));
        this.settle();
      }
    }

    target() {
      return this.region("classification-target") ?? "";
    }

    settle(changed) {
      if (changed?.checked) {
        for (const input of this.inputs) {
          if (input !== changed && (input.dataset.alone || changed.dataset.alone)) input.checked = false;
        }
      }
      const chosen = this.inputs.some((input) => input.checked);
      this.inputs[0]?.setCustomValidity(chosen ? "" : "Choose at least one.");
    }

    sync() {
      for (const input of this.inputs) input.disabled = this.disabled;
    }

    get value() {
      const chosen = (this.inputs ?? []).filter((input) => input.checked).map((input) => input.value);
      return this.several ? { labels: chosen } : { label: chosen[0] };
    }

    set value(value) {
      const wanted = this.several ? value?.labels ?? [] : [value?.label];
      for (const input of this.inputs ?? []) input.checked = wanted.includes(input.value);
      if (this.several && this.inputs) this.settle();
    }
  }

  class ImageClassifier extends Classifier {
    target() {
      return make("img", { src: this.attribute("src"), alt: this.attribute("alt", "The image to classify"), className: "crowd-picture" });
    }
  }

  const severally = (base) => class extends base { several = true; };

  // Boxes

  function dialogOf(text, type, title, ...content) {
    const heading = make("h2", { id: fresh("title") }, title);
    const close = make("button", { type: "button", className: "crowd-button" }, "Close");
    const dialog = make("dialog", { className: "crowd-dialog" }, heading, make("div", { className: "crowd-dialog-body" }, ...content), close);
    dialog.setAttribute("aria-labelledby", heading.id);
    const opener = make("button", { type: "button", className: type === "button" ? "crowd-button" : "crowd-link" }, text);
    opener.addEventListener("click", () => dialog.showModal());
    close.addEventListener("click", () => dialog.close());
    return [opener, dialog];
  }

  // Pages of which one is shown; each is [title, element].
  function tabsOf(pages) {
    const list = make("div", { className: "crowd-tablist" });
    list.setAttribute("role", "tablist");
    const buttons = pages.map(([title, page]) => {
      page.id ||= fresh("page");
      page.setAttribute("role", "tabpanel");
      const button = make("button", { type: "button", id: fresh("tab") }, title);
      button.setAttribute("role", "tab");
      button.setAttribute("aria-controls", page.id);
      page.setAttribute("aria-labelledby", button.id);
      return button;
    });
    const show = (index, focus) => pages.forEach(([, page], at) => {
      page.hidden = at !== index;
      buttons[at].setAttribute("aria-selected", String(at === index));
      buttons[at].tabIndex = at === index ? 0 : -1;
      if (focus && at === index) buttons[at].focus();
    });
    buttons.forEach((button, at) => {
      button.addEventListener("click", () => show(at, false));
      button.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step) show((at + step + pages.length) % pages.length, true);
      });
    });
    list.append(...buttons);
    if (pages.length) show(0, false);
    return list;
  }

  class CrowdInstructions extends Crowd {
    build() {
      const titles = [["Summary", ["short-summary"]], ["Detailed instructions", ["detailed-instructions"]], ["Examples", ["positive-example", "negative-example"]]];
      const names = { "positive-example": "Good", "negative-example": "Bad" };
      const pages = [];
      for (const [title, regions] of titles) {
        const found = [...this.children].filter((child) => regions.includes(child.localName));
        if (!found.length) continue;
        for (const each of found) {
          if (names[each.localName]) each.prepend(make("h3", {}, `${names[each.localName]} example`));
        }
        pages.push([title, make("div", {}, ...found)]);
      }
      const body = pages.map(([, page]) => page);
      const content = pages.length > 1 ? [tabsOf(pages), ...body] : body.length ? body : [...this.childNodes];
      const opener = dialogOf(this.attribute("link-text", "Click for instructions"), this.attribute("link-type"), "Instructions", ...content);
      this.replaceChildren(...opener);
    }
  }

  class CrowdModal extends Crowd {
    build() {
      const [opener, dialog] = dialogOf(this.attribute("link-text", "More"), this.attribute("link-type"), this.attribute("header") || this.attribute("link-text", "More"), ...this.childNodes);
      this.dialog = dialog;
      this.replaceChildren(opener, dialog);
    }

    open() { this.dialog?.showModal(); }
    close() { this.dialog?.close(); }
  }

  class CrowdTabs extends Crowd {
    build() {
      const pages = [...this.children].filter((child) => child.localName === "crowd-tab");
      this.prepend(tabsOf(pages.map((page) => [page.getAttribute("header") || page.getAttribute("name") || "Tab", page])));
    }
  }

  class CrowdCard extends Crowd {
    build() {
      if (this.attribute("heading")) this.prepend(make("h3", {}, this.attribute("heading")));
      if (this.attribute("image")) this.prepend(make("img", { src: this.attribute("image"), alt: "", className: "crowd-picture" }));
    }
  }

  class CrowdAlert extends Crowd {
    build() {
      this.setAttribute("role", this.attribute("type") === "error" ? "alert" : "status");
      if (!this.hasAttribute("dismissible")) return;
      const away = make("button", { type: "button", className: "crowd-link" }, "Dismiss");
      away.addEventListener("click", () => this.remove());
      this.append(away);
    }
  }

  class CrowdToast extends Crowd {
    build() {
      this.setAttribute("role", "status");
      const milliseconds = Number(this.attribute("duration", "4000"));
      if (milliseconds > 0) setTimeout(() => this.remove(), milliseconds);
    }
  }

  class CrowdBadge extends Crowd {
    build() { this.textContent = this.attribute("label") || this.attribute("icon"); }
  }

  class CrowdButton extends Crowd {
    build() {
      const link = this.attribute("href");
      const submits = this.attribute("form-action") === "submit";
      this.inner = link
        ? make("a", { href: link, target: this.attribute("target") || "_blank", rel: "noopener noreferrer" })
        : make("button", { type: submits ? "submit" : this.attribute("form-action") === "reset" ? "reset" : "button" });
      this.inner.className = `crowd-button ${this.attribute("variant")}`;
      this.wrap(this.inner);
      if (!this.inner.textContent.trim()) this.inner.textContent = this.attribute("label") || this.attribute("title") || this.attribute("icon", "Button");
      if (submits && looking) preview(this.inner);
      this.waits = submits && looking;
    }

    sync() {
      if (this.inner.localName === "button") this.inner.disabled = this.disabled || this.waits;
    }

    focus() { this.inner?.focus(); }
  }

  function preview(button) {
    button.disabled = true;
    if (button.localName === "input") button.value = "Accept the HIT first";
    else button.textContent = "Accept the HIT first";
  }

  // The form

  const OWN = "crowd-input, crowd-text-area, crowd-checkbox, crowd-toggle-button, crowd-radio-button, crowd-slider, " +
    "crowd-classifier, crowd-classifier-multi-select, crowd-image-classifier, crowd-image-classifier-multi-select";
  const SUBMITS = 'crowd-button[form-action="submit"], button[type="submit"], input[type="submit"], input[type="image"]';

  class CrowdForm extends Crowd {
    build() {
      this.form = make("form", { method: "post" });
      this.wrap(this.form);
      if (!this.form.querySelector(SUBMITS)) {
        const button = make("button", { type: "submit", className: "crowd-button primary" }, "Submit");
        this.form.append(make("p", { className: "crowd-submit" }, button));
      }
      if (looking) this.form.querySelectorAll('button[type="submit"], input[type="submit"]').forEach(preview);
      this.form.addEventListener("submit", (event) => {
        event.preventDefault();
        event.stopPropagation();
        this.submit();
      });
    }

    // As a click on Submit: handlers of the page are asked first, and can stop it.
    submit() {
      const event = new Event("submit", { bubbles: true, cancelable: true });
      if (!this.dispatchEvent(event) || looking) return;
      const answers = this.answers();
      if (answers) this.post(this.fields(answers));
    }

    reset() { this.form?.reset(); }

    // Name → value of every field inside, ours and native ones.
    answers() {
      const answers = {};
      const add = (name, value) => {
        if (!name) return;
        const both = [answers[name], value].every((each) => each && typeof each === "object" && !Array.isArray(each));
        answers[name] = both ? { ...answers[name], ...value } : value;
      };
      for (const element of this.querySelectorAll(`${OWN}, input, textarea, select`)) {
        if (element.matches(OWN)) {
          if (!element.disabled) add(element.name, element.answer?.());
        } else if (!element.disabled && !element.closest(OWN)) {
          if (element.type === "file" && element.files.length) {
            window.alert("This marketplace takes no files. Nothing was sent; tell the requester.");
            return null;
          }
          if (["checkbox", "radio"].includes(element.type)) add(element.name, { [element.value]: element.checked });
          else if (element.type === "select-multiple") add(element.name, [...element.selectedOptions].map((each) => each.value));
          else if (!["submit", "button", "reset", "image", "file"].includes(element.type)) add(element.name, element.value);
        }
      }
      return answers;
    }

    // One field with everything in it, or one for each value where the page asks for that.
    fields(answers) {
      if (this.attribute("answer-format") !== "flatten-objects") return [["taskAnswers", JSON.stringify([answers])]];
      const flat = [];
      const flatten = (name, value) => {
        if (value && typeof value === "object" && !Array.isArray(value)) {
          for (const [key, inner] of Object.entries(value)) flatten(`${name}.${key}`, inner);
        } else if (value !== undefined) {
          flat.push([name, Array.isArray(value) ? JSON.stringify(value) : String(value)]);
        }
      };
      for (const [name, value] of Object.entries(answers)) flatten(name, value);
      return flat;
    }

    post(fields) {
      const form = make("form", { method: "post", action: `${query.get("turkSubmitTo")}/mturk/externalSubmit`, hidden: true });
      for (const [name, value] of [["assignmentId", query.get("assignmentId")], ...fields]) {
        form.append(make("textarea", { name, value }));
      }
      document.body.append(form);
      form.submit();
    }
  }

  const STYLE = `
    crowd-form, crowd-input, crowd-text-area, crowd-slider, crowd-card, crowd-tabs, crowd-alert, crowd-toast,
    crowd-radio-group, crowd-classifier, crowd-classifier-multi-select, crowd-image-classifier,
    crowd-image-classifier-multi-select, short-instructions, full-instructions, classification-target,
    short-summary, detailed-instructions, positive-example, negative-example { display: block; }
    crowd-checkbox, crowd-toggle-button, crowd-radio-button { display: inline-block; }
    crowd-form [hidden] { display: none !important; }
    crowd-input, crowd-text-area, crowd-slider { margin-block: 0.6em; }
    .crowd-caption { display: block; margin-bottom: 0.25em; font-weight: 600; }
    crowd-input > input, crowd-text-area > textarea { box-sizing: border-box; width: 100%; max-width: 48em; min-height: 44px; padding: 8px 12px; border: 1px solid #7c7268; border-radius: 6px; background: #fff; color: inherit; font: inherit; }
    .crowd-count { color: #5d5348; font-variant-numeric: tabular-nums; }
    .crowd-slide { display: flex; align-items: center; gap: 0.8em; max-width: 32em; }
    .crowd-slide input[type="range"] { flex: 1; min-width: 0; min-height: 44px; accent-color: #a9520d; }
    .crowd-slide input[type="number"] { min-height: 44px; width: 6em; font: inherit; }
    .crowd-tick { display: inline-flex; align-items: flex-start; gap: 0.6em; min-height: 44px; padding-block: 10px; box-sizing: border-box; cursor: pointer; }
    .crowd-tick > input { flex: none; width: 20px; height: 20px; margin: 1px 0 0; accent-color: #a9520d; }
    crowd-radio-button, crowd-checkbox, crowd-toggle-button { margin-inline-end: 1.2em; }
    .crowd-button { display: inline-block; box-sizing: border-box; min-height: 44px; padding: 10px 18px; border: 1px solid #8a7a67; border-radius: 8px; background: #fff; color: #2b2119; font: inherit; font-weight: 600; text-decoration: none; cursor: pointer; }
    .crowd-button.primary { border-color: #8f430a; background: #a9520d; color: #fffaf2; }
    .crowd-button.link { border-color: transparent; background: none; color: #8a4208; text-decoration: underline; }
    .crowd-button:disabled { border-color: #b9aea0; background: #eee9e2; color: #5d5348; cursor: not-allowed; }
    .crowd-link { min-height: 44px; padding: 0 2px; border: 0; background: none; color: #8a4208; font: inherit; text-decoration: underline; cursor: pointer; }
    .crowd-submit { margin-block: 1.2em; }
    .crowd-picture { display: block; max-width: 100%; height: auto; }
    crowd-card { margin-block: 1em; padding: 1em 1.2em; border: 1px solid #ddd3c5; border-radius: 10px; background: #fff; }
    crowd-alert { margin-block: 0.8em; padding: 0.7em 1em; border-inline-start: 4px solid #3c6f9c; border-radius: 4px; background: #eaf2f9; color: #1d2b38; }
    crowd-alert[type="success"] { border-color: #2c6540; background: #e7f2e8; }
    crowd-alert[type="warning"] { border-color: #a9700d; background: #fbf0d8; }
    crowd-alert[type="error"] { border-color: #a1282b; background: #fbe7e2; }
    crowd-alert > .crowd-link { margin-inline-start: 1em; }
    crowd-toast { position: fixed; inset: auto 16px 16px auto; max-width: 24em; padding: 0.8em 1.1em; border-radius: 8px; background: #2b2119; color: #fff; }
    crowd-badge { display: inline-block; padding: 0.1em 0.6em; border-radius: 99px; background: #f0e4d3; font-size: 0.85em; }
    crowd-classifier, crowd-classifier-multi-select, crowd-image-classifier, crowd-image-classifier-multi-select { display: flex; flex-wrap: wrap; gap: 1em 2em; align-items: flex-start; margin-block: 0.8em; }
    .crowd-side { flex: 1 1 14em; max-width: 22em; padding: 0.9em 1.1em; border-radius: 10px; background: #f6f1e9; }
    crowd-form fieldset:has(> .crowd-categories) { flex: 3 1 18em; min-width: 0; margin: 0; padding: 0; border: 0; }
    fieldset:has(> .crowd-categories) > legend { padding: 0; margin-bottom: 0.6em; font-weight: 600; font-size: 1.1em; }
    .crowd-categories { display: flex; flex-wrap: wrap; gap: 0.5em; margin-top: 0.9em; }
    .crowd-category { padding-inline: 0.9em; border: 1px solid #8a7a67; border-radius: 8px; background: #fff; }
    .crowd-category:has(:checked) { border-color: #8f430a; box-shadow: inset 0 0 0 1px #8f430a; background: #fdf3e4; }
    .crowd-dialog { box-sizing: border-box; width: min(42em, 100vw - 24px); max-height: calc(100vh - 24px); padding: 1.2em 1.4em; border: 1px solid #ddd3c5; border-radius: 12px; background: #fffdfa; color: #2b2119; overflow: auto; }
    .crowd-dialog h2 { margin: 0 0 0.6em; font-size: 1.25em; }
    .crowd-dialog img { max-width: 100%; height: auto; }
    .crowd-dialog::backdrop { background: rgb(20 12 4 / 45%); }
    .crowd-dialog-body { margin-bottom: 1em; }
    .crowd-tablist { display: flex; flex-wrap: wrap; gap: 4px; margin-bottom: 0.8em; border-bottom: 1px solid #ddd3c5; }
    .crowd-tablist button { min-height: 44px; padding: 0 14px; border: 0; border-bottom: 3px solid transparent; background: none; color: inherit; font: inherit; cursor: pointer; }
    .crowd-tablist [aria-selected="true"] { border-color: #a9520d; font-weight: 600; }
    crowd-form :focus-visible { outline: 3px solid #a9520d; outline-offset: 2px; }
  `;

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

  const ELEMENTS = {
    "crowd-form": CrowdForm,
    "crowd-input": CrowdInput,
    "crowd-text-area": CrowdTextArea,
    "crowd-checkbox": CrowdCheckbox,
    "crowd-toggle-button": CrowdToggle,
    "crowd-radio-group": CrowdRadioGroup,
    "crowd-radio-button": CrowdRadioButton,
    "crowd-slider": CrowdSlider,
    "crowd-classifier": Classifier,
    "crowd-classifier-multi-select": severally(Classifier),
    "crowd-image-classifier": ImageClassifier,
    "crowd-image-classifier-multi-select": severally(ImageClassifier),
    "crowd-instructions": CrowdInstructions,
    "crowd-modal": CrowdModal,
    "crowd-tabs": CrowdTabs,
    "crowd-card": CrowdCard,
    "crowd-alert": CrowdAlert,
    "crowd-toast": CrowdToast,
    "crowd-badge": CrowdBadge,
    "crowd-button": CrowdButton,
    "crowd-icon-button": class extends CrowdButton {},
    "crowd-fab": class extends CrowdButton {},
  };
  for (const [name, made] of Object.entries(ELEMENTS)) {
    if (!customElements.get(name)) customElements.define(name, made);
  }
  whenParsed(() => queueMicrotask(() => document.dispatchEvent(new Event("all-crowd-elements-ready"))));
})();
