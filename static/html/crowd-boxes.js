// Crowd elements that show something: instructions, dialogs, tabs, cards, alerts, toasts and badges.
"use strict";

(window.distilleryCrowd ??= []).push(({ Crowd, define, dialogOf, iconOf, make, tabsOf }) => {
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
      this.replaceChildren(...dialogOf(this.attribute("link-text", "Click for instructions"), this.attribute("link-type"), "Instructions", ...content));
    }
  }

  class CrowdModal extends Crowd {
    build() {
      const words = this.attribute("link-text", "Click to open modal");
      const [opener, dialog] = dialogOf(words, this.attribute("link-type"), this.attribute("header") || words, ...this.childNodes);
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
      // What is required on a page that is not shown is asked for there.
      this.addEventListener("invalid", (event) => {
        const page = event.target.closest("crowd-tab");
        if (page?.hidden) this.querySelector(`[aria-controls="${page.id}"]`)?.click();
      }, true);
    }
  }

  class CrowdCard extends Crowd {
    build() {
      if (this.attribute("heading")) this.prepend(make("p", { className: "crowd-header" }, this.attribute("heading")));
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

  // One at a time, each for as long as it says.
  class CrowdToast extends Crowd {
    build() {
      this.setAttribute("role", "status");
      if (this.attribute("text") && !this.textContent.trim()) this.textContent = this.attribute("text");
      for (const other of document.querySelectorAll("crowd-toast[role]")) if (other !== this) other.remove();
      const milliseconds = Number(this.attribute("duration", "4000"));
      if (milliseconds > 0) setTimeout(() => this.remove(), milliseconds);
    }
  }

  class CrowdBadge extends Crowd {
    build() {
      const icon = this.attribute("icon");
      this.replaceChildren(icon ? iconOf(icon) : this.attribute("label"));
      const on = this.attribute("for") && document.getElementById(this.attribute("for"));
      if (!on || on === this) return;
      if (getComputedStyle(on).position === "static") on.style.position = "relative";
      on.append(this);
      this.classList.add("crowd-attached");
    }
  }

  define("crowd-instructions", CrowdInstructions);
  define("crowd-modal", CrowdModal);
  define("crowd-tabs", CrowdTabs);
  define("crowd-tab", class extends Crowd {});
  define("crowd-card", CrowdCard);
  define("crowd-alert", CrowdAlert);
  define("crowd-toast", CrowdToast);
  define("crowd-badge", CrowdBadge);
});
