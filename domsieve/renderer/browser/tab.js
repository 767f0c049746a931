// Evaluated once per document in an isolated world, where nothing the page has patched can reach it.
// quiet(): resolves with true once the structure has been still for `stillMs`, with false after `limitMs`.
// scrollThrough(): scrolls to the end in steps that let lazy content come, and back to the top.
// shows(), aim(): find the first element that is shown by a selector; null says that it is no selector.
// hideNoscript(): keeps noscript hidden while scripts are off, or ends that.
// trim(): makes the document ready for its capture; returns how many nodes it had.
globalThis.domsieve = (() => {
  // A form named "scripts" would stand in for document.scripts, in every world.
  const own = (name) => Reflect.get(Document.prototype, name, document);

  let lastChange = performance.now();
  const changed = () => { lastChange = performance.now(); };
  const isText = (nodes) => nodes.length === 1 && nodes[0].nodeType === Node.TEXT_NODE;
  // Clocks and counters put one text in the place of another for ever.
  const isStructural = (record) => !(isText(record.addedNodes) && isText(record.removedNodes));
  new MutationObserver((records) => records.some(isStructural) && changed())
    .observe(document, { childList: true, subtree: true });
  own("addEventListener").call(document, "domsieve-shadow-change", changed);
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
  // What the page says of itself as JSON-LD; see snapshot/json_ld.py.
  const isData = (script) => script.type.slice(0, 100).split(";")[0].trim().toLowerCase() === "application/ld+json"
    && script.textContent.length <= 1_000_000;
  const isShown = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility === "visible";
  // The document and all open shadow trees in it, in document order.
  const trees = function* (root) {
    yield root;
    for (const element of root.querySelectorAll("*")) if (element.shadowRoot) yield* trees(element.shadowRoot);
  };
  const first = (selector) => {
    for (const tree of trees(own("documentElement"))) {
      for (const element of tree.querySelectorAll(selector)) if (isShown(element)) return element;
    }
  };
  // Fields of a form stand in for its properties, so these are read from the prototype.
  const part = (element, name) => Reflect.get(Element.prototype, name, element);
  // The elements inside of one in the flat tree that may be laid out.
  const inside = (element) => {
    const shadow = part(element, "shadowRoot");
    const children = shadow ? [...shadow.children] : [...part(element, "children")];
    if (element instanceof HTMLDetailsElement && !element.open) return children.slice(0, 1);
    const slotted = element instanceof HTMLSlotElement ? element.assignedElements() : [];
    return slotted.length ? slotted : children;
  };
  const keep = (element, look) => {
    part(element, "animate").call(element, [look, look], { duration: 1, fill: "both" }).pause();
  };
  // A capture has no styles of ::first-line. Where the first line is the only one, the element gets its colour.
  const showFirstLine = (element, style) => {
    if (/^(inline|contents|none)$/.test(style.display)) return;
    const first = getComputedStyle(element, "::first-line");
    const color = first.backgroundColor === first.color ? "transparent" : first.color;
    const fill = first.webkitTextFillColor;
    if (color === style.color && fill === style.webkitTextFillColor) return;
    const range = new Range();
    range.selectNodeContents(element);
    const lines = [...range.getClientRects()].filter((rect) => rect.width && rect.height);
    if (!lines.length) return;
    const top = Math.min(...lines.map((rect) => rect.top)), bottom = Math.max(...lines.map((rect) => rect.bottom));
    if (bottom - top < 1.5 * Math.max(...lines.map((rect) => rect.height))) {
      keep(element, { color, webkitTextFillColor: fill === first.color ? color : fill });
    }
  };
  // Chapters below the fold may be skipped until they are scrolled to. An animation shows them and changes no attribute.
  // Styles of elements in hidden ones are not asked for, because Chrome then lays these out.
  const showSkipped = () => {
    const root = own("documentElement");
    const waiting = root ? [root] : [];
    while (waiting.length) {
      const element = waiting.pop();
      const style = getComputedStyle(element);
      if (style.display === "none" || style.contentVisibility === "hidden") continue;
      if (style.contentVisibility === "auto") keep(element, { contentVisibility: "visible" });
      showFirstLine(element, style);
      for (const one of inside(element)) waiting.push(one);
    }
  };
  const noNoscript = new CSSStyleSheet();
  noNoscript.replaceSync("noscript { display: none !important }");
  const frame = () => new Promise((done) => requestAnimationFrame(done));

  return {
    async quiet(stillMs, limitMs) {
      const end = performance.now() + limitMs;
      for (;;) {
        const now = performance.now();
        if (now - lastChange >= stillMs) {
          // Timers of the page that are overdue on a busy machine come first.
          await sleep(1);
          if (lastChange < now) return true;
        }
        if (now >= end) return false;
        await sleep(Math.max(1, Math.min(lastChange + stillMs, end) - now));
      }
    },

    async scrollThrough(limitMs, limitSteps) {
      const end = performance.now() + limitMs;
      let height = -1;
      for (let step = 0, still = 0; step < limitSteps && still < 2 && performance.now() < end; step++) {
        scrollBy(0, innerHeight * 0.8);
        await frame();
        await frame();
        const root = own("scrollingElement") ?? own("documentElement");
        const isAtEnd = scrollY + innerHeight >= root.scrollHeight - 1;
        if (isAtEnd) await sleep(250); // for what is fetched when the end comes in view
        still = isAtEnd && root.scrollHeight === height ? still + 1 : 0;
        height = root.scrollHeight;
      }
      scrollTo(0, 0);
    },

    shows(selector) {
      try {
        return Boolean(first(selector));
      } catch {
        return null;
      }
    },

    // Returns where the element is, [x, y] in the window; [] when it is clicked already, for another one covers it; false
    // when there is none.
    async aim(selector) {
      let element;
      try {
        element = first(selector);
      } catch {
        return null;
      }
      if (!element) return false;
      element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
      const box = [...element.getClientRects()].find((rect) => rect.width > 0 && rect.height > 0);
      if (box) {
        const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
        const top = element.getRootNode().elementFromPoint(x, y);
        if (top && (top === element || element.contains(top))) return [x, y];
      }
      element.click();
      return [];
    },

    goUp() {
      scrollTo(0, 0);
    },

    hideNoscript(isHidden) {
      document.adoptedStyleSheets = [
        ...[...document.adoptedStyleSheets].filter((sheet) => sheet !== noNoscript), ...(isHidden ? [noNoscript] : []),
      ];
    },

    trim(limit) {
      const walker = own("createTreeWalker").call(document, document);
      let count = 1;
      let last = null;
      while (walker.nextNode()) if (++count === limit) last = walker.currentNode;
      if (last && count > limit) {
        const rest = new Range();
        rest.setStartAfter(last);
        rest.setEndAfter(own("documentElement"));
        rest.deleteContents();
      }
      // Half of what a capture carries would be source code, which nobody wants.
      for (const script of own("scripts")) if (!isData(script)) script.textContent = "";
      showSkipped();
      return count;
    },
  };
})();
