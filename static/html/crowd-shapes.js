// Crowd elements that mark places on an image: boxes, points, lines, polylines and polygons.
"use strict";

(window.distilleryCrowd ??= []).push(({ ImageTool, copy, define, draw, make, readAttribute }) => {
  const near = (one, other, reach) => Math.hypot(one.x - other.x, one.y - other.y) <= reach;
  const same = (one, other) => one && one.x === other.x && one.y === other.y;

  // An item is {label, points}; of a box the points are two opposite corners.
  class Shape extends ImageTool {
    least = 2; // points of a finished shape
    most = 2;
    closed = false;

    begin() {
      const given = readAttribute(this.attribute("initial-value"), []);
      this.items = this.take(Array.isArray(given) ? given : given?.[this.plural] ?? []).filter(({ label }) => this.labels.includes(label));
    }

    take(list) {
      return (Array.isArray(list) ? list : []).map((each) => ({ label: String(each.label), points: this.pointsOf(each) })).filter(({ points }) => points.length >= this.least);
    }
    pointsOf({ vertices }) { return (vertices ?? []).map(({ x, y }) => ({ x: Math.round(x), y: Math.round(y) })); }
    output({ label, points }) { return { label, vertices: copy(points) }; }

    get value() { return { [this.plural]: this.items.map((item) => this.output(item)), ...(this.tracked ? this.modified : {}), ...this.properties }; }
    set value(value) {
      this.items = this.take(value?.[this.plural]);
      this.paint();
    }

    // Drawing

    down(point, event) {
      const { handle, shape } = event.target.dataset;
      this.pressed = { point, x: event.clientX, y: event.clientY };
      if (handle !== undefined) this.drag = { handle: Number(handle), was: copy(this.items) };
      else if (shape !== undefined && !this.unfinished) this.choose(Number(shape), point);
      else if (this.most === 2) this.startPair(point);
    }
    choose(at, point) {
      this.selected = at;
      this.drag = { from: point, points: copy(this.items[at].points), was: copy(this.items) };
      this.paint();
      this.say(`${this.nameOf(at)} chosen.`);
    }
    startPair(point) {
      if (this.unfinished) this.unfinished.points[1] = point;
      else this.unfinished = { label: this.label, points: [point, point], fresh: true };
      this.selected = -1;
      this.paint();
    }

    move(point) {
      if (this.drag) {
        if (this.drag.handle !== undefined) this.bend(this.selected, this.drag.handle, point);
        else this.shift(this.selected, this.drag.points, point.x - this.drag.from.x, point.y - this.drag.from.y);
      } else if (this.unfinished) {
        if (this.most === 2) this.unfinished.points[1] = point;
        else this.unfinished.next = point;
      } else return;
      this.paint();
    }

    up(point, event) {
      const moved = this.pressed && Math.hypot(event.clientX - this.pressed.x, event.clientY - this.pressed.y) > 4;
      const { drag } = this;
      if (drag) {
        this.drag = null;
        if (moved && JSON.stringify(drag.was) !== JSON.stringify(this.items)) this.settle(drag.was);
        return;
      }
      if (!this.pressed) return;
      this.pressed = null;
      if (this.most === 2) {
        const second = !this.unfinished?.fresh;
        if (!this.unfinished) return;
        this.unfinished.fresh = false;
        if (moved || second) this.finish();
        else this.say("First point set. Set the second one.");
      } else this.add(point);
    }
    settle(was) {
      const now = this.items;
      this.items = was;
      this.change(() => { this.items = now; });
    }

    add(point) {
      if (this.most === 1) {
        this.unfinished = { label: this.label, points: [point] };
        this.finish();
        return;
      }
      this.unfinished ??= { label: this.label, points: [] };
      const { points } = this.unfinished;
      const reach = 10 * this.unit;
      if (this.closed && points.length >= this.least && near(points[0], point, reach)) return this.finish();
      // The second of two clicks at one place ends it.
      if (points.length >= this.least && near(points.at(-1), point, 2 * this.unit)) return this.finish();
      if (points.length && same(points.at(-1), point)) return undefined;
      this.selected = -1;
      points.push(point);
      this.paint();
      return this.say(`Point ${points.length}. ${points.length >= this.least ? "Enter or “Finish” ends it." : ""}`);
    }

    finish() {
      const { unfinished } = this;
      this.unfinished = null;
      if (!unfinished || unfinished.points.length < this.least || this.empty(unfinished.points)) {
        this.paint();
        return this.say("Nothing was drawn: it has no size.");
      }
      if (unfinished.label === undefined) {
        this.paint();
        return this.say("There is no label yet.");
      }
      this.change(() => this.items.push({ label: unfinished.label, points: unfinished.points }));
      return this.say(`${this.nameOf(this.items.length - 1)} added.`);
    }
    empty(points) { return this.most === 2 && same(points[0], points[1]); }

    press(event) {
      if (event.key === "Backspace" && this.unfinished?.points.length > 1 && this.most > 2) {
        this.unfinished.points.pop();
        this.paint();
        return true;
      }
      if (event.key !== "Enter" && event.key !== " ") return false;
      const point = { ...this.cursor };
      if (this.most === 1) this.add(point);
      else if (this.most === 2) {
        const second = Boolean(this.unfinished);
        this.startPair(point);
        this.unfinished.fresh = false;
        if (second) this.finish();
        else this.say("First point set. Move, and press Enter for the second one.");
      } else if (event.key === "Enter" && this.unfinished?.points.length >= this.least) this.finish();
      else this.add(point);
      return true;
    }

    bend(at, handle, point) { this.items[at].points[handle] = this.clamp(point); }
    shift(at, points, dx, dy) {
      const xs = points.map(({ x }) => x);
      const ys = points.map(({ y }) => y);
      const by = (delta, low, high, end) => Math.round(Math.min(end - high, Math.max(-low, delta)));
      const [x, y] = [by(dx, Math.min(...xs), Math.max(...xs), this.width), by(dy, Math.min(...ys), Math.max(...ys), this.height)];
      this.items[at].points = points.map((point) => ({ x: point.x + x, y: point.y + y }));
    }
    handlesOf(points) { return points; }

    buttons() {
      const more = this.most > 2 ? [this.button("Finish", () => this.finish())] : [];
      return [...more, ...super.buttons()];
    }

    // What is seen

    path(points) {
      return `M${points.map(({ x, y }) => `${x} ${y}`).join("L")}${this.closed ? "Z" : ""}`;
    }
    figure(points, attributes) { return draw("path", { d: this.path(points), ...attributes }); }

    paint() {
      const { unit } = this;
      const layers = [];
      this.items.forEach(({ label, points }, at) => {
        const colour = this.colourOf(label);
        const chosen = at === this.selected ? " chosen" : "";
        layers.push(this.figure(points, { class: `crowd-under${chosen}` }));
        layers.push(this.figure(points, { class: `crowd-shape${chosen}`, stroke: colour, fill: this.closed ? `${colour}2e` : "none" }));
        layers.push(this.figure(points, { class: "crowd-hit", "data-shape": at }));
        const top = points.reduce((best, each) => (each.y < best.y ? each : best));
        layers.push(draw("text", { class: "crowd-name", x: top.x, y: Math.max(14 * unit, top.y - 6 * unit), "font-size": 14 * unit, "stroke-width": 3 * unit }, this.nameOf(at)));
      });
      if (this.unfinished) {
        const { points, next, label } = this.unfinished;
        const colour = this.colourOf(label);
        layers.push(this.figure(next ? [...points, next] : points, { class: "crowd-shape unfinished", stroke: colour, fill: "none" }));
        if (this.most > 2) for (const { x, y } of points) layers.push(draw("circle", { class: "crowd-dot", cx: x, cy: y, r: 5 * unit, fill: colour }));
      }
      const focused = this.svg.querySelector("[data-handle]:focus")?.dataset.handle;
      const handles = this.items[this.selected] ? this.handlesOf(this.items[this.selected].points).map((point, at) => this.handle(point, at, unit)) : [];
      this.svg.replaceChildren(...layers, ...this.crosshair(), ...handles);
      if (focused !== undefined) handles[focused]?.focus();
      this.drawList();
    }

    // A handle is dragged, or moved by arrow keys.
    handle({ x, y }, at, unit) {
      const handle = draw("g", { class: "crowd-handle", "data-handle": at, tabindex: 0, role: "button", "aria-label": `Point ${at + 1} of ${this.nameOf(this.selected)}` },
        draw("circle", { class: "crowd-grip", cx: x, cy: y, r: 14 * unit, "data-handle": at }),
        draw("circle", { class: "crowd-dot", cx: x, cy: y, r: 6 * unit, "data-handle": at }));
      handle.addEventListener("keydown", (event) => {
        const step = event.shiftKey ? 1 : Math.max(1, Math.round(this.width / 100));
        const [dx, dy] = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key] ?? [0, 0];
        if (event.key === "Delete") this.removeItem(this.selected);
        if (!dx && !dy) return;
        event.preventDefault();
        this.change(() => this.bend(this.selected, at, this.clamp({ x: x + dx, y: y + dy })));
      });
      return handle;
    }

    describe({ points }) { return points.map(({ x, y }) => `${x}, ${y}`).join(" · "); }
    drawList() {
      const text = this.items.map((item, at) => `${this.nameOf(at)}|${this.describe(item)}|${at === this.selected}`).join("\n");
      if (text === this.listed) return;
      this.listed = text;
      const focused = [...this.list.querySelectorAll("button")].indexOf(document.activeElement);
      this.list.replaceChildren(...this.items.map((item, at) => {
        const choose = this.button(this.nameOf(at), () => {
          this.selected = this.selected === at ? -1 : at;
          this.paint();
        });
        choose.setAttribute("aria-pressed", String(at === this.selected));
        const remove = this.button("Remove", () => this.removeItem(at));
        remove.setAttribute("aria-label", `Remove ${this.nameOf(at)}`);
        return make("li", {}, choose, make("span", { className: "crowd-where" }, this.describe(item)), remove);
      }));
      if (focused >= 0) (this.list.querySelectorAll("button")[focused] ?? this.view).focus();
    }
  }

  class BoundingBox extends Shape {
    plural = "boundingBoxes";
    tracked = true;
    closed = true;
    touch = "none";
    help = "Choose a label, then drag a box with mouse or finger, or tap two corners. With keys: arrows move the cross-hair (Shift: by one pixel), Enter sets a corner, Escape gives up, 1 to 9 choose a label.";

    pointsOf({ left, top, width, height }) {
      const points = [{ x: Math.round(left), y: Math.round(top) }, { x: Math.round(left + width), y: Math.round(top + height) }];
      return points.every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y)) ? points : [];
    }
    span(points) {
      const [left, right] = [points[0].x, points[1].x].sort((a, b) => a - b);
      const [top, bottom] = [points[0].y, points[1].y].sort((a, b) => a - b);
      return { left, top, right, bottom };
    }
    output({ label, points }) {
      const { left, top, right, bottom } = this.span(points);
      return { height: bottom - top, label, left, top, width: right - left };
    }
    empty(points) { return points[0].x === points[1].x || points[0].y === points[1].y; }
    path(points) {
      const { left, top, right, bottom } = this.span(points);
      return `M${left} ${top}H${right}V${bottom}H${left}Z`;
    }
    handlesOf([one, other]) { return [one, { x: other.x, y: one.y }, other, { x: one.x, y: other.y }]; }
    bend(at, handle, point) {
      const [one, other] = this.items[at].points;
      const corners = [[one, one], [other, one], [other, other], [one, other]][handle];
      const bent = copy([one, other]);
      bent[corners[0] === one ? 0 : 1].x = point.x;
      bent[corners[1] === one ? 0 : 1].y = point.y;
      this.items[at].points = bent;
    }
    describe(item) {
      const { left, top, width, height } = this.output(item);
      return `${left}, ${top}, ${width} × ${height}`;
    }
  }

  class Keypoint extends Shape {
    plural = "keypoints";
    least = 1;
    most = 1;
    help = "Choose a label, then tap the place. With keys: arrows move the cross-hair (Shift: by one pixel), Enter sets a point, 1 to 9 choose a label.";

    pointsOf({ x, y }) { return Number.isFinite(Number(x)) ? [{ x: Math.round(x), y: Math.round(y) }] : []; }
    output({ label, points: [{ x, y }] }) { return { label, x, y }; }
    path([{ x, y }]) {
      const r = 6 * this.unit;
      return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
    }
  }

  class Line extends Shape {
    plural = "lines";
    tracked = true;
    touch = "none";
    help = "Choose a label, then drag a line, or tap its two ends. With keys: arrows move the cross-hair (Shift: by one pixel), Enter sets an end, Escape gives up, 1 to 9 choose a label.";
    pointsOf(item) { return super.pointsOf(item).slice(0, 2); }
  }

  class Polyline extends Shape {
    plural = "polylines";
    tracked = true;
    most = Infinity;
    help = "Choose a label, then tap point after point; Enter, “Finish” or a second tap on the last point ends the line. With keys: arrows move the cross-hair (Shift: by one pixel), Space sets a point, Backspace takes one back, Enter ends it.";
  }

  class Polygon extends Polyline {
    plural = "polygons";
    tracked = false;
    least = 3;
    closed = true;
    help = "Choose a label, then tap corner after corner; Enter, “Finish” or a tap on the first corner closes it. With keys: arrows move the cross-hair (Shift: by one pixel), Space sets a corner, Backspace takes one back, Enter closes it.";
  }

  define("crowd-bounding-box", BoundingBox, true);
  define("crowd-keypoint", Keypoint, true);
  define("crowd-line", Line, true);
  define("crowd-polyline", Polyline, true);
  define("crowd-polygon", Polygon, true);
});
