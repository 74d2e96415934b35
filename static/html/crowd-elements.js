// Elements of crowd forms, written anew for this marketplace: <crowd-form> and the fields and boxes that go
// into it; classifiers, boxes and everything on images and texts are in files of their own. What each posts is
// in docs/batches.md. Everything is drawn into the page itself with native fields, so that labels, keys,
// validation and screen readers work as in any form.
"use strict";

(() => {
  if (window.distilleryCrowd && !Array.isArray(window.distilleryCrowd)) return; // named twice
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

  // Native fields that an element draws answer by their element, not by themselves.
  const drawn = new WeakSet();
  function make(name, properties = {}, ...children) {
    const element = document.createElement(name);
    drawn.add(element);
    for (const [key, value] of Object.entries(properties)) {
      if (key in element) element[key] = value;
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  }

  // Attributes hold JSON as templates have it: single quotes, names without quotes, comments, a comma too many.
  function read(text, fallback) {
    try {
      return JSON.parse(text);
    } catch {
      // Not JSON as it should be.
    }
    let at = 0;
    const space = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
    const look = (pattern) => {
      space.lastIndex = at;
      at += space.exec(text)[0].length;
      pattern.lastIndex = at;
      const found = pattern.exec(text);
      if (found) at += found[0].length;
      return found;
    };
    const word = (quote) => {
      let word = "";
      for (at += 1; at < text.length; at += 1) {
        if (text[at] === "\\") {
          at += 1;
          word += { n: "\n", t: "\t", r: "\r" }[text[at]] ?? text[at] ?? "";
        } else if (text[at] === quote && (quote === '"' || /^\s*(?:[,:\]}]|$)/.test(text.slice(at + 1, at + 40)))) {
          at += 1;
          return word;
        } else word += text[at];
      }
      throw new SyntaxError("no end");
    };
    const value = () => {
      look(/(?=[\s\S])/y);
      if (text[at] === '"' || text[at] === "'") return word(text[at]);
      if (look(/\[/y)) {
        const list = [];
        while (!look(/\]/y)) {
          list.push(value());
          if (!look(/,/y) && !look(/(?=\])/y)) throw new SyntaxError("no comma");
        }
        return list;
      }
      if (look(/\{/y)) {
        const object = {};
        while (!look(/\}/y)) {
          look(/(?=[\s\S])/y);
          const name = text[at] === '"' || text[at] === "'" ? word(text[at]) : look(/[\w$-]+/y)?.[0];
          if (name === undefined || !look(/:/y)) throw new SyntaxError("no name");
          Object.defineProperty(object, name, { value: value(), enumerable: true, writable: true, configurable: true });
          if (!look(/,/y) && !look(/(?=\})/y)) throw new SyntaxError("no comma");
        }
        return object;
      }
      const plain = look(/-?[\w.+-]+/y)?.[0];
      if (plain === undefined) throw new SyntaxError("nothing");
      return { true: true, false: false, null: null }[plain] ?? (Number.isNaN(Number(plain)) ? plain : Number(plain));
    };
    try {
      return text ? value() : fallback;
    } catch {
      return fallback;
    }
  }

  function strings(text) {
    const list = read(text, []);
    return (Array.isArray(list) ? list : [list]).map((each) => (typeof each === "object" ? each?.label ?? each?.text : String(each))).filter((each) => each !== undefined);
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

    // Pages reach into the shadow of elements they know. Ours are drawn into the page itself: their shadow only
    // lets that through, and finds what is looked for there.
    get shadowRoot() {
      const root = Object.getOwnPropertyDescriptor(Element.prototype, "shadowRoot").get.call(this);
      if (root || !this.built) return root;
      const made = this.attachShadow({ mode: "open" });
      made.append(document.createElement("slot"));
      made.querySelector = (selector) => ShadowRoot.prototype.querySelector.call(made, selector) ?? this.querySelector(selector);
      return made;
    }

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

    // A tag like <crowd-input … /> does not end its element: what follows it is inside, and is put behind it.
    release(isOther) {
      const nodes = [...this.childNodes];
      const from = nodes.findIndex((node) => node instanceof Element && isOther(node));
      if (from >= 0) this.after(...nodes.slice(from));
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
      this.release(() => true);
      this.input = input;
      input.id = fresh("field");
      const label = this.attribute("label");
      this.caption = make("label", { htmlFor: input.id, className: "crowd-caption", hidden: !label }, label);
      input.value = this.attribute("value") || this.textContent.trim();
      this.replaceChildren(this.caption, input);
      this.nameInput(input, label);
      const longest = this.attribute("max-length") || this.attribute("maxlength");
      if (longest) input.maxLength = Number(longest);
      if (this.hasAttribute("autofocus") || (this.hasAttribute("auto-focus") && this.attribute("auto-focus") !== "false")) input.focus();
      const message = this.attribute("error-message");
      if (!message) return;
      input.addEventListener("invalid", () => input.setCustomValidity(message));
      input.addEventListener("input", () => input.setCustomValidity(""));
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
      if (this.hasAttribute("allowed-pattern") && this.hasAttribute("auto-validate")) this.filter(this.attribute("allowed-pattern"));
    }

    // Characters that do not match are not taken.
    filter(source) {
      let allowed;
      try {
        allowed = new RegExp(source);
      } catch {
        return;
      }
      this.input.addEventListener("beforeinput", (event) => {
        if (event.data && ![...event.data].every((sign) => allowed.test(sign))) event.preventDefault();
      });
    }

    // As documented: one without input is not in the output.
    answer() { return this.value === "" ? undefined : this.value; }
  }

  class CrowdTextArea extends TextField {
    build() {
      this.draw(make("textarea", { rows: Number(this.attribute("rows")) || 3 }));
      const most = Number(this.attribute("max-rows"));
      if (most > 0) this.input.style.maxHeight = `${most * 1.5 + 1.2}em`;
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
      this.release((element) => element.matches(OWN()) || element.querySelector(OWN()));
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
      this.release((element) => element.localName !== "crowd-slider-label");
      const marks = [...this.querySelectorAll("crowd-slider-label")];
      this.input.id = fresh("slider");
      this.shown = make("output", { className: "crowd-count", htmlFor: this.input.id });
      this.typed = this.hasAttribute("editable") ? make("input", { type: "number", min: this.input.min, max: this.input.max, step: this.input.step }) : null;
      this.typed?.setAttribute("aria-label", `${label || this.name}, as a number`);
      this.typed?.addEventListener("input", () => { this.value = this.typed.value; });
      this.input.addEventListener("input", () => this.show());
      this.replaceChildren(
        make("label", { htmlFor: this.input.id, className: "crowd-caption", hidden: !label }, label),
        make("span", { className: "crowd-slide" }, this.input, this.typed ?? this.shown),
        ...(marks.length ? [make("span", { className: "crowd-marks" }, ...marks)] : []),
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

  // Boxes

  function dialogOf(text, type, title, ...content) {
    const heading = make("h2", { id: fresh("title") }, title);
    const close = make("button", { type: "button", className: "crowd-button" }, "Close");
    const dialog = make("dialog", { className: "crowd-dialog awsui-modal-dialog" }, heading, make("div", { className: "crowd-dialog-body" }, ...content), close);
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

  // What regions say beside a widget: the short instructions, and a dialog with the full ones.
  function instructionsOf(element) {
    const short = element.region("short-instructions");
    const full = element.region("full-instructions");
    const side = make("div", { className: "crowd-side awsui-app-layout__navigation" });
    if (short) side.append(short);
    if (full) side.append(...dialogOf("View full instructions", "link", full.getAttribute("header") || "Instructions", full));
    return short || full ? side : "";
  }

  // Icons by the names of iron-icons, as signs; others are their name in words.
  const SIGNS = {
    add: "+", "arrow-back": "←", "arrow-forward": "→", cancel: "✕", check: "✓", "check-circle": "✓", clear: "✕", close: "✕",
    create: "✎", delete: "🗑", done: "✓", error: "⚠", favorite: "♥", flag: "⚑", help: "?", home: "⌂", info: "i", menu: "☰",
    "question-answer": "💬", redo: "↷", refresh: "↻", remove: "−", "report-problem": "⚠", search: "🔍", send: "➤", settings: "⚙",
    star: "★", "star-border": "☆", "thumb-down": "👎", "thumb-up": "👍", undo: "↶", visibility: "👁", warning: "⚠",
  };
  function iconOf(name) {
    if (/^(?:https?:|data:|\/)/.test(name)) return make("img", { src: name, alt: "", className: "crowd-icon" });
    const icon = make("span", { className: "crowd-icon" }, SIGNS[name.replace(/^icons:/, "")] ?? name.replaceAll("-", " "));
    icon.setAttribute("aria-hidden", "true");
    return icon;
  }

  class CrowdIcon extends Crowd {
    build() { this.replaceChildren(iconOf(this.attribute("icon"))); }
  }

  class CrowdButton extends Crowd {
    build() {
      const link = this.attribute("href");
      const action = this.attribute("form-action");
      this.inner = link
        ? make("a", { href: link, target: this.attribute("target") || "_blank", rel: "noopener noreferrer" })
        : make("button", { type: action === "submit" ? "submit" : "button" });
      this.inner.className = `crowd-button ${this.attribute("variant")}`;
      this.wrap(this.inner);
      const icon = this.attribute("icon-url") || this.attribute("icon");
      const label = this.attribute("label") || this.attribute("title");
      const bare = !this.inner.textContent.trim();
      if (icon) this.inner[this.attribute("icon-align") === "right" ? "append" : "prepend"](iconOf(icon));
      if (bare && label && !icon) this.inner.textContent = label;
      else if (bare && (label || icon)) this.inner.setAttribute("aria-label", label || icon.replaceAll("-", " "));
      else if (bare && !this.inner.children.length) this.inner.textContent = "Button";
      if (this.attribute("title")) this.inner.title = this.attribute("title");
      this.waits = action === "submit" && looking;
      if (this.waits) preview(this.inner);
      // A button inside a native form inside a crowd form sends the crowd form.
      if (action === "reset") this.inner.addEventListener("click", () => this.closest("crowd-form")?.reset());
      if (action === "submit" && !this.inner.form) {
        this.inner.addEventListener("click", () => document.querySelector("crowd-form")?.requestSubmit());
      }
    }

    sync() {
      if (this.inner.localName !== "button") return;
      const busy = this.hasAttribute("loading");
      this.inner.disabled = this.disabled || this.waits || busy;
      this.inner.setAttribute("aria-busy", String(busy));
    }

    focus() { this.inner?.focus(); }
  }

  function preview(button) {
    button.disabled = true;
    if (button.localName === "input") button.value = "Accept the HIT first";
    else button.textContent = "Accept the HIT first";
  }

  // The form

  const own = ["crowd-input", "crowd-text-area", "crowd-checkbox", "crowd-toggle-button", "crowd-radio-button", "crowd-slider"];
  const OWN = () => own.join(", ");
  const SUBMITS = 'crowd-button[form-action="submit"], button[type="submit"], input[type="submit"], input[type="image"]';

  class CrowdForm extends Crowd {
    build() {
      this.form = make("form", { method: "post", className: "crowd-form" });
      const side = instructionsOf(this);
      this.wrap(this.form);
      if (side) this.form.prepend(side);
      if (!this.form.querySelector(SUBMITS)) {
        const button = make("button", { type: "submit", className: "crowd-button primary" }, "Submit");
        this.form.append(make("p", { className: "crowd-submit" }, button));
      }
      if (looking) this.form.querySelectorAll('button[type="submit"], input[type="submit"]').forEach(preview);
      const take = (event) => {
        event.stopPropagation();
        if (event.target !== this.form && event.defaultPrevented) return;
        event.preventDefault();
        if (event.target === this.form && !this.nested().length) this.submit();
        else this.requestSubmit();
      };
      this.form.addEventListener("submit", take);
      // A form inside a form tells the outer one nothing; what the page does with it comes first.
      this.addEventListener("submit", (event) => {
        if (event.target !== this.form && event.target instanceof HTMLFormElement) event.target.addEventListener("submit", take, { once: true });
      }, true);
    }

    nested() { return [...this.form.querySelectorAll("form")]; }

    // As a click on Submit: what is required is asked for first, in forms inside as well.
    requestSubmit() {
      if (!this.form) return;
      if ([this.form, ...this.nested()].every((form) => form.noValidate || form.reportValidity())) this.submit();
    }

    // Handlers of the page are asked first, and can stop it.
    submit() {
      const event = new Event("submit", { bubbles: true, cancelable: true });
      if (!this.dispatchEvent(event) || looking) return;
      const answers = this.answers();
      if (answers) this.post(this.fields(answers));
    }

    reset() {
      this.form?.reset();
      for (const element of this.querySelectorAll("[data-kept]")) element.reset?.();
    }

    // Name → value of every field inside, ours and native ones.
    answers() {
      const answers = Object.create(null); // A field may have any name.
      const add = (name, value) => {
        if (!name || value === undefined) return;
        const both = [answers[name], value].every((each) => each && typeof each === "object" && !Array.isArray(each));
        answers[name] = both ? { ...answers[name], ...value } : value;
      };
      if (this.widget) add(this.widget.name, this.widget.answer());
      for (const element of this.querySelectorAll(`${OWN()}, input, textarea, select`)) {
        if (element.matches(OWN())) {
          if (!element.disabled) add(element.name, element.answer?.());
        } else if (!element.disabled && !drawn.has(element)) {
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
      // A field may have the name of a method.
      HTMLFormElement.prototype.submit.call(form);
      Element.prototype.remove.call(form);
    }
  }

  function define(name, made, answers = false) {
    if (answers) own.push(name);
    if (!customElements.get(name)) customElements.define(name, made);
  }

  const ELEMENTS = {
    "crowd-form": CrowdForm,
    "crowd-input": CrowdInput,
    "crowd-text-area": CrowdTextArea,
    "crowd-checkbox": CrowdCheckbox,
    "crowd-toggle-button": CrowdToggle,
    "crowd-radio-group": CrowdRadioGroup,
    "crowd-radio-button": CrowdRadioButton,
    "crowd-slider": CrowdSlider,
    "crowd-slider-label": class extends Crowd {},
    "crowd-button": CrowdButton,
    "crowd-icon-button": class extends CrowdButton {},
    "crowd-fab": class extends CrowdButton {},
    "crowd-icon": CrowdIcon,
    "iron-icon": class extends CrowdIcon {},
  };
  for (const [name, made] of Object.entries(ELEMENTS)) define(name, made);

  // Other elements come with scripts of their own, which run when the page is read and get what they need here.
  const kit = { Crowd, Field, define, dialogOf, fresh, iconOf, instructionsOf, looking, make, read, strings, tabsOf, whenParsed };
  const waiting = window.distilleryCrowd ?? [];
  window.distilleryCrowd = { push: (part) => part(kit) };
  for (const part of waiting) part(kit);

  // Once everything that was in the page is drawn.
  whenParsed(() => setTimeout(() => document.dispatchEvent(new Event("all-crowd-elements-ready"))));
})();
