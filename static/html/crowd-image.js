// What crowd elements on images share: the image with a drawing over it, labels, zoom, a cross-hair that keys
// move, undo, and a list of what was drawn. Coordinates are pixels of the image itself.
"use strict";

(window.distilleryCrowd ??= []).push((kit) => {
  const { Field, fresh, instructionsOf, make, read, strings } = kit;
  const SVG = "http://www.w3.org/2000/svg";
  const COLOURS = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"];

  function colour(index) {
    if (index < COLOURS.length) return COLOURS[index];
    const part = (shift) => (((index * 2654435761) >>> shift) & 0xbf) + 0x20;
    return `#${[4, 12, 20].map((shift) => part(shift).toString(16).padStart(2, "0")).join("")}`;
  }

  function draw(name, attributes = {}, ...children) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  const copy = (value) => JSON.parse(JSON.stringify(value));

  class ImageTool extends Field {
    help = "";
    touch = "manipulation";
    items = []; // what was drawn; its shape is the subclass's
    unfinished = null;
    selected = -1;
    cursor = { x: 0, y: 0 };

    build() {
      this.dataset.kept = "";
      this._labels = strings(this.attribute("labels"));
      this.colours = strings(this.attribute("label-colors"));
      this.past = [];
      this.future = [];
      const side = instructionsOf(this);
      const rest = [...this.childNodes];
      this.image = make("img", { src: this.attribute("src"), alt: "" });
      this.svg = draw("svg", { class: "crowd-drawing" });
      this.svg.style.touchAction = this.touch;
      const canvas = make("canvas", { className: "upper-canvas" });
      canvas.setAttribute("aria-hidden", "true");
      this.paper = make("div", { className: "crowd-paper" }, this.image, canvas, this.svg);
      const help = make("p", { className: "crowd-help", id: fresh("help") }, this.help);
      this.view = make("div", { className: "crowd-view", tabIndex: 0 }, this.paper);
      this.view.setAttribute("role", "application");
      this.view.setAttribute("aria-label", this.attribute("alt") || "Image to draw on");
      this.view.setAttribute("aria-describedby", help.id);
      this.says = make("p", { className: "crowd-says" });
      this.says.setAttribute("role", "status");
      this.labelBox = make("fieldset", { className: "crowd-labels" });
      this.list = make("ol", { className: "crowd-drawn" });
      this.bar = make("div", { className: "crowd-bar" }, ...this.buttons());
      this.bar.setAttribute("role", "toolbar");
      this.bar.setAttribute("aria-label", "Drawing");
      const header = this.attribute("header");
      this.replaceChildren(
        ...(side ? [side] : []),
        make("div", { className: "crowd-work" },
          ...(header ? [make("p", { className: "crowd-header" }, header)] : []),
          this.labelBox, this.bar, this.view, help, this.says, this.list, ...rest),
      );
      this.zoom = 1;
      this.listen();
      this.drawLabels();
      this.begin();
      this.initial = copy(this.items);
      this.adjusts = this.hasAttribute("initial-value");
      const ready = () => {
        this.cursor = { x: Math.round(this.width / 2), y: Math.round(this.height / 2) };
        this.svg.setAttribute("viewBox", `0 0 ${this.width || 1} ${this.height || 1}`);
        this.fit();
        this.paint();
      };
      this.image.addEventListener("load", ready);
      this.image.addEventListener("error", () => this.say("The image could not be loaded. Load the page again; if it stays away, return the HIT."));
      if (this.image.complete && this.image.naturalWidth) ready();
      new ResizeObserver(() => { this.fit(); this.paint(); }).observe(this.view);
    }

    get width() { return this.image?.naturalWidth ?? 0; }
    get height() { return this.image?.naturalHeight ?? 0; }

    get labels() { return this._labels ?? strings(this.attribute("labels")); }
    set labels(labels) {
      this._labels = [...labels];
      if (this.built) this.drawLabels();
    }
    get label() { return this.labelBox.querySelector("input:checked")?.value ?? this.labels[0]; }
    colourOf(label) {
      const at = this.labels.indexOf(label);
      return this.colours[at] ?? colour(Math.max(0, at));
    }

    drawLabels() {
      const chosen = this.label;
      const group = fresh("labels");
      this.labelBox.replaceChildren(make("legend", {}, "Label"), ...this.labels.map((label, at) => {
        const input = make("input", { type: "radio", name: group, value: label, checked: label === chosen || (!this.labels.includes(chosen) && at === 0) });
        const swatch = make("span", { className: "crowd-swatch" });
        swatch.style.background = this.colourOf(label);
        return make("label", { className: "crowd-tick crowd-category" }, input, swatch, make("span", {}, label));
      }));
      this.labelBox.hidden = !this.labels.length;
    }

    button(words, action) {
      const button = make("button", { type: "button", className: "crowd-button" }, words);
      button.addEventListener("click", () => action());
      return button;
    }
    buttons() {
      return [
        this.button("Undo", () => this.undo()),
        this.button("Redo", () => this.redo()),
        this.button("Zoom in", () => this.scale(1.5)),
        this.button("Zoom out", () => this.scale(1 / 1.5)),
      ];
    }

    say(words) { this.says.textContent = words; }

    // Size on the screen

    fit() {
      if (!this.width) return;
      const room = this.view.clientWidth || this.width;
      this.paper.style.width = `${Math.round(Math.min(room, Math.max(this.width, 480)) * this.zoom)}px`;
    }
    scale(by) {
      this.zoom = Math.min(8, Math.max(1, this.zoom * by));
      this.fit();
      this.paint();
      this.say(`Zoom ${Math.round(this.zoom * 100)} %`);
    }
    // Pixels of the image for one of the screen.
    get unit() { return this.width / (this.svg.getBoundingClientRect().width || this.width || 1) || 1; }

    place(event) {
      const box = this.svg.getBoundingClientRect();
      return this.clamp({ x: ((event.clientX - box.left) / box.width) * this.width, y: ((event.clientY - box.top) / box.height) * this.height });
    }
    clamp({ x, y }) {
      return { x: Math.round(Math.min(this.width, Math.max(0, x || 0))), y: Math.round(Math.min(this.height, Math.max(0, y || 0))) };
    }

    // Changes, each of which can be taken back

    change(work) {
      const was = copy(this.items);
      work();
      this.past.push(was);
      if (this.past.length > 200) this.past.shift();
      this.future = [];
      this.changed();
    }
    changed() {
      this.paint();
      this.dispatchEvent(new Event("change", { bubbles: true }));
    }
    undo() {
      if (this.unfinished) return this.cancel();
      return this.swap(this.past, this.future, "Taken back.");
    }
    redo() { return this.swap(this.future, this.past, "Done again."); }
    swap(from, to, words) {
      if (!from.length) return;
      to.push(copy(this.items));
      this.items = from.pop();
      this.selected = -1;
      this.changed();
      this.say(words);
    }
    cancel() {
      this.unfinished = null;
      this.selected = -1;
      this.paint();
    }
    removeItem(at) {
      const name = this.nameOf(at);
      this.change(() => this.items.splice(at, 1));
      this.selected = -1;
      this.paint();
      this.say(`${name} removed.`);
    }
    reset() {
      this.items = copy(this.initial);
      this.unfinished = null;
      this.past = [];
      this.future = [];
      this.paint();
    }

    // "Dog 2": the second one of its label.
    nameOf(at) {
      const { label } = this.items[at];
      return `${label} ${this.items.slice(0, at + 1).filter((each) => each.label === label).length}`;
    }

    listen() {
      this.svg.addEventListener("pointerdown", (event) => {
        if (event.button !== 0 || this.disabled || !this.width) return;
        event.preventDefault();
        this.view.focus({ preventScroll: true });
        this.svg.setPointerCapture(event.pointerId);
        this.cursor = this.place(event);
        this.down(this.cursor, event);
      });
      this.svg.addEventListener("pointermove", (event) => {
        this.cursor = this.place(event);
        this.move(this.cursor, event);
      });
      this.svg.addEventListener("pointerup", (event) => this.up(this.place(event), event));
      this.svg.addEventListener("pointercancel", () => this.cancel());
      this.view.addEventListener("keydown", (event) => {
        if (event.target !== this.view || this.disabled) return;
        if (this.key(event)) event.preventDefault();
      });
      for (const name of ["focus", "blur"]) this.view.addEventListener(name, () => this.paint());
    }

    key(event) {
      const step = event.shiftKey ? 1 : Math.max(1, Math.round(this.width / 50));
      const [dx, dy] = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key] ?? [0, 0];
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
        if (event.shiftKey) this.redo();
        else this.undo();
        return true;
      }
      if (event.ctrlKey || event.metaKey || event.altKey) return false;
      if (dx || dy) {
        this.cursor = this.clamp({ x: this.cursor.x + dx, y: this.cursor.y + dy });
        this.move(this.cursor, event);
        this.paint();
        this.say(`${this.cursor.x}, ${this.cursor.y}`);
        return true;
      }
      if (event.key === "Escape" && (this.unfinished || this.selected >= 0)) {
        this.cancel();
        return true;
      }
      if ((event.key === "Delete" || event.key === "Backspace") && this.selected >= 0) {
        this.removeItem(this.selected);
        return true;
      }
      if (event.key === "+" || event.key === "-") {
        this.scale(event.key === "+" ? 1.5 : 1 / 1.5);
        return true;
      }
      const label = /^[1-9]$/.test(event.key) && this.labelBox.querySelectorAll("input")[Number(event.key) - 1];
      if (label) {
        label.checked = true;
        this.say(label.value);
        return true;
      }
      return this.press(event);
    }

    // For subclasses
    begin() {}
    down() {}
    move() {}
    up() {}
    press() { return false; }
    paint() {}

    crosshair() {
      if (document.activeElement !== this.view) return [];
      const { x, y } = this.cursor;
      const line = (x1, y1, x2, y2) => draw("line", { class: "crowd-cross", x1, y1, x2, y2 });
      return [line(0, y, this.width, y), line(x, 0, x, this.height)];
    }

    sync() {
      for (const field of this.querySelectorAll(".crowd-bar button, .crowd-labels input")) field.disabled = this.disabled;
    }

    get properties() { return { inputImageProperties: { height: this.height, width: this.width } }; }
    get modified() { return this.adjusts ? { initialValueModified: JSON.stringify(this.items) !== JSON.stringify(this.initial) } : {}; }
    get _submittableValue() { return this.value; }

    get draft() { return JSON.stringify(this.items) === JSON.stringify(this.initial) ? null : copy(this.items); }
    set draft(items) {
      if (!Array.isArray(items)) return;
      this.items = items;
      this.changed();
    }
  }

  Object.assign(kit, { ImageTool, colour, copy, draw, readAttribute: read });
});
