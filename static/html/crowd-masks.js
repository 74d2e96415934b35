// Crowd elements that colour an image: semantic segments by label, instances of labels one by one. What is
// painted is kept as strokes, and drawn into a grid of one number per pixel, so that no edge is of two colours.
"use strict";

(window.distilleryCrowd ??= []).push(({ ImageTool, colour, copy, define, draw, fresh, make, readAttribute }) => {
  const TOOLS = [["brush", "Brush"], ["erase", "Eraser"], ["polygon", "Polygon"]];

  class Grid {
    constructor(width, height) {
      this.width = width;
      this.height = height;
      this.cells = new Uint16Array(width * height);
    }

    disc(x, y, radius, value) {
      for (let row = Math.max(0, Math.ceil(y - radius)); row <= Math.min(this.height - 1, y + radius); row += 1) {
        const half = Math.sqrt(radius * radius - (row - y) ** 2);
        const from = Math.max(0, Math.ceil(x - half));
        const to = Math.min(this.width - 1, Math.floor(x + half));
        if (to >= from) this.cells.fill(value, row * this.width + from, row * this.width + to + 1);
      }
    }

    stroke(points, size, value) {
      const radius = Math.max(0.5, size / 2);
      let [x, y] = points;
      this.disc(x, y, radius, value);
      for (let at = 2; at < points.length; at += 2) {
        const [nextX, nextY] = [points[at], points[at + 1]];
        const steps = Math.max(1, Math.ceil(Math.hypot(nextX - x, nextY - y) / Math.max(0.5, radius / 6)));
        for (let step = 1; step <= steps; step += 1) this.disc(x + ((nextX - x) * step) / steps, y + ((nextY - y) * step) / steps, radius, value);
        [x, y] = [nextX, nextY];
      }
    }

    polygon(points, value) {
      const corners = [];
      for (let at = 0; at < points.length; at += 2) corners.push([points[at], points[at + 1]]);
      for (let row = 0; row < this.height; row += 1) {
        const middle = row + 0.5;
        const cuts = [];
        corners.forEach(([x, y], at) => {
          const [nextX, nextY] = corners[(at + 1) % corners.length];
          if ((y <= middle) !== (nextY <= middle)) cuts.push(x + ((middle - y) / (nextY - y)) * (nextX - x));
        });
        cuts.sort((one, other) => one - other);
        for (let at = 0; at + 1 < cuts.length; at += 2) {
          const from = Math.max(0, Math.ceil(cuts[at] - 0.5));
          const to = Math.min(this.width, Math.ceil(cuts[at + 1] - 0.5));
          if (to > from) this.cells.fill(value, row * this.width + from, row * this.width + to);
        }
      }
    }
  }

  // An item is a stroke, {owner, label, tool, size, points: [x, y, x, y …]}; its owner is what it colours.
  class MaskTool extends ImageTool {
    touch = "none";
    tool = "brush";
    pen = false;
    help = "Choose a label, then paint with mouse or finger. With keys: arrows move the cross-hair (Shift: by one pixel), Space lowers and lifts the brush, 1 to 9 choose a label. Polygon: Space or a tap sets a corner, Enter closes it.";

    buttons() {
      const group = fresh("tools");
      const tools = make("span", { className: "crowd-tools" }, ...TOOLS.map(([tool, words], at) => {
        const input = make("input", { type: "radio", name: group, value: tool, checked: at === 0 });
        input.addEventListener("change", () => { this.tool = tool; this.lift(); });
        return make("label", { className: "crowd-tick" }, input, make("span", {}, words));
      }));
      tools.setAttribute("role", "radiogroup");
      tools.setAttribute("aria-label", "Tool");
      this.size = make("input", { type: "range", min: "1", max: "100", value: "20" });
      const size = make("label", { className: "crowd-tick" }, make("span", {}, "Size"), this.size);
      return [tools, size, this.button("Finish polygon", () => this.finishPolygon()), ...super.buttons()];
    }

    begin() {
      this.canvas = this.paper.querySelector("canvas");
      this.image.addEventListener("load", () => this.replay());
      const given = readAttribute(this.attribute("initial-value"), null);
      this.given = given && typeof given === "object" ? given : {};
      this.drawLabels();
      if (this.given.src) this.takeOver(this.given);
    }

    // The picture of an earlier task: pixels of a label's colour are of that label.
    takeOver({ src, labelMappings = {} }) {
      const picture = make("img", { crossOrigin: "anonymous" });
      picture.addEventListener("load", () => {
        const sheet = make("canvas", { width: picture.naturalWidth, height: picture.naturalHeight });
        const context = sheet.getContext("2d");
        context.drawImage(picture, 0, 0);
        const { data } = context.getImageData(0, 0, sheet.width, sheet.height);
        const owners = new Map();
        for (const [label, { color }] of Object.entries(labelMappings)) owners.set(parseInt(String(color).slice(1), 16), this.ownerOf(label));
        this.base = { width: sheet.width, cells: new Uint16Array(data.length / 4) };
        for (let at = 0; at < this.base.cells.length; at += 1) {
          if (data[at * 4 + 3]) this.base.cells[at] = owners.get((data[at * 4] << 16) | (data[at * 4 + 1] << 8) | data[at * 4 + 2]) ?? 0;
        }
        this.replay();
      });
      picture.addEventListener("error", () => this.say("The segments of the earlier task could not be loaded."));
      picture.src = src;
    }

    // What is painted now; owners are 1, 2, 3, …
    get penSize() { return Number(this.size.value) * Math.max(1, this.width / 800); }
    start(point) {
      if (this.label === undefined) return this.say("There is no label yet.");
      const owner = this.tool === "erase" ? 0 : this.currentOwner();
      this.unfinished = { owner, label: this.label, tool: this.tool, size: Math.round(this.penSize), points: [point.x, point.y] };
      return this.apply(this.unfinished);
    }
    extend(point) {
      const { points } = this.unfinished;
      if (points.at(-2) === point.x && points.at(-1) === point.y) return;
      points.push(point.x, point.y);
      this.apply({ ...this.unfinished, points: points.slice(-4) });
    }
    end() {
      const stroke = this.unfinished;
      this.unfinished = null;
      this.pen = false;
      if (!stroke) return;
      this.change(() => this.items.push(stroke));
      this.say(stroke.tool === "erase" ? "Erased." : `${this.nameOfOwner(stroke.owner)} painted.`);
    }
    lift() {
      if (this.unfinished?.tool === "polygon") this.cancel();
      else this.end();
    }
    finishPolygon() {
      if (this.unfinished?.tool !== "polygon") return;
      if (this.unfinished.points.length < 6) this.say("A polygon has three corners at least.");
      else this.end();
    }
    corner(point) {
      if (this.unfinished?.tool === "polygon") {
        const { points } = this.unfinished;
        const closes = points.length >= 6 && Math.hypot(points[0] - point.x, points[1] - point.y) <= 10 * this.unit;
        const again = points.length >= 6 && Math.hypot(points.at(-2) - point.x, points.at(-1) - point.y) <= 2 * this.unit;
        if (closes || again) return this.end();
        points.push(point.x, point.y);
      } else if (this.label !== undefined) {
        this.unfinished = { owner: this.currentOwner(), label: this.label, tool: "polygon", size: 0, points: [point.x, point.y] };
      }
      return this.paint();
    }

    down(point) { if (this.tool !== "polygon") this.start(point); }
    move(point, event) {
      if (this.unfinished && this.unfinished.tool !== "polygon" && (this.pen || event.buttons)) this.extend(point);
      this.paint();
    }
    up(point) {
      if (this.tool === "polygon") this.corner(point);
      else if (!this.pen) this.end();
    }
    press(event) {
      if (this.tool === "polygon") {
        if (event.key === " ") this.corner({ ...this.cursor });
        else if (event.key === "Enter" && this.unfinished) this.finishPolygon();
        else if (event.key === "Enter") this.corner({ ...this.cursor });
        else return false;
        return true;
      }
      if (event.key !== " " && event.key !== "Enter") return false;
      if (this.pen) this.end();
      else {
        this.pen = true;
        this.start({ ...this.cursor });
        this.say("The brush is down.");
      }
      return true;
    }
    cancel() {
      this.pen = false;
      super.cancel();
      this.replay();
    }
    changed() {
      this.replay();
      super.changed();
    }
    reset() {
      super.reset();
      this.replay();
    }

    // Pixels

    apply({ tool, points, size, owner }) {
      if (!this.grid) return;
      if (tool === "polygon") this.grid.polygon(points, owner);
      else this.grid.stroke(points, size, owner);
      const xs = points.filter((_, at) => at % 2 === 0);
      const ys = points.filter((_, at) => at % 2 === 1);
      this.show(Math.min(...xs) - size, Math.min(...ys) - size, Math.max(...xs) + size, Math.max(...ys) + size);
    }
    replay() {
      if (!this.width) return;
      const { width, height } = this;
      this.grid = new Grid(width, height);
      if (this.base?.width === width) this.grid.cells.set(this.base.cells.subarray(0, this.grid.cells.length));
      if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
      for (const { tool, points, size, owner } of this.items) {
        if (tool === "polygon") this.grid.polygon(points, owner);
        else this.grid.stroke(points, size, owner);
      }
      this.show(0, 0, width, height);
    }
    show(left, top, right, bottom) {
      const x = Math.max(0, Math.floor(left));
      const y = Math.max(0, Math.floor(top));
      const width = Math.min(this.width, Math.ceil(right) + 1) - x;
      const height = Math.min(this.height, Math.ceil(bottom) + 1) - y;
      if (width > 0 && height > 0) this.canvas.getContext("2d").putImageData(this.picture(x, y, width, height, 150), x, y);
    }
    picture(x, y, width, height, alpha) {
      const picture = new ImageData(width, height);
      const colours = new Map();
      for (let row = 0; row < height; row += 1) {
        for (let column = 0; column < width; column += 1) {
          const owner = this.grid.cells[(y + row) * this.width + x + column];
          if (!owner) continue;
          if (!colours.has(owner)) colours.set(owner, parseInt(this.colourOfOwner(owner).slice(1), 16));
          const value = colours.get(owner);
          picture.data.set([value >> 16, (value >> 8) & 255, value & 255, alpha], (row * width + column) * 4);
        }
      }
      return picture;
    }
    owners() {
      const seen = new Set(this.grid?.cells ?? []);
      seen.delete(0);
      return [...seen].sort((one, other) => one - other);
    }
    get labeledImage() {
      if (!this.grid) return { pngImageData: "" };
      const sheet = make("canvas", { width: this.width, height: this.height });
      sheet.getContext("2d").putImageData(this.picture(0, 0, this.width, this.height, 255), 0, 0);
      return { pngImageData: sheet.toDataURL("image/png").replace(/^data:image\/png;base64,/, "") };
    }

    paint() {
      const { unit } = this;
      const layers = [];
      if (this.unfinished?.tool === "polygon") {
        const pairs = [];
        const { points, owner } = this.unfinished;
        for (let at = 0; at < points.length; at += 2) pairs.push(`${points[at]} ${points[at + 1]}`);
        const drawn = this.colourOfOwner(owner);
        layers.push(draw("path", { d: `M${[...pairs, `${this.cursor.x} ${this.cursor.y}`].join("L")}`, class: "crowd-shape unfinished", stroke: drawn, fill: "none" }));
        for (const pair of pairs) layers.push(draw("circle", { class: "crowd-dot", cx: pair.split(" ")[0], cy: pair.split(" ")[1], r: 5 * unit, fill: drawn }));
      } else if (this.tool !== "polygon") {
        layers.push(draw("circle", { class: "crowd-brush", cx: this.cursor.x, cy: this.cursor.y, r: this.penSize / 2 }));
      }
      this.svg.replaceChildren(...layers, ...this.crosshair());
      if (!this.unfinished) this.drawList();
    }
    drawList() {
      const owners = [...new Set(this.items.filter(({ tool }) => tool !== "erase").map(({ owner }) => owner))];
      const text = owners.join() + this.labels.join();
      if (text === this.listed) return;
      this.listed = text;
      this.list.replaceChildren(...owners.map((owner) => {
        const swatch = make("span", { className: "crowd-swatch" });
        swatch.style.background = this.colourOfOwner(owner);
        const remove = this.button("Remove", () => {
          this.change(() => { this.items = this.items.filter((each) => each.owner !== owner); });
          this.view.focus();
          this.say(`${this.nameOfOwner(owner)} removed.`);
        });
        remove.setAttribute("aria-label", `Remove ${this.nameOfOwner(owner)}`);
        return make("li", {}, swatch, make("span", { className: "crowd-where" }, this.nameOfOwner(owner)), remove);
      }));
    }

    set value(value) {
      this.items = [];
      if (value?.labeledImage?.pngImageData) {
        const mappings = value.labelMappings ?? Object.fromEntries((value.instances ?? []).map(({ label, color }) => [label, { color }]));
        this.takeOver({ src: `data:image/png;base64,${value.labeledImage.pngImageData}`, labelMappings: mappings });
      }
    }
    get value() { return undefined; }
  }

  // Owners are the labels, in their order.
  class SemanticSegmentation extends MaskTool {
    ownerOf(label) {
      const at = this.labels.indexOf(label);
      return at >= 0 ? at + 1 : this.labels.push(label);
    }
    currentOwner() { return this.ownerOf(this.label); }
    nameOfOwner(owner) { return this.labels[owner - 1] ?? ""; }
    colourOfOwner(owner) { return this.colourOf(this.labels[owner - 1]); }
    colourOf(label) { return this.given?.labelMappings?.[label]?.color ?? super.colourOf(label); }

    get value() {
      const labels = this.owners().map((owner) => this.labels[owner - 1]);
      const labelMappings = Object.fromEntries(labels.map((label) => [label, { color: this.colourOf(label) }]));
      return { ...(this.adjusts ? this.modified : {}), ...this.properties, labelMappings, labeledImage: this.labeledImage };
    }
    set value(value) { super.value = value; }
  }

  // Owners are instances; each has its own colour. A label's strokes go to its last instance.
  class InstanceSegmentation extends MaskTool {
    buttons() { return [this.button("Add instance", () => this.addInstance()), ...super.buttons()]; }
    get instances() {
      const found = new Map();
      for (const { owner, label, tool } of this.items) if (tool !== "erase") found.set(owner, label);
      return found;
    }
    addInstance() {
      this.another = this.label;
      this.lift();
      this.say(`The next stroke begins another ${this.label ?? "instance"}.`);
    }
    ownerOf() { return Math.max(0, ...this.instances.keys()) + 1; }
    currentOwner() {
      const mine = [...this.instances].filter(([, label]) => label === this.label).map(([owner]) => owner);
      const owner = mine.length && this.another !== this.label ? Math.max(...mine) : this.ownerOf();
      this.another = undefined;
      return owner;
    }
    labelOf(owner) { return this.instances.get(owner) ?? this.unfinished?.label ?? this.label; }
    nameOfOwner(owner) {
      const label = this.labelOf(owner);
      const mine = [...this.instances].filter(([, each]) => each === label).map(([each]) => each).sort((one, other) => one - other);
      return `${label} ${mine.indexOf(owner) + 1 || mine.length + 1}`;
    }
    colourOfOwner(owner) { return colour(owner - 1); }

    get value() {
      const instances = this.owners().map((owner) => ({ color: this.colourOfOwner(owner), label: this.labelOf(owner) }));
      return { ...this.properties, instances, labeledImage: this.labeledImage };
    }
    set value(value) { super.value = value; }
  }

  define("crowd-semantic-segmentation", SemanticSegmentation, true);
  define("crowd-instance-segmentation", InstanceSegmentation, true);
});
