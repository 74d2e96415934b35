// Crowd elements that classify: something to look at, categories to choose from, instructions beside them.
"use strict";

(window.distilleryCrowd ??= []).push(({ Field, define, dialogOf, fresh, instructionsOf, make, read, strings }) => {
  class Classifier extends Field {
    several = false;

    build() {
      this.dataset.kept = "";
      const options = strings(this.attribute("categories"));
      const none = this.several ? read(this.attribute("exclusion-category"), null) : null;
      this.group = fresh("categories");
      this.inputs = [];
      this.list = make("div", { className: "crowd-categories category-picker-wrapper" }, ...options.map((text) => this.option(text, false)));
      if (none) this.list.append(this.option(typeof none === "string" ? none : none.text ?? "None of the above", true));
      const asked = make("fieldset", { className: "annotation-area" }, make("legend", {}, this.attribute("header")), this.target(), this.list, ...this.comment());
      const side = instructionsOf(this);
      const rest = [...this.childNodes].filter((node) => node !== side);
      this.replaceChildren(...(side ? [side] : []), asked);
      asked.append(...rest);
      if (!this.several) return;
      this.list.addEventListener("change", (event) => this.settle(event.target));
      this.settle();
    }

    option(text, alone) {
      const input = make("input", { type: this.several ? "checkbox" : "radio", name: this.group, value: text, required: !this.several });
      input.dataset.alone = alone ? "yes" : "";
      this.inputs.push(input);
      return make("label", { className: "crowd-tick crowd-category" }, input, make("span", {}, text));
    }

    target() { return this.region("classification-target") ?? ""; }

    // A comment of the worker, where the page asks for one.
    comment() {
      const region = this.region("worker-comment");
      if (!region) return [];
      this.words = make("textarea", { rows: 4, placeholder: region.getAttribute("placeholder") ?? "" });
      const title = region.getAttribute("header") || "Add a comment";
      this.words.setAttribute("aria-label", "Your comment");
      return dialogOf(region.getAttribute("link-text") || "Add a comment", "link", title, region, this.words);
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
      const comment = this.words?.value ? { workerComment: this.words.value } : {};
      return this.several ? { labels: chosen, ...comment } : { label: chosen[0], ...comment };
    }

    set value(value) {
      const wanted = this.several ? value?.labels ?? [] : [value?.label];
      for (const input of this.inputs ?? []) input.checked = wanted.includes(input.value);
      if (this.words) this.words.value = value?.workerComment ?? "";
      if (this.several && this.inputs) this.settle();
    }

    // Its fields are kept one by one; what is left is to check again what depends on them.
    get draft() { return null; }
    set draft(_) { if (this.several) this.settle(); }
  }

  // The image with what an earlier task drew on it: boxes, or a picture of segments.
  class ImageClassifier extends Classifier {
    target() {
      const image = make("img", { src: this.attribute("src"), alt: this.attribute("alt", "The image to classify"), className: "crowd-picture" });
      const overlay = read(this.attribute("overlay"), {});
      const picture = make("div", { className: "crowd-overlaid" }, image);
      const segments = overlay.semanticSegmentation?.src ?? overlay.instanceSegmentation?.src;
      if (segments) picture.append(make("img", { src: segments, alt: "", className: "crowd-segments" }));
      const boxes = overlay.boundingBox?.value ?? [];
      const place = () => {
        for (const box of boxes) {
          const [width, height] = [image.naturalWidth || 1, image.naturalHeight || 1];
          const drawn = make("div", { className: "crowd-box" }, make("span", {}, String(box.label ?? "")));
          Object.assign(drawn.style, {
            left: `${(box.left / width) * 100}%`, top: `${(box.top / height) * 100}%`,
            width: `${(box.width / width) * 100}%`, height: `${(box.height / height) * 100}%`,
          });
          picture.append(drawn);
        }
      };
      if (image.complete && image.naturalWidth) place();
      else image.addEventListener("load", place, { once: true });
      return picture;
    }
  }

  const severally = (base) => class extends base { several = true; };
  define("crowd-classifier", Classifier, true);
  define("crowd-classifier-multi-select", severally(Classifier), true);
  define("crowd-image-classifier", ImageClassifier, true);
  define("crowd-image-classifier-multi-select", severally(ImageClassifier), true);
});
