// The crowd element that ranks texts by one dimension or several.
"use strict";

(window.distilleryCrowd ??= []).push(({ Field, define, fresh, instructionsOf, make, read, strings }) => {
  class TextRanking extends Field {
    build() {
      this.responses = strings(this.attribute("responses"));
      const dimensions = read(this.attribute("ordinal-ranking-dimensions"), []);
      const side = instructionsOf(this);
      this.dimensions = (Array.isArray(dimensions) ? dimensions : []).map(({ name, allowTie }) => ({ name: String(name), allowTie: allowTie === true || allowTie === "true", selects: [] }));
      const list = make("ol", { className: "crowd-responses" }, ...this.responses.map((text, at) => make("li", {}, make("strong", {}, `Response ${at + 1}`), make("p", {}, text))));
      const asked = this.dimensions.map((dimension) => this.draw(dimension));
      this.replaceChildren(...(side ? [side] : []),
        make("div", { className: "crowd-work" }, make("p", { className: "crowd-prompt" }, this.attribute("text")), list),
        make("div", { className: "crowd-work" }, ...asked));
    }

    draw(dimension) {
      const ranks = this.responses.map((_, at) => at + 1);
      const rows = this.responses.map((_, at) => {
        const select = make("select", { id: fresh("rank"), required: true }, make("option", { value: "" }, "–"), ...ranks.map((rank) => make("option", { value: String(rank) }, String(rank))));
        select.addEventListener("change", () => this.settle(dimension, select));
        dimension.selects.push(select);
        return make("p", { className: "crowd-rank" }, make("label", { htmlFor: select.id }, `Response ${at + 1}`), select);
      });
      const rule = dimension.allowTie ? "1 is the best; several may have the same rank." : "1 is the best; each rank is given once.";
      return make("fieldset", { className: "crowd-card-of-question" }, make("legend", {}, dimension.name), make("p", { className: "crowd-help" }, rule), ...rows);
    }

    // A rank that may be given once is taken away from the response that had it.
    settle(dimension, changed) {
      if (dimension.allowTie) return;
      const others = dimension.selects.filter((select) => select !== changed);
      const had = others.find((select) => select.value && select.value === changed.value);
      if (!had) return;
      const free = [...changed.options].map((option) => option.value).filter((rank) => rank && !dimension.selects.some((select) => select !== had && select.value === rank));
      had.value = free.length === 1 ? free[0] : "";
    }

    sync() {
      for (const { selects } of this.dimensions) for (const select of selects) select.disabled = this.disabled;
    }

    get value() {
      return {
        ordinalRankingDimensions: this.dimensions.map(({ name, allowTie, selects }) => ({ name, allowTie, responseRankings: selects.map((select) => Number(select.value)) })),
      };
    }
    set value(value) {
      for (const { name, responseRankings = [] } of value?.ordinalRankingDimensions ?? []) {
        this.dimensions.find((each) => each.name === name)?.selects.forEach((select, at) => { select.value = String(responseRankings[at] ?? ""); });
      }
    }
    get _submittableValue() { return this.value; }
  }

  define("crowd-text-ranking", TextRanking, true);
});
