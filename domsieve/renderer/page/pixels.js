// Evaluated once per document in an isolated world, while the scripts of the page are off. Nothing here may be seen by
// the style sheets of the page: elements are changed by animations, never by attributes.
// still(...roots): pauses animations, and those of SVG; returns how many of the former there were, how many of them
// go on, since they follow what is scrolled, and how many wait, maybe until a reader scrolls to something.
// hasDriven(...roots): whether any follow what is scrolled.
// advance(ms): brings all that was paused, and is where it was, to another time.
// loosen(), settle(): let transitions begin, and bring them, and all that began or waited until now, to where they are
// after some time; returns whether any of these follow what is scrolled.
// isInTransition(): whether the browser shows pictures of what was there before.
// reveal(...roots): shows the content of boxes that have none far from the window.
// hasCanvas(...roots), canvasStyles(...roots): whether there is any canvas, and how they are laid out.
// relay(...roots): lays canvases out anew.
// isDriven(...lifted): see below.
// isLocked(), release(): whether the page is locked, and releases it.
// properties(): the names of all computed properties that are not made up by the page.
// isEmpty(element): see below.
// unboxed(...): what no capture has of the styles.
// isHidden(), count(), counted(): whether the window is, and how often a timer has run, to know whether scripts run.
// blank(count, ...nodes, ...roots): makes the letters of `count` text nodes transparent; with -1, all letters of the
// document and of the closed shadow trees `roots`. unfill(...): the same, but their strokes and shadows stay.
// unblank(): undoes both.
// cut(...elements): blanks the backgrounds of these, too, which are cut to letters.
// put(element, keyframe), scroll(element, left, top): change an element for the pictures.
// stays(isLively, ...elements), places(...elements), isReached(element, isBehind), areBlank(...elements): see below.
// isLive(element): whether a worker may draw a canvas, or feed a video.
// isLate(isClosed, element): whether a lazy picture, video or frame may not be there yet, if it is in a closed shadow tree,
// or in a frame of another origin; others are known before.
// hasFonts(), alike(...groups): whether the document loads fonts, and which groups of [font, letters] draw all alike.
// lines(...nodes): where the lines of texts are, and how large drawings are shown.
// firstLines(...nodes): see below. glyphs(...nodes): where the letters of texts along paths are.
// measured(fonts, lines), drawn(fonts, lines, width, height, scale): the letters of lines, apart from the page.
// scrollPage(left, top): scrolls the page; returns how far, and the size of the window.
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
  // Ids outweigh almost all rules of pages.
  const strong = (selector) => `:is(${selector}, ${"#domsieve".repeat(9)} *)`;
  // What snaps does not stay where it is scrolled to.
  const stilled = sheet("* { scroll-snap-type: none !important }");
  const caretless = sheet("* { caret-color: transparent !important }");
  const lit = sheet("* { caret-animation: manual !important }");
  const unbacked = sheet("::backdrop { background: none !important; backdrop-filter: none !important }");
  // Transitions that have begun go on, but none begins.
  const SUDDEN = "transition-duration: 0s !important; transition-delay: 0s !important;";
  const sudden = sheet(["", "::before", "::after"].map((name) => `${strong("*")}${name} { ${SUDDEN} }`).join(""));
  const blanked = sheet(`::highlight(${NAME}) { color: transparent; text-decoration: none;
      -webkit-text-fill-color: transparent; -webkit-text-stroke-color: transparent }`);
  // The browser's own highlights lie above all others.
  const unmarked = sheet(["::target-text", "::selection", "::spelling-error", "::grammar-error"].map((name) =>
    `${name} { color: transparent !important; -webkit-text-fill-color: transparent !important; text-decoration: none !important }`).join(""));
  // No highlight changes shadows, letters of SVG and generated text.
  // What is drawn in other places than its own keeps its letters: there they would be taken for those of other texts.
  const drawnElsewhere = "defs, pattern, mask, marker, symbol, clipPath, filter";
  const rules = (elsewhere, all, drawn, generated) => {
    const here = `:not(:is(${elsewhere}), :is(${elsewhere}) *)`;
    return `${strong(`*${here}`)} { ${all} }
    ${strong(`:is(text, tspan, textPath)${here}`)} { fill: transparent !important; ${drawn} }
    ${strong("*")}::before, ${strong("*")}::after { -webkit-text-fill-color: transparent !important; ${generated} }`;
  };
  const blankRules = (elsewhere) => rules(elsewhere, "text-shadow: none !important", "stroke: transparent !important",
    "-webkit-text-stroke-color: transparent !important; text-shadow: none !important");
  const unfilledRules = (elsewhere) => rules(elsewhere, "-webkit-text-fill-color: transparent !important", "", "");
  const shadowless = sheet("");
  const unlaid = sheet(`${strong("canvas")} { display: none !important }`);
  const released = sheet(`${strong(":root")} { overflow-y: auto !important }
    ${strong(":root > body")} { overflow: visible !important }`);

  const open = function* (root) {
    yield root;
    for (const element of root.querySelectorAll("*")) {
      const inner = part(element, Element, "shadowRoot");
      if (inner) yield* open(inner);
    }
  };
  // What is folded away would be laid out if it was asked for its style.
  const isLaidOut = (element) => run(element, Element, "checkVisibility");
  const trees = (roots) => [document, ...roots].flatMap((root) => [...open(root)]);
  const adopt = (sheets, all) => {
    for (const root of all) root.adoptedStyleSheets = [...root.adoptedStyleSheets, ...sheets];
  };
  const drop = (sheets, all) => {
    for (const root of all) {
      root.adoptedStyleSheets = [...root.adoptedStyleSheets].filter((one) => !sheets.includes(one));
    }
  };

  // Nobody reads what is thrown about by so many px in so short a time, for ever.
  const [THROWN_PX, THROWN_MS] = [20, 300];
  const isThrown = (animation, target) => {
    const { endTime, duration, delay } = animation.effect.getComputedTiming();
    if (!target || endTime !== Infinity || !(duration < THROWN_MS)) return false;
    const time = animation.currentTime;
    const places = [0, 0.25, 0.5, 0.75].map((share) => {
      animation.currentTime = delay + share * duration;
      const { left, top, right, bottom } = rectOf(target);
      return [left, top, right, bottom];
    });
    animation.currentTime = time;
    return [0, 1, 2, 3].some((edge) => {
      const all = places.map((place) => place[edge]);
      return Math.max(...all) - Math.min(...all) > THROWN_PX;
    });
  };
  // Animations are as readers find them now: what ends soon had time for it.
  const hold = (animation) => {
    const { target, pseudoElement } = animation.effect ?? {};
    begun.add(animation);
    const isWaiting = animation.playState === "paused" && !paused.some(([one]) => one === animation)
      && !(animation instanceof CSSTransition)
      && !(animation instanceof CSSAnimation && /paused/.test(getComputedStyle(target, pseudoElement).animationPlayState));
    if (isWaiting) waiting.push([animation, animation.currentTime]);
    if (animation.playState !== "running") return;
    if (isDriven(animation)) {
      driven.push(animation); // it follows what is scrolled for the pictures
    } else {
      paused.push([animation, animation.currentTime]);
      animation.pause();
      if (isThrown(animation, target)) put(target, { opacity: "0", clipPath: "inset(50%)" });
    }
  };

  // Each tree has its own.
  const animationsOf = (roots) =>
    roots.flatMap((root) => run(root, root === document ? Document : ShadowRoot, "getAnimations"));

  const isDriven = ({ timeline }) => timeline instanceof ScrollTimeline;
  // Brings animations that have just begun to where they are after some time; returns whether any is driven.
  const bringOn = () => {
    const fresh = animationsOf(known).filter((one) => !begun.has(one));
    for (const animation of fresh) {
      if (isDriven(animation) || animation.playState !== "running") continue;
      begun.add(animation);
      if (animation.effect.getComputedTiming().endTime <= ENDS_MS) animation.finish();
      else {
        animation.currentTime = ENDS_MS * (1 + Math.random()); // no page can know when
        animation.pause();
      }
    }
    return fresh.some(isDriven);
  };

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

  // What letters inherit.
  const OF_LETTERS = ["color", "webkitTextFillColor", "webkitTextStrokeColor", "textShadow", "font", "letterSpacing",
    "wordSpacing", "textTransform"];
  // What the fonts of the page draw for some letters.
  const drawnBy = (letters) => {
    const [CELL, COLUMNS] = [20, 50];
    const pen = new OffscreenCanvas(CELL * COLUMNS, CELL * Math.ceil(letters.length / COLUMNS) || 1)
      .getContext("2d", { willReadFrequently: true });
    return [...document.fonts].map(({ family, style, weight, status }) => {
      const { width, height } = pen.canvas;
      pen.clearRect(0, 0, width, height);
      pen.font = `16px ${family}`;
      pen.font = `${style} ${weight} 16px ${family}`;
      if (status === "loaded") {
        letters.forEach((letter, at) => pen.fillText(letter, CELL * (at % COLUMNS), CELL * Math.floor(at / COLUMNS) + 15));
      }
      const { data } = pen.getImageData(0, 0, width, height);
      let sum = 0;
      for (let at = 3; at < data.length; at += 4) sum = (31 * sum + data[at]) | 0;
      return [family, style, weight, sum].join();
    }).join(";");
  };

  const paused = [];
  const held = [];
  const driven = [];
  const begun = new Set();
  const waiting = [];
  const stopped = [];
  const changed = new Map();
  const cutBoxes = [];
  const scrolled = new Map();
  let counter = 0;
  let counted = 0;
  let known = [];
  let blankTrees = [];
  let blanks = [];

  // Animations are the only change of an element that no selector matches.
  const animated = (element, keyframe, pseudoElement = null) => {
    const animation = run(element, Element, "animate", keyframe, { duration: 1, fill: "forwards", pseudoElement });
    animation.finish();
    return animation;
  };

  const put = (element, keyframe) => {
    if (!changed.has(element)) changed.set(element, animated(element, keyframe));
  };

  const undo = (element) => {
    changed.get(element)?.cancel();
    changed.delete(element);
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
    const [style, without] = [getComputedStyle(element), withoutCut(element)];
    const blanked = animated(element, without);
    const isBlank = Object.entries(without).every(([name, value]) => style[name] === value || isClear(style[name]));
    return isBlank ? [blanked] : [blanked, animated(element, { opacity: "0", clipPath: "inset(50%)" })];
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
    };
    const kept = [...run(element, Element, "querySelectorAll", ":scope > *")].map((child) => {
      const style = getComputedStyle(child);
      return [child, Object.fromEntries(Object.keys(empty).map((name) => [name, style[name]]))];
    });
    blanks.push(animated(element, empty));
    for (const [child, keyframe] of kept) blanks.push(animated(child, keyframe));
  };

  // Animations that end in so many ms are as they end.
  const ENDS_MS = 5000;

  // See `blank` and `unfill`; returns the text nodes, or null for all.
  const clear = (count, objects, isFilling) => {
    const nodes = count < 0 ? null : objects.slice(0, count);
    blankTrees = trees(objects.slice(Math.max(count, 0)));
    if (!nodes) {
      const elsewhere = [drawnElsewhere, ...drawnAgain(blankTrees)].join();
      shadowless.replaceSync(isFilling ? unfilledRules(elsewhere) : blankRules(elsewhere));
      adopt([shadowless], blankTrees);
    }
    blanks = nodes ? [] : cutBoxes.flatMap(blankCut);
    for (const parent of new Set((nodes ?? []).map((node) => part(node, Node, "parentNode")))) {
      if (!(parent instanceof Element)) continue;
      if (isFilling || parent instanceof SVGElement || getComputedStyle(parent).textShadow !== "none") {
        blankAlone(parent, isFilling);
      }
    }
    return nodes;
  };

  const paper = (width, height) => {
    const found = own("createElement").call(document, "canvas");
    [found.width, found.height] = [width, height];
    return found;
  };

  const OF_LINES = ["fontStyle", "fontWeight", "fontFamily", "fontVariantCaps", "fontStretch", "textRendering", "fontSize",
    "letterSpacing", "wordSpacing", "textTransform"];
  const MOST_GLYPHS = 5_000;
  // The code units of a path, of which it says how many it draws, each with its text; empty if they are not clear.
  const charactersOf = (path, count) => {
    const [all, joined] = [[], []];
    const texts = own("createTreeWalker").call(document, path, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      for (const unit of part(text, CharacterData, "data").split("")) {
        const letter = /\s/.test(unit) ? " " : unit;
        all.push([letter, text]);
        if (letter !== " " || joined.at(-1)?.[0] !== " ") joined.push([letter, text]);
      }
    }
    const [first, last] = [0, -1].map((at) => (joined.at(at)?.[0] === " " ? 1 : 0));
    const { length } = joined;
    return [all, joined, joined.slice(first), joined.slice(0, length - last), joined.slice(first, length - last)]
      .find((one) => one.length === count) ?? [];
  };
  // Letters of a varied font have another width than those that a canvas can draw.
  const MOST_MISFIT = 0.08;
  const STRETCHES = [
    [50, "ultra-condensed"], [62.5, "extra-condensed"], [75, "condensed"], [87.5, "semi-condensed"], [100, "normal"],
    [112.5, "semi-expanded"], [125, "expanded"], [150, "extra-expanded"], [200, "ultra-expanded"],
  ];
  // Of the fonts of a family, browsers take the next narrower one than a narrow width, or wider than a wide one.
  const stretched = (value) => {
    const width = parseFloat(value) || 100;
    const found = width > 100 ? STRETCHES.find(([one]) => one >= width) : STRETCHES.findLast(([one]) => one <= width);
    return found?.[1] ?? (width > 100 ? "ultra-expanded" : "ultra-condensed");
  };
  const RENDERINGS = ["optimizeSpeed", "optimizeLegibility", "geometricPrecision"];
  // Letters that are narrower than this where a drawing is stretched cannot be read.
  const LEAST_LETTER_PX = 2.5;
  // Lines are as high as the font, rounded; if they differ by more than this share, the page is enlarged.
  const ROUNDED = 0.08;
  // Letters are at whole pixels of a picture, so that the smallest shift or scale may move some of them by one.
  const exact = (value, whole = 1) => (Math.abs(value - whole) < 0.005 ? whole : value);
  // How a pen draws a line at its place: see `Letters` in _pixel_letters.py for what a line is. What has no transform
  // fills its box: it may be enlarged as a whole, and its words may be apart. Spaces at its ends may be outside of it.
  const laid = (pen, fonts, line) => {
    const { text, font, letterSpacing, wordSpacing, direction, box, map, upright, place, isDrawing } = line;
    pen.font = "10px sans-serif";
    const [style, size, family, caps, stretch, rendering] = fonts[font];
    const [left, top, right, bottom] = box;
    const high = () => {
      const { fontBoundingBoxAscent, fontBoundingBoxDescent } = pen.measureText("");
      return [fontBoundingBoxAscent, fontBoundingBoxDescent];
    };
    pen.font = `${style} ${size}px ${family}`;
    // The letters of drawings are set in the size that they have on the page, others in that of their font.
    const times = isDrawing && map ? Math.sqrt(Math.abs(map[0] * map[3] - map[1] * map[2])) || 1 : 1;
    const enlarged = map || place ? times : (bottom - top) / high().reduce((first, second) => first + second);
    const zoom = Math.abs(enlarged - 1) < ROUNDED ? 1 : enlarged;
    pen.font = `${style} ${size * zoom}px ${family}`;
    const [letter, word] = [letterSpacing * zoom, wordSpacing * zoom];
    [pen.letterSpacing, pen.wordSpacing] = [`${letter}px`, `${word}px`];
    [pen.fontVariantCaps, pen.direction, pen.textAlign] = [caps, direction, "left"];
    pen.fontStretch = stretched(stretch);
    pen.textRendering = RENDERINGS.find((one) => one.toLowerCase() === rendering) ?? "auto";
    const wideOf = (piece) => pen.measureText(piece).width;
    if (place) {
      const [a, b, c, d, e, f] = place;
      [pen.letterSpacing, pen.wordSpacing] = ["0px", "0px"];
      const [at, wide] = [[0, 0], wideOf(text)];
      return { piece: text, at, wide, misfit: 0, matrix: [a, b, c, d, left + e, top + f], begin: 0, room: 1,
        glyphs: [{ piece: text, at, wide }] };
    }
    const [above, below] = high().map(Math.round);
    let [a, b, c, d] = (map ?? [1, 0, 0, 1]).map((one) => one / (map ? zoom : 1));
    if (!map) a = d = exact((bottom - top) / (above + below));
    let [piece, misfit, isStretched] = [text, 0, false];
    if (!b && !c) {
      const rest = (one) => (right - left) / Math.abs(a) - wideOf(one);
      const pieces = [...new Set([text, text.trimEnd(), text.trimStart(), text.trim()])];
      piece = pieces.reduce((best, one) => (Math.abs(rest(one)) < Math.abs(rest(best)) ? one : best));
      misfit = Math.abs(rest(piece)) / (wideOf(piece) || 1);
      // Drawings may be stretched to the side.
      isStretched = isDrawing && !map && misfit > MOST_MISFIT;
      if (isStretched) a = (right - left) / (wideOf(piece) || 1);
      if (!isDrawing && upright === null && IDEOGRAPH.test(piece) && rest(piece) > MOST_MISFIT * wideOf(piece)) {
        const wide = (right - left) / Math.abs(a);
        const at = [-wide / 2, (above - below) / 2];
        return { piece, at, wide, misfit: 0, matrix: [a, b, c, d, (left + right) / 2, (top + bottom) / 2],
          begin: text.indexOf(piece), glyphs: spread(piece, at, rest(piece), wideOf) };
      }
      const spaces = piece.split(/[ \u00a0]/).length - 1;
      if (spaces) pen.wordSpacing = `${word + exact(rest(piece) / spaces, 0)}px`;
      else if (!map) a = exact((right - left) / (wideOf(piece) || 1));
    }
    if (upright !== null) piece = text.trim();
    let wide = wideOf(piece);
    const base = (above - below) / 2;
    const matrix = [a, b, c, d, (left + right) / 2, (top + bottom) / 2];
    const found = { piece, at: [-wide / 2, base], misfit, matrix, begin: text.indexOf(piece) };
    if (upright === null) {
      const room = isStretched ? Number(right - left >= LEAST_LETTER_PX * [...piece].length) : undefined;
      return { ...found, wide, glyphs: [{ piece, at: found.at, wide }], room };
    }
    wide = Math.abs(b) > Math.abs(a) ? (bottom - top) / Math.abs(b) : (right - left) / Math.abs(a);
    const glyphs = apart(piece, upright).map(([one, isUpright]) => ({ piece: one, isUpright, wide: wideOf(one) }));
    const lying = glyphs.reduce((sum, glyph) => sum + (glyph.isUpright ? 0 : glyph.wide), 0);
    const tall = (wide - lying) / (glyphs.filter((glyph) => glyph.isUpright).length || 1);
    let from = -wide / 2;
    for (const glyph of glyphs) {
      if (glyph.isUpright) glyph.wide = tall;
      glyph.at = [glyph.isUpright ? from + (tall - letter) / 2 : from, base];
      from += glyph.wide;
    }
    return { ...found, at: [-wide / 2, base], wide, glyphs, room: tall / size };
  };
  // The pieces of a justified line with ideographs, beside each of which there is room as there is at spaces.
  const IDEOGRAPH = /[\u2e80-\u312f\u31a0-\ua4cf\uf900-\ufaff\uff01-\uff60]/;
  const spread = (text, [from, base], room, wideOf) => {
    const letters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => ({ piece: segment, gaps: 0 }));
    letters.forEach((letter, at) => {
      const [isWide, before] = [IDEOGRAPH.test(letter.piece), letters[at - 1]];
      if (isWide && before && !before.gaps) before.gaps = 1;
      letter.gaps = Number(isWide || /\s/.test(letter.piece));
    });
    letters.at(-1).gaps = 0;
    const count = letters.reduce((sum, { gaps }) => sum + gaps, 0) || 1;
    const glyphs = [];
    let isOpen = true;
    for (const { piece, gaps } of letters) {
      if (isOpen) glyphs.push({ piece: "", gaps: 0 });
      glyphs.at(-1).piece += piece;
      glyphs.at(-1).gaps = gaps;
      isOpen = gaps > 0;
    }
    return glyphs.map(({ piece, gaps }) => {
      const glyph = { piece, at: [from, base], wide: wideOf(piece) + gaps * room / count };
      from += glyph.wide;
      return glyph;
    });
  };
  // The upright letters of a line that goes down, from a code point on, and the pieces between them, that lie.
  const apart = (text, upright) => {
    const found = [];
    for (const { segment } of new Intl.Segmenter().segment(text)) {
      const isUpright = segment.codePointAt(0) >= upright;
      if (isUpright || !found.length || found.at(-1)[1]) found.push([segment, isUpright]);
      else found.at(-1)[0] += segment;
    }
    return found;
  };

  // The box of a text of a drawing. Browsers give it as if `textLength` did not stretch the letters; texts that share their
  // element with others are left so.
  const widened = (box, element, text, { a, b, c, e }) => {
    const isStretched = (one) => one instanceof SVGTextContentElement && (isStretched(above(one))
      || (part(one, SVGTextContentElement, "lengthAdjust").baseVal === SVGTextContentElement.LENGTHADJUST_SPACINGANDGLYPHS
        && run(one, Element, "hasAttribute", "textLength")));
    const isAlone = part(element, Node, "textContent") === part(text, CharacterData, "data");
    if (b || c || !isAlone || !isStretched(element)) return box;
    const count = run(element, SVGTextContentElement, "getNumberOfChars");
    if (!count) return box;
    const ends = [["getStartPositionOfChar", 0], ["getEndPositionOfChar", count - 1]].map(([name, at]) =>
      a * run(element, SVGTextContentElement, name, at).x + e + scrollX);
    return [Math.min(...ends), box[1], Math.max(...ends), box[3]];
  };

  const above = (node) => part(node, Node, "parentNode") ?? (node instanceof ShadowRoot ? node.host : null);
  const rectOf = (element) => run(element, Element, "getBoundingClientRect");

  // Whether what is at a place is an element or in it, or is no obstacle: fixed boxes that are hidden here go away.
  const isFor = (hit, element, root) => {
    if (!hit) return true;
    const isSlotted = run(hit, Node, "getRootNode") !== root;
    for (let node = hit; node; node = above(node)) {
      if (node === element || (isSlotted && node === root.host)) return true;
      if (changed.has(node) && getComputedStyle(node).position === "fixed") return true;
      if (node instanceof Element && keepsWheel(getComputedStyle(node))) return false;
    }
    return false;
  };
  // A box that keeps the wheel for itself, so that nothing around it is scrolled.
  const keepsWheel = ({ overflowX, overflowY, overscrollBehaviorX, overscrollBehaviorY }) =>
    /auto|scroll|hidden/.test(overflowX + overflowY) && [overscrollBehaviorX, overscrollBehaviorY].some((one) => one !== "auto");
  const isScrolled = ({ overflowX, overflowY }) => /auto|scroll/.test(overflowX + overflowY);
  const isInert = (element) => getComputedStyle(element).interactivity === "inert";

  const MOST_INSIDE = 300; // in a fixed box that is looked at
  const digest = (text) => {
    let sum = 0;
    for (let at = 0; at < text.length; at++) sum = (31 * sum + text.charCodeAt(at)) | 0;
    return sum;
  };
  // No page can know where exactly.
  const places = () => [0.02, 0.26, 0.5, 0.74, 0.98].map((place) => place + 0.03 * (Math.random() - 0.5));
  const isReached = (element, isBehind) => {
    // The page behind a dialog is inert as long as that is open.
    for (let node = element; node; node = above(node)) {
      if (node.inert === true || (node === element && isInert(node))) return isBehind || own("querySelector").call(document, ":modal") ? "by a pointer" : "";
    }
    const takesKeys = (one) => one.tabIndex >= 0 && !(one instanceof HTMLIFrameElement) && !isInert(one)
      && !run(one, Element, "closest", "[inert]") && !run(one, Element, "matches", ":disabled")
      && run(one, Element, "checkVisibility", { visibilityProperty: true });
    if ([element, ...run(element, Element, "querySelectorAll", "*")].some(takesKeys)) return "by keys";
    // Bring it into the middle of the window, but leave the windows around frames as they are.
    const moved = [];
    for (let node = above(element); node; node = above(node)) {
      // A reader cannot scroll others.
      if (!(node instanceof Element) || (node !== own("scrollingElement") && !isScrolled(getComputedStyle(node)))) continue;
      moved.push([node, part(node, Element, "scrollLeft"), part(node, Element, "scrollTop")]);
      const { left, top, right, bottom } = rectOf(element);
      const port = node === own("scrollingElement") ? { left: 0, top: 0, right: innerWidth, bottom: innerHeight } : rectOf(node);
      run(node, Element, "scrollBy", {
        left: (left + right - port.left - port.right) / 2, top: (top + bottom - port.top - port.bottom) / 2, behavior: "instant",
      });
    }
    const { left, top, right, bottom } = rectOf(element);
    const [x, y] = [Math.max(left, 0), Math.max(top, 0)];
    const [wide, high] = [Math.min(right, innerWidth) - x, Math.min(bottom, innerHeight) - y];
    const root = run(element, Node, "getRootNode");
    const hit = (across, down) => run(root, root instanceof ShadowRoot ? ShadowRoot : Document, "elementFromPoint",
      x + across * wide, y + down * high);
    const found = places().some((across) => places().some((down) => isFor(hit(across, down), element, root)));
    for (const [node, left, top] of moved) run(node, Element, "scrollTo", { left, top, behavior: "instant" });
    return found ? "by a pointer" : "";
  };

  return {
    put,
    undo,

    // Left, top, right and bottom of the lines of each text, in CSS px of the page; and of one in a drawing, what makes
    // these of its units.
    lines(...nodes) {
      return nodes.map((node) => {
        const range = new Range();
        range.selectNodeContents(node);
        const boxes = [...range.getClientRects()].map(({ left, top, right, bottom }) =>
          [left + scrollX, top + scrollY, right + scrollX, bottom + scrollY]);
        const parent = part(node, Node, "parentNode");
        const matrix = parent instanceof SVGGraphicsElement ? run(parent, SVGGraphicsElement, "getScreenCTM") : null;
        if (matrix && boxes.length === 1) boxes[0] = widened(boxes[0], parent, node, matrix);
        return [boxes, matrix && [matrix.a, matrix.b, matrix.c, matrix.d]];
      });
    },

    // Of each text, the styles of the first line of a block that it is in, if these are not its own; null for none.
    firstLines(...nodes) {
      const known = new Map([[null, null]]);
      const around = (element) => {
        if (!known.has(element)) {
          const [own, first] = [getComputedStyle(element), getComputedStyle(element, "::first-line")];
          const differs = OF_LINES.some((name) => own[name] !== first[name]);
          known.set(element, differs ? OF_LINES.map((name) => first[name]) : around(part(element, Node, "parentElement")));
        }
        return known.get(element);
      };
      return nodes.map((node) => around(part(node, Node, "parentElement")));
    },

    // Of each text along a path, its letters with their matrices, which begin where these are, in CSS px of the page.
    glyphs(...nodes) {
      let left = MOST_GLYPHS;
      return nodes.map((node) => {
        const path = run(part(node, Node, "parentElement"), Element, "closest", "textPath");
        if (!(path instanceof SVGTextContentElement)) return [];
        const count = run(path, SVGTextContentElement, "getNumberOfChars");
        const screen = run(path, SVGGraphicsElement, "getScreenCTM");
        const units = count <= left && screen ? charactersOf(path, count) : [];
        left -= units.length;
        return units.flatMap(([unit, owner], at) => {
          if (owner !== node || /[\udc00-\udfff]/.test(unit)) return [];
          const letter = /[\ud800-\udbff]/.test(unit) ? unit + (units[at + 1]?.[0] ?? "") : unit;
          const { x, y } = run(path, SVGTextContentElement, "getStartPositionOfChar", at);
          const angle = run(path, SVGTextContentElement, "getRotationOfChar", at);
          const { a, b, c, d, e, f } = screen.translate(x, y).rotate(angle);
          return [[letter, [a, b, c, d, e + scrollX, f + scrollY]]];
        });
      });
    },

    // Where the ink of each line is, and how high if it is not transformed; where in its width some of its letters begin
    // and end, and boxes around these if it is turned; and the room of its letters over that of the same ones with no other space between them and no other
    // width. null for a line that cannot be drawn.
    measured(fonts, lines) {
      const pen = run(paper(1, 1), HTMLCanvasElement, "getContext", "2d");
      return lines.map((line) => {
        const { piece, wide, at, misfit, glyphs, room, matrix: [a, b, c, d, e, f], begin } = laid(pen, fonts, line);
        if (![a, b, c, d, e, f, wide].every(Number.isFinite) || !wide) return null;
        if (line.isVaried && misfit > MOST_MISFIT) return null;
        const ink = pen.measureText(piece);
        const xs = line.upright !== null || glyphs.length > 1 ? [at[0], -at[0]] : [at[0] - ink.actualBoundingBoxLeft, at[0] + ink.actualBoundingBoxRight];
        const ys = [at[1] - ink.actualBoundingBoxAscent, at[1] + ink.actualBoundingBoxDescent];
        const around = (xs, ys) => {
          const corners = xs.flatMap((x) => ys.map((y) => [a * x + c * y + e, b * x + d * y + f]));
          const [across, down] = [0, 1].map((axis) => corners.map((corner) => corner[axis]));
          return [Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down)];
        };
        // How much of the line the first letters take, counted in code units.
        const place = (end) => {
          let [units, taken] = [0, 0];
          for (const { piece: one, wide: own } of glyphs) {
            const part = one.slice(0, Math.max(end - units, 0));
            taken += part === one ? own : pen.measureText(part).width;
            units += one.length;
          }
          return taken / wide;
        };
        const ends = line.ends.length > 1 || line.place ? line.ends.map((pair) => pair.map((end) => place(end - begin))) : [];
        const { fontBoundingBoxAscent, fontBoundingBoxDescent } = pen.measureText("");
        const boxes = !line.place && !b && !c ? [] : ends.map(([from, to]) => around(
          [at[0] + from * wide, at[0] + to * wide], [at[1] - fontBoundingBoxAscent, at[1] + fontBoundingBoxDescent]));
        pen.wordSpacing = "0px";
        const close = pen.measureText(piece).width;
        pen.letterSpacing = "0px";
        const natural = pen.measureText(piece).width || 1;
        return {
          ink: around(xs, ys),
          boxes,
          room: room ?? (Math.min(wide, close) / natural) * (line.map ? 1 : a / d),
          high: line.map || line.place ? null : d * (ink.actualBoundingBoxAscent + ink.actualBoundingBoxDescent),
          ends,
          misfit,
        };
      });
    },

    drawn(fonts, lines, width, height, scale) {
      const sheet = paper(width, height);
      const pen = run(sheet, HTMLCanvasElement, "getContext", "2d", { willReadFrequently: true });
      pen.fillRect(0, 0, width, height);
      pen.globalCompositeOperation = "lighter";
      for (const line of lines) {
        pen.fillStyle = ["#f00", "#0f0", "#00f"][line.ink];
        const { glyphs, matrix } = laid(pen, fonts, line);
        pen.setTransform(...matrix.map((one) => scale * one));
        for (const { piece, at: [x, y], isUpright } of glyphs) {
          if (!isUpright) {
            pen.fillText(piece, x, y);
            continue;
          }
          pen.save();
          [pen.letterSpacing, pen.textAlign] = ["0px", "center"];
          pen.transform(0, -1, 1, 0, x, 0); // no rotation, whose numbers are not exact
          pen.fillText(piece, 0, y);
          pen.restore();
        }
      }
      return run(sheet, HTMLCanvasElement, "toDataURL").split(",")[1];
    },

    still(...roots) {
      known = trees(roots);
      const animations = animationsOf(known);
      animations.forEach(hold);
      // A caret that is more than a bar may cover text.
      const isBar = (one) => !one || /^(auto|bar|undefined)$/.test(getComputedStyle(one).caretShape);
      adopt([stilled, sudden, known.every((root) => isBar(root.activeElement)) ? caretless : lit], known);
      const backed = known.flatMap((root) => [...root.querySelectorAll(":modal, :popover-open, :fullscreen")]);
      // Those that go with the page are covers of its text.
      if (backed.every((one) => getComputedStyle(one, "::backdrop").position === "fixed")) adopt([unbacked], known);
      for (const root of known) {
        for (const drawing of root.querySelectorAll("svg")) {
          // Only the outermost have a clock.
          if (part(drawing, SVGElement, "ownerSVGElement") || run(drawing, SVGSVGElement, "animationsPaused")) continue;
          run(drawing, SVGSVGElement, "pauseAnimations");
          stopped.push([drawing, run(drawing, SVGSVGElement, "getCurrentTime")]);
        }
      }
      return [animations.length, driven.length, waiting.length];
    },

    advance(ms) {
      for (const one of paused) {
        const [animation, time, last] = one;
        // Others have been brought to another time already; a pause takes a moment.
        if (Math.abs(animation.currentTime - (last ?? time)) > 200) continue;
        animation.currentTime = one[2] = time + ms * animation.playbackRate;
      }
      for (const [drawing, time] of stopped) run(drawing, SVGSVGElement, "setCurrentTime", time + ms / 1000);
    },

    hasDriven(...roots) {
      return animationsOf(trees(roots)).some(isDriven);
    },

    loosen() {
      drop([sudden], known);
    },

    settle() {
      adopt([sudden], known);
      const late = waiting.map(([animation]) => animation).filter(({ effect, playState }) => {
        // Triggers look at what is laid out.
        if (effect?.target) rectOf(effect.target);
        return playState === "running";
      });
      for (const animation of late) {
        if (animation.effect.getComputedTiming().endTime <= ENDS_MS) animation.finish();
        else animation.pause();
      }
      return bringOn();
    },

    isInTransition() {
      return Boolean(document.activeViewTransition);
    },

    // Boxes with `content-visibility: auto` have content only near the window, which a picture of the page is not.
    reveal(...roots) {
      for (const root of trees(roots)) {
        for (const element of root.querySelectorAll("*")) {
          if (!isLaidOut(element)) continue;
          const { contentVisibility, translate, overflow, display } = getComputedStyle(element);
          if (contentVisibility !== "auto") continue;
          held.push(animated(element, {
            contentVisibility: "visible",
            ...(translate === "none" ? { translate: "0px" } : {}), // as in ../browser/tab.js
            ...(overflow === "visible" ? { overflow: "clip" } : {}),
            ...(display === "block" ? { display: "flow-root" } : {}),
          }));
        }
      }
    },

    // A canvas that is laid out while scripts are off has no picture.
    relay(...roots) {
      const all = trees(roots);
      adopt([unlaid], all);
      const isLaid = all.some((root) => [...root.querySelectorAll("canvas")].some((one) => getComputedStyle(one).display !== "none"));
      drop([unlaid], all);
      if (bringOn()) animationsOf(known).filter(isDriven).forEach((one) => begun.add(one)); // they begin anew
      if (isLaid) throw new Error("A canvas cannot be laid out anew.");
    },

    hasCanvas(...roots) {
      return trees(roots).some((root) => root.querySelector("canvas"));
    },

    // How canvases and all around them are laid out: they are laid out anew if this changes.
    canvasStyles(...roots) {
      const canvases = trees(roots).flatMap((root) => [...root.querySelectorAll("canvas")]);
      return canvases.map((canvas) => {
        const found = [];
        for (let node = canvas; node; node = above(node)) {
          if (!(node instanceof Element)) continue;
          const { display, contentVisibility } = getComputedStyle(node);
          found.push(display, contentVisibility);
        }
        return found.join();
      });
    },

    // Whether an animation follows the scrolling of the page, or of what is outside of this frame, other than in some
    // elements.
    isDriven(...lifted) {
      const root = window.parent === window ? own("scrollingElement") : null;
      const isLifted = ({ target }) => lifted.some((one) => run(one, Node, "contains", target));
      return driven.some(({ timeline: { source }, effect }) =>
        source && (source === root || source.ownerDocument !== document) && !isLifted(effect ?? {}));
    },

    // A lock keeps readers from scrolling down. The picture shows what it cuts, unless both root and body have one.
    // What is cut at the sides stays cut.
    isLocked() {
      const [root, body] = [own("documentElement"), own("body")];
      const locks = (element) => element && /hidden|clip/.test(getComputedStyle(element).overflowY);
      const overflows = (element) => part(element, Element, "scrollHeight") > part(element, Element, "clientHeight") + 1;
      return Boolean(root && getComputedStyle(root).overflow !== "visible" && locks(body) && overflows(body));
    },

    release() {
      adopt([released], [document]);
      const [root, body] = [own("documentElement"), own("body")];
      // A box with an overflow keeps the margins of its content inside; with a padding it still does.
      const padding = { paddingTop: `max(${getComputedStyle(body).paddingTop}, 0.02px)` };
      put(root, { overflowY: "auto" });
      put(body, { overflow: "visible", ...padding });
    },

    // Whether the sheet of an element can be read, and has no rules.
    isEmpty(element) {
      const { sheet } = element;
      try {
        return !sheet?.cssRules.length;
      } catch {
        return false; // from another origin
      }
    },

    properties() {
      return [...getComputedStyle(own("documentElement"))].filter((name) => !name.startsWith("--"));
    },

    // What the fonts draw, and the styles of what colours gradients and filters and of pseudo-elements of the text, if
    // style sheets mention these; empty for what is invisible.
    unboxed(hasLines, hasHighlights, ...roots) {
      const pseudos = [
        ...(hasLines ? ["::first-line"] : []),
        ...(hasHighlights ? [...CSS.highlights.keys()].map((name) => `::highlight(${CSS.escape(name)})`) : []),
      ];
      const said = (style, names) => names.map((name) => style[name]).join();
      const all = trees(roots);
      const lines = [drawnBy([...new Set(all.map((root) => (root === document ? own("documentElement") : root).textContent).join(""))].slice(0, 1000))];
      for (const root of all) {
        for (const element of root.querySelectorAll("stop, filter *")) {
          lines.push(said(getComputedStyle(element), ["stopColor", "stopOpacity", "floodColor", "floodOpacity", "lightingColor", "color"]));
        }
        for (const element of pseudos.length ? root.querySelectorAll("*") : []) {
          if (!isLaidOut(element)) {
            lines.push(...pseudos.map(() => ""));
            continue;
          }
          const own = getComputedStyle(element);
          for (const pseudo of pseudos) {
            const style = getComputedStyle(element, pseudo);
            const differs = OF_LETTERS.filter((name) => style[name] !== own[name]);
            lines.push(said(style, [...differs, "backgroundColor", "backgroundImage"]));
          }
        }
      }
      return lines;
    },

    isHidden() {
      return document.visibilityState === "hidden";
    },

    // A timer runs only if scripts are on and the page is not frozen.
    count() {
      counter = setInterval(() => counted++, 1);
    },

    counted() {
      clearInterval(counter);
      return counted;
    },

    // The background of the page is not cut to letters, whatever the root or the body says.
    cut(...elements) {
      const [root, body] = [own("documentElement"), own("body")];
      const isPainted = (style) => style.backgroundImage !== "none" || !isClear(style.backgroundColor);
      const isOfPage = (element) => element === root || (element === body && !isPainted(getComputedStyle(root)));
      cutBoxes.push(...elements.filter((element) => !isOfPage(element)));
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
    },

    // Without a highlight: where one is, letters have no strokes.
    unfill(count, ...objects) {
      clear(count, objects, true);
    },

    // Whether the letters of elements are transparent now, but for the highlight; an inline style may forbid it.
    areBlank(...elements) {
      return elements.map((element) => {
        const style = getComputedStyle(element);
        const isDrawn = element instanceof SVGElement && !(isClear(style.fill) && isClear(style.stroke));
        return style.textShadow === "none" && !isDrawn;
      });
    },

    // Whether the page has handed a canvas over, normally to a worker: that has no context any more. A context that is
    // made here would change what is painted.
    isLive(element) {
      if (element instanceof HTMLVideoElement) return part(element, HTMLMediaElement, "srcObject") !== null;
      try {
        run(element, HTMLCanvasElement, "getContext", "none");
        return false;
      } catch {
        return true;
      }
    },

    isLate(isClosed, element) {
      const isApart = (view) => view.parent !== view && (!view.frameElement || isApart(view.parent));
      if (!isClosed && !isApart(window)) return false;
      const [name, inner] = [part(element, Element, "localName"), element.contentDocument];
      if (name === "img") return !element.naturalWidth;
      // Nothing tells of others whether they are there.
      if (name === "video" || !inner) return name === "video" || element.hasAttribute("sandbox");
      return Boolean(element.getAttribute("src")) && inner.URL === "about:blank";
    },

    hasFonts() {
      return [...document.fonts].some((font) => font.status === "loaded");
    },

    alike(...groups) {
      const [CELL, LEAST] = [48, 0.15]; // px of a letter; what differs of two letters, as a share of the larger one
      const pen = new OffscreenCanvas(16 * CELL, CELL).getContext("2d", { willReadFrequently: true });
      // The alpha of a letter, without the space around it.
      const drawn = (letter) => {
        pen.clearRect(0, 0, CELL, CELL);
        pen.fillText(letter, 6, 36);
        const { data } = pen.getImageData(0, 0, CELL, CELL);
        const alpha = Uint8Array.from({ length: CELL * CELL }, (_, at) => data[4 * at + 3]);
        const first = alpha.findIndex((one) => one > 0);
        if (first < 0) return { alpha: new Uint8Array(CELL * CELL), ink: 0 };
        let left = CELL;
        for (let at = first; at < alpha.length; at++) if (alpha[at]) left = Math.min(left, at % CELL);
        const shift = CELL * Math.floor(first / CELL) + left;
        const moved = new Uint8Array(CELL * CELL);
        moved.set(alpha.subarray(shift));
        return { alpha: moved, ink: moved.reduce((sum, one) => sum + one, 0) };
      };
      const areAlike = (one, other) =>
        one.alpha.reduce((sum, level, at) => sum + Math.abs(level - other.alpha[at]), 0) <= LEAST * Math.max(one.ink, other.ink);
      return groups.map((group) => {
        const [kinds, all] = [[], []];
        for (const [font, letters] of group) {
          pen.font = font;
          for (const letter of letters) {
            const form = drawn(letter);
            all.push(letter);
            if (!kinds.some((kind) => areAlike(kind, form))) kinds.push(form);
          }
        }
        return kinds.length <= all.length / 4;
      });
    },

    // How fixed elements are in the window, and whether they are fixed in the page: boxes with a transform or the like
    // hold what is fixed in them. If styles may follow what is scrolled, it is told how all in them looks.
    stays(isLively, ...elements) {
      const names = isLively ? this.properties() : [];
      const seen = (one) => {
        const { left, top, width, height } = rectOf(one);
        const styles = [null, "::before", "::after"].map((name) => getComputedStyle(one, name));
        const said = (style, at) => (at && style.content === "none" ? "" : names.map((name) => style[name]).join());
        return [left, top, width, height, ...styles.map(said)];
      };
      return elements.map((element) => {
        const inside = isLively ? [element, part(element, Element, "shadowRoot") ?? []].flat()
          .flatMap((root) => [...open(root)]).flatMap((root) => [...root.querySelectorAll("*")]).filter(isLaidOut) : [];
        const isInPage = element instanceof HTMLElement && part(element, HTMLElement, "offsetParent") !== null;
        const look = isLively ? digest([element, ...inside].map(seen).join()) : rectOf(element).top;
        return [look, isInPage || inside.length > MOST_INSIDE];
      });
    },

    // How far the document is scrolled, and where the upper left corners of elements are in it.
    places(...elements) {
      const corners = elements.map(rectOf).map(({ left, top }) => [left + scrollX, top + scrollY]);
      return [[scrollX, scrollY], ...corners];
    },

    // Whether a reader can scroll a box: a pointer reaches it somewhere, or keys do, for something in it takes these.
    // `isBehind` says that there are fixed boxes, of which one may be a dialog.
    isReached,

    unblank() {
      CSS.highlights.delete(NAME);
      drop([blanked, unmarked, shadowless], blankTrees);
      for (const animation of blanks) animation.cancel();
      blanks = [];
    },

    scroll(element, left, top) {
      if (!scrolled.has(element)) {
        scrolled.set(element, [part(element, Element, "scrollLeft"), part(element, Element, "scrollTop")]);
      }
      // As readers do: by how far, not to where, which some style sheets can tell apart.
      const [x, y] = [part(element, Element, "scrollLeft"), part(element, Element, "scrollTop")];
      run(element, Element, "scrollBy", { left: left - x, top: top - y, behavior: "instant" });
      return [part(element, Element, "scrollLeft"), part(element, Element, "scrollTop")];
    },

    scrollPage(left, top) {
      const root = own("scrollingElement") ?? own("documentElement");
      const at = this.scroll(root, left, top);
      return [...at, part(root, Element, "clientWidth"), part(root, Element, "clientHeight")];
    },

    restore() {
      for (const [element, [left, top]] of scrolled) {
        run(element, Element, "scrollTo", { left, top, behavior: "instant" });
      }
      for (const element of [...changed.keys()]) undo(element);
      for (const animation of held) animation.cancel();
      for (const [animation, time] of paused) {
        animation.currentTime = time;
        animation.play();
      }
      for (const [animation, time] of waiting) {
        animation.currentTime = time;
        animation.pause();
      }
      for (const [drawing] of stopped) run(drawing, SVGSVGElement, "unpauseAnimations");
      drop([stilled, caretless, lit, unbacked, sudden, released], known);
      return scrolled.size > 0;
    },
  };
})();
