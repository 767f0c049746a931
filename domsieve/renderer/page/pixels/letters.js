// Evaluated after page.js: adds what makes letters transparent.
// blank(count, ...nodes, ...roots): makes the letters of `count` text nodes transparent; with -1, all letters of the
// document and of the closed shadow trees `roots`. unfill(...): the same, but their strokes and shadows stay.
// unblank(): undoes both.
// areLined(count, ...nodes, ...roots): which of `count` text nodes have lines (`text-decoration`) or marks (`text-emphasis`)
// by their styles, those around them, or slots. unline(...roots), reline(): takes all of these from the page, and undoes it.
// cut(...elements): blanks the backgrounds of these, too, which are cut to letters.
// begin(...elements): blanks the first letters of these, too, which have a style of their own: no highlight changes them
// if they float.
// countOperators(...roots), areBlank(...elements), isBeginBlank(...elements), isGeneratedBlank(...elements): see below.
Object.assign(domsievePixels, (() => {
  const { part, run, own, isLaidOut, animated, selectorsOf, animationsOf } = dom;
  const { sheet, strong, adopt, drop, treesOf, above } = domsievePixels;

  const MOST_ROUNDS = 9; // a bound of the work
  const NAME = `letters-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
  const blanked = sheet(`::highlight(${NAME}) { color: transparent; text-decoration: none;
      -webkit-text-fill-color: transparent; -webkit-text-stroke-color: transparent }`);
  // The browser's own highlights lie above all others.
  const unmarked = sheet(["::target-text", "::selection", "::spelling-error", "::grammar-error"].map((name) =>
    `${strong("*")}${name} { color: transparent !important; -webkit-text-fill-color: transparent !important;
      text-decoration: none !important; text-shadow: none !important }`).join(""));
  // No highlight changes shadows, letters of SVG and generated text, nor operators of formulas that are large or put together
  // from pieces, which have the colour of their element.
  const OPERATOR = "mo:not(:has(*))";
  // What is drawn in other places than its own keeps its letters: there they would be taken for those of other texts.
  const drawnElsewhere = "defs, pattern, mask, marker, symbol, clipPath, filter";
  const rules = (elsewhere, all, drawn, generated) => {
    const here = `:not(:is(${elsewhere}), :is(${elsewhere}) *)`;
    return `${strong(`*${here}`)} { ${all} }
    ${strong(`:is(text, text *)${here}`)} { fill: transparent !important; ${drawn} }
    ${strong(OPERATOR)} { color: transparent !important }
    ${strong("*")}::before, ${strong("*")}::after { -webkit-text-fill-color: transparent !important; ${generated} }`;
  };
  // Nor does it change the dots at the end of a line.
  const blankRules = (elsewhere) => rules(elsewhere, "text-shadow: none !important; text-overflow: clip !important", "stroke: transparent !important",
    "-webkit-text-stroke-color: transparent !important; text-shadow: none !important");
  const unfilledRules = (elsewhere) => rules(elsewhere, "-webkit-text-fill-color: transparent !important", "", "");
  const shadowless = sheet("");

  // What may have lines of its own in an element; those of the page's highlights stay when letters are transparent.
  const LINEABLE = ["", "::first-line", "::first-letter", "::selection", "::target-text"];
  // Without a change of the layout.
  const UNLINED = "{ text-decoration-line: none !important; text-emphasis-color: transparent !important }";
  const unlined = sheet(LINEABLE.map((look) => `${strong("*")}${look} ${UNLINED}`).join("\n"));
  let unlinedTrees = [];

  const cutBoxes = [];
  const beginnings = new Map(); // a style sheet for each tree
  let blankTrees = [];
  let blanks = [];

  // Selectors of the elements with letters that `use` draws once more.
  const drawnAgain = (roots) => {
    const found = new Set();
    for (const root of roots) {
      for (const copy of root.querySelectorAll("use, feImage")) {
        const { baseVal, animVal } = part(copy, copy instanceof SVGUseElement ? SVGUseElement : SVGFEImageElement, "href");
        for (const [, name] of [baseVal, animVal].map((address) => address.split("#"))) {
          const id = `#${CSS.escape(decodeURIComponent(name ?? ""))}`;
          if (name && root.querySelector(id)?.textContent.trim()) found.add(id);
        }
      }
    }
    return found;
  };

  const isClear = (paint) => /^(none|transparent|rgba\(0, 0, 0, 0\))$/.test(paint);

  // What is cut to letters becomes transparent, all other layers of the background stay.
  const withoutCut = (element) => {
    const style = getComputedStyle(element);
    const clips = style.backgroundClip.split(", ");
    const images = layers(style.backgroundImage);
    const isText = (at) => /\btext\b/.test(clips[at % clips.length]);
    return {
      backgroundImage: images.map((image, at) => (isText(at) ? "none" : image)).join(", "),
      ...(isText(images.length - 1) ? { backgroundColor: "transparent" } : {}),
    };
  };
  // If a style sheet says that this background is important, the element goes with all in it.
  const blankCut = (element) => {
    const without = withoutCut(element), blanked = animated(element, without);
    return isUncut(element, without) ? [blanked] : [blanked, animated(element, { opacity: "0", clipPath: "inset(50%)" })];
  };
  const isUncut = (element, without) => {
    const style = getComputedStyle(element);
    return Object.entries(without).every(([name, value]) => style[name] === value || isClear(style[name]));
  };
  const layers = (value) => {
    const found = [""];
    let depth = 0;
    for (const part of value.split(/([(),])/)) {
      depth += part === "(" ? 1 : part === ")" ? -1 : 0;
      if (part === "," && !depth) found.push("");
      else found[found.length - 1] += part;
    }
    return found.map((one) => one.trim());
  };

  // The letters of an element alone, where no highlight can blank them; the elements in it stay as they are.
  const blankAlone = (element, isFilling) => {
    const isDrawn = element instanceof SVGElement;
    const empty = {
      ...(isFilling ? { webkitTextFillColor: "transparent" } : { textShadow: "none" }),
      ...(isDrawn ? { fill: "transparent" } : {}),
      ...(isDrawn && !isFilling ? { stroke: "transparent" } : {}),
      ...(run(element, Element, "matches", OPERATOR) ? { color: "transparent" } : {}),
    };
    const kept = [...run(element, Element, "querySelectorAll", ":scope > *")].map((child) => {
      const style = getComputedStyle(child);
      return [child, Object.fromEntries(Object.keys(empty).map((name) => [name, style[name]]))];
    });
    blanks.push(animated(element, empty));
    for (const [child, keyframe] of kept) blanks.push(animated(child, keyframe));
  };

  // Those of the page are paused. Rules of a page can be stronger than those that let none begin.
  const endTransitions = () => {
    const isBegun = (one) => one instanceof CSSTransition && one.playState === "running";
    const begun = () => blankTrees.flatMap(animationsOf).filter(isBegun);
    // Without one around it, that of an element may begin.
    for (let round = 0, found = begun(); found.length && round < MOST_ROUNDS; round++, found = begun()) {
      for (const one of found) one.cancel();
    }
  };
  // See `blank` and `unfill`; returns the text nodes, or null for all.
  const clear = (count, objects, isFilling) => {
    const nodes = count < 0 ? null : objects.slice(0, count);
    blankTrees = treesOf(objects.slice(Math.max(count, 0)));
    if (!nodes) {
      const elsewhere = [drawnElsewhere, ...drawnAgain(blankTrees)].join();
      shadowless.replaceSync(isFilling ? unfilledRules(elsewhere) : blankRules(elsewhere));
      adopt([shadowless], blankTrees);
      for (const [tree, only] of beginnings) adopt([only], [tree]);
    }
    blanks = nodes ? [] : cutBoxes.flatMap(blankCut);
    for (const parent of new Set((nodes ?? []).map((node) => part(node, Node, "parentNode")))) {
      if (!(parent instanceof Element)) continue;
      const isMarked = !(parent instanceof SVGElement || run(parent, Element, "matches", OPERATOR));
      if (isFilling || !isMarked || getComputedStyle(parent).textShadow !== "none") {
        blankAlone(parent, isFilling);
      }
    }
    return nodes;
  };

  return {
    // The background of the page is not cut to letters, whatever the root or the body says.
    cut(...elements) {
      const [root, body] = [own("documentElement"), own("body")];
      const isPainted = (style) => style.backgroundImage !== "none" || !isClear(style.backgroundColor);
      // A page that contains what it paints leaves the window without the background of the body.
      const isContained = ({ contain, containerType, contentVisibility }) =>
        [contain, containerType, contentVisibility].some((value) => !/^(none|normal|visible)$/.test(value));
      const isApart = [root, body].some((one) => one && isContained(getComputedStyle(one)));
      const isOfPage = (element) => element === root || (element === body && !isApart && !isPainted(getComputedStyle(root)));
      cutBoxes.push(...elements.filter((element) => !isOfPage(element)));
    },

    begin(...elements) {
      for (const [tree, some] of Map.groupBy(elements, (one) => run(one, Node, "getRootNode"))) {
        const rules = selectorsOf(some).map((one) => `${one}::first-letter { color: transparent !important; text-shadow: none !important }`);
        beginnings.set(tree, sheet(rules.join("\n")));
      }
    },

    blank(count, ...objects) {
      const nodes = clear(count, objects, false);
      adopt([blanked, unmarked], blankTrees);
      const ranges = (nodes ?? blankTrees).map((node) => {
        const range = new Range();
        range.selectNodeContents(node);
        return range;
      });
      const highlight = new Highlight(...ranges);
      highlight.priority = 2 ** 31 - 1; // above those of the page
      CSS.highlights.set(NAME, highlight);
      endTransitions();
    },

    // Without a highlight: where one is, letters have no strokes.
    unfill(count, ...objects) {
      clear(count, objects, true);
      endTransitions();
    },

    // Whether the letters of elements are transparent now, but for the highlight; an inline style may forbid it.
    areBlank(...elements) {
      const isCut = (box) => !isUncut(box, withoutCut(box)) && getComputedStyle(box).opacity !== "0";
      const cut = cutBoxes.filter(isCut);
      return elements.map((element) => {
        const style = getComputedStyle(element);
        const isDrawn = element instanceof SVGElement && !(isClear(style.fill) && isClear(style.stroke));
        return style.textShadow === "none" && !isDrawn && !cut.some((box) => run(box, Node, "contains", element));
      });
    },

    // How many signs of formulas are not.
    countOperators(...roots) {
      const isPainted = (one) => isLaidOut(one) && !isClear(getComputedStyle(one).color);
      const painted = treesOf(roots).flatMap((root) => [...root.querySelectorAll(OPERATOR)]).filter(isPainted);
      return painted.map((one) => part(one, Node, "textContent").trim().length).reduce((sum, one) => sum + one, 0);
    },

    // The same of first letters that have a style of their own.
    isBeginBlank(...elements) {
      return elements.map((element) => {
        const { webkitTextFillColor, textShadow, backgroundClip } = getComputedStyle(element, "::first-letter");
        return isClear(webkitTextFillColor) && textShadow === "none" && !/\btext\b/.test(backgroundClip);
      });
    },

    // The same of what style sheets write before and behind the texts of elements, which layers of styles may forbid.
    isGeneratedBlank(...elements) {
      return elements.map((element) => ["::before", "::after"].every((name) => {
        const { content, webkitTextFillColor, textShadow } = getComputedStyle(element, name);
        return /^(none|normal)$/.test(content) || (isClear(webkitTextFillColor) && textShadow === "none");
      }));
    },

    areLined(count, ...objects) {
      const known = new Map();
      const hasLines = (element) => LINEABLE.map((look) => getComputedStyle(element, look)).some((style) =>
        style.textDecorationLine !== "none" || (style.textEmphasisStyle !== "none" && !isClear(style.textEmphasisColor)));
      const isLined = (node) => {
        if (!node) return false;
        if (!known.has(node)) known.set(node, (node instanceof Element && hasLines(node)) || isLined(above(node)));
        return known.get(node);
      };
      const trees = treesOf(objects.slice(count));
      const isSlotLined = trees.some((tree) => [...tree.querySelectorAll("slot")].some(isLined));
      return objects.slice(0, count).map((node) => isSlotLined || isLined(above(node)));
    },

    unline(...roots) {
      unlinedTrees = treesOf(roots);
      adopt([unlined], unlinedTrees);
    },

    reline() {
      drop([unlined], unlinedTrees);
    },

    unblank() {
      CSS.highlights.delete(NAME);
      drop([blanked, unmarked, shadowless, ...beginnings.values()], blankTrees);
      for (const animation of blanks) animation.cancel();
      blanks = [];
      endTransitions();
    },
  };
})());
