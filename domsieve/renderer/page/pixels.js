// Evaluated once per document in an isolated world, while the scripts of the page are off.
// still(isPage): ends what moves, and releases a locked page; returns how much that was.
// blank(count, ...nodes, ...roots): makes the letters of `count` text nodes transparent; with -1, all letters of the
// document and of the closed shadow trees `roots`. unblank(): undoes that.
// put(element, name, value), scroll(element, left, top): change an element for the pictures.
// staying(...elements), areBlank(...elements): see below.
// undo(element), restore(): undo what was put, and everything; restore returns whether anything was scrolled.
globalThis.domsievePixels = (() => {
  const NAME = `letters-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
  // Forms can have fields named like properties, so these are read from the prototypes.
  const part = (object, type, name) => Reflect.get(type.prototype, name, object);
  const run = (object, type, name, ...values) => part(object, type, name).apply(object, values);
  const own = (name) => part(document, Document, name);

  const sheet = (rules) => {
    const made = new CSSStyleSheet();
    made.replaceSync(rules);
    return made;
  };
  const stilled = sheet("*, ::before, ::after { transition: none !important; caret-color: transparent !important }");
  const blanked = sheet(`::highlight(${NAME}) { color: transparent; text-decoration: none;
      -webkit-text-fill-color: transparent; -webkit-text-stroke-color: transparent }`);
  // No highlight changes shadows, and none changes the letters of SVG. Ids outweigh almost all rules of pages.
  const strong = (selector) => `:is(${selector}, ${"#domsieve".repeat(9)} *)`;
  const shadowless = sheet(`${strong("*")} { text-shadow: none !important }
    ${strong("text, tspan, textPath")} { fill: transparent !important; stroke: transparent !important }`);

  const open = function* (root) {
    yield root;
    for (const element of root.querySelectorAll("*")) {
      const inner = part(element, Element, "shadowRoot");
      if (inner) yield* open(inner);
    }
  };
  const trees = (roots) => [document, ...roots].flatMap((root) => [...open(root)]);
  const adopt = (sheets, all) => {
    for (const root of all) root.adoptedStyleSheets = [...root.adoptedStyleSheets, ...sheets];
  };
  const drop = (sheets, all) => {
    for (const root of all) {
      root.adoptedStyleSheets = [...root.adoptedStyleSheets].filter((one) => !sheets.includes(one));
    }
  };

  const end = (animation) => {
    try {
      const timing = animation.effect?.getComputedTiming();
      if (animation.timeline !== null && !(animation.timeline instanceof DocumentTimeline)) {
        // Driven by scrolling: as it is when the element is in the middle of the window.
        animation.pause();
        animation.currentTime = CSS.percent(50);
      } else if (timing && timing.endTime !== Infinity && animation.playState !== "finished") animation.finish();
      else animation.pause();
    } catch {
      animation.pause();
    }
  };

  const changed = new Map();
  const scrolled = new Map();
  let known = [];
  let blankTrees = [];

  const put = (element, name, value) => {
    if (!changed.has(element)) changed.set(element, run(element, Element, "getAttribute", "style"));
    const type = [HTMLElement, SVGElement, MathMLElement].find((one) => element instanceof one);
    if (type) part(element, type, "style").setProperty(name, value, "important");
  };

  const undo = (element) => {
    if (!changed.has(element)) return;
    const value = changed.get(element);
    if (value === null) run(element, Element, "removeAttribute", "style");
    else run(element, Element, "setAttribute", "style", value);
    changed.delete(element);
  };

  return {
    put,
    undo,

    still(isPage) {
      known = trees([]);
      adopt([stilled], known);
      const animations = run(document, Document, "getAnimations");
      animations.forEach(end);
      if (!isPage) return animations.length;
      // A lock keeps readers from scrolling down. What is cut at the sides stays cut.
      const [root, body] = [own("documentElement"), own("body")];
      const locks = (element) => element && /hidden|clip/.test(getComputedStyle(element).overflowY);
      const isFree = root && getComputedStyle(root).overflow === "visible"; // the overflow of the body is the window's
      if (locks(root)) put(root, "overflow-y", "auto");
      if (locks(body)) put(body, ...(isFree ? ["overflow-y", "auto"] : ["overflow", "visible"]));
      return animations.length + changed.size;
    },

    blank(count, ...objects) {
      const nodes = count < 0 ? null : objects.slice(0, count);
      blankTrees = trees(objects.slice(Math.max(count, 0)));
      adopt(nodes ? [blanked] : [blanked, shadowless], blankTrees);
      const ranges = (nodes ?? blankTrees).map((node) => {
        const range = new Range();
        range.selectNodeContents(node);
        return range;
      });
      const highlight = new Highlight(...ranges);
      highlight.priority = 2 ** 31 - 1; // above those of the page
      CSS.highlights.set(NAME, highlight);
    },

    // Whether the letters of elements are transparent now, but for the highlight; an inline style may forbid it.
    areBlank(...elements) {
      const isClear = (paint) => /^(none|transparent|rgba\(0, 0, 0, 0\))$/.test(paint);
      return elements.map((element) => {
        const style = getComputedStyle(element);
        const isDrawn = element instanceof SVGElement && !(isClear(style.fill) && isClear(style.stroke));
        return style.textShadow === "none" && !isDrawn;
      });
    },

    // Which fixed elements stay where they are when the page is scrolled: not those in transformed boxes and the like.
    staying(...elements) {
      const top = (element) => run(element, Element, "getBoundingClientRect").top;
      const [y, before] = [scrollY, elements.map(top)];
      scrollTo({ top: y ? 0 : 1, behavior: "instant" });
      const isMoved = scrollY !== y;
      const found = elements.map((element, at) => !isMoved || top(element) === before[at]);
      scrollTo({ top: y, behavior: "instant" });
      return found;
    },

    unblank() {
      CSS.highlights.delete(NAME);
      drop([blanked, shadowless], blankTrees);
    },

    scroll(element, left, top) {
      if (!scrolled.has(element)) {
        scrolled.set(element, [part(element, Element, "scrollLeft"), part(element, Element, "scrollTop")]);
      }
      run(element, Element, "scrollTo", { left, top, behavior: "instant" });
      return [part(element, Element, "scrollLeft"), part(element, Element, "scrollTop")];
    },

    restore() {
      for (const [element, [left, top]] of scrolled) {
        run(element, Element, "scrollTo", { left, top, behavior: "instant" });
      }
      for (const element of [...changed.keys()]) undo(element);
      drop([stilled], known);
      return scrolled.size > 0;
    },
  };
})();
