// Evaluated after tab_pictures.js: scrolls a page, and the boxes in it, as readers can, to picture what they see.
// findBoxes(withScripts): finds what can be scrolled, keeps carets from blinking, and hides noscript; returns how many boxes
// there are, the number of that of the page, -1 for none, and how deep they are in each other.
// box(number): the element.
// boxesInView(depth): the numbers of those in so many others that are in the window, and were not so before.
// scrollBoxes(numbers, axis, share): scrolls some to the side (0) or down (1), by a share of their size; returns whether any
// comes so far, at least in part.
// holdYoung(ms): pauses animations that have gone on for less than so long: a script may begin them again and again. Returns
// whether there are any.
// isMoving(): whether anything else moves by itself, or may do so later.
// findFixed(share): finds the fixed boxes of the page that are in no other one; returns how many there are, and whether any
// that takes more than a share of the height of the window is on top of the page.
// showFixed(which): shows all fixed boxes (null), none (-1), or one of them.
// state(): of each box, how far it is scrolled, and about where it is in the window: left, top, left, top, right, bottom; and
// where pictures, videos and frames are in the window that are not there yet.
// lazyAddresses(): the addresses of all pictures, videos and frames that may come only when a reader is near.
// corner(): where the window begins, [left, top] in px of the page.
// leaveBoxes(): scrolls all back, and lets carets blink and animations go on.
Object.assign(domsieve, (() => {
  const {
    part, run, own, kind, isLaidOut, paintsBeyond, viewOf, trees, allTrees, canScroll, openAxes, animated, animationsOf, isOwn,
    isYoung, clocksOf, hasOwn, hold, letGo, overflows, isVisible, showsNoscript, STRONGEST, HTML,
  } = dom;

  const [MOST_BOXES, MOST_FIXED, LEAST_PX, WHOLE] = [300, 40, 2, 0.9];
  const boxes = [], walked = new Set();
  // A caret that blinks may cover text, and be off in a picture; noscript is shown only as scripts are off. Each document
  // has style sheets of its own.
  const lights = [];
  let lighted = [];
  const light = (tree, withScripts) => {
    const lit = new ((tree.ownerDocument ?? tree).defaultView.CSSStyleSheet)();
    const unscripted = withScripts && !showsNoscript(tree) ? `html|noscript${STRONGEST} { display: none !important }` : "";
    lit.replaceSync(`${HTML} *${STRONGEST} { caret-animation: manual !important } ${unscripted}`);
    tree.adoptedStyleSheets = [...tree.adoptedStyleSheets, lit];
    lights.push([tree, lit]);
  };
  let fixed = [], hidden = [], young = [];
  const unbacked = new CSSStyleSheet();
  unbacked.replaceSync("::backdrop { background: none !important; backdrop-filter: none !important }");
  const around = (node) =>
    node.assignedSlot ?? part(node, Node, "parentNode") ?? node.host ?? node.defaultView?.frameElement ?? null;
  const isPort = (one) => one === viewOf(one)?.document.scrollingElement;
  const left = (one) => part(one, Element, "scrollLeft"), top = (one) => part(one, Element, "scrollTop");
  const sizes = (one) => [part(one, Element, "clientWidth"), part(one, Element, "clientHeight")];
  // As readers can.
  const axesOf = (one) => (one === own("scrollingElement") ? openAxes() : canScroll(one));
  const isInView = (one) => {
    let { left: x, top: y, right, bottom } = one.getBoundingClientRect();
    for (let view = viewOf(one); view; view = view.parent === view ? null : view.parent) {
      const wide = Math.min(right, view.innerWidth) - Math.max(x, 0), high = Math.min(bottom, view.innerHeight) - Math.max(y, 0);
      if (Math.min(wide, high) < LEAST_PX) return false;
      const frame = view.frameElement?.getBoundingClientRect();
      if (!frame) break;
      [x, y, right, bottom] = [x + frame.left, y + frame.top, right + frame.left, bottom + frame.top];
    }
    return true;
  };

  // About where an element is in the window: left, top, right and bottom.
  const placeOf = (one) => {
    const frame = viewOf(one)?.frameElement;
    const [x, y] = frame ? placeOf(frame) : [0, 0];
    const box = one.getBoundingClientRect(), [wide, high] = sizes(one);
    return isPort(one) ? [x, y, x + wide, y + high] : [x + box.left, y + box.top, x + box.right, y + box.bottom];
  };
  // Where it may paint: what is in a frame, which may be scaled, anywhere in that, and what has shadows or a reflection,
  // anywhere in the window.
  const paintsFar = (one) => {
    for (let node = one; node; node = around(node)) {
      if (kind(node) !== Node.ELEMENT_NODE) continue;
      const { filter, webkitBoxReflect } = getComputedStyle(node);
      if (/drop-shadow|url|blur/.test(filter) || webkitBoxReflect !== "none") return true;
    }
    return false;
  };
  const reachOf = (one) => {
    const frame = viewOf(one)?.frameElement;
    if (frame) return reachOf(frame);
    return paintsFar(one) || paintsBeyond(one) ? [0, 0, innerWidth, innerHeight] : placeOf(one);
  };

  // Pictures, videos and frames that come only when a reader is near.
  const lazy = () => lighted.flatMap((tree) => [...tree.querySelectorAll("img, iframe[loading], video[loading]")]);

  const isRoot = ({ one }) => one === own("scrollingElement");

  return {
    findBoxes(withScripts) {
      const known = new Map();
      lighted = allTrees();
      for (const tree of lighted) {
        light(tree, withScripts);
        for (const one of tree.querySelectorAll("*")) {
          if (boxes.length === MOST_BOXES) break;
          if (!isLaidOut(one) || !overflows(one).some(Boolean)) continue;
          const axes = axesOf(one).map((isOpen, axis) => isOpen && overflows(one)[axis]);
          if (!axes.some(Boolean) || Math.min(...sizes(one)) < LEAST_PX) continue;
          known.set(one, boxes.length);
          boxes.push({ one, axes, begin: [left(one), top(one)], outer: [] });
        }
      }
      for (const each of boxes) {
        const inner = isPort(each.one) ? viewOf(each.one).frameElement : around(each.one);
        for (let node = inner; node; node = around(node)) if (known.has(node)) each.outer.push(boxes[known.get(node)]);
      }
      const page = boxes.findIndex(({ one }) => one === own("scrollingElement"));
      return [boxes.length, page, Math.max(-1, ...boxes.map(({ outer }) => outer.length))];
    },

    box(number) {
      return boxes[number].one;
    },

    boxesInView(depth) {
      // What was seen where the boxes around it are now is not looked at again.
      const isFresh = (each, number) => {
        const [x, y, right, bottom] = placeOf(each.one);
        const high = Math.min(bottom, innerHeight) - Math.max(y, 0), wide = Math.min(right, innerWidth) - Math.max(x, 0);
        const isWhole = high >= WHOLE * Math.min(bottom - y, innerHeight) && wide >= WHOLE * Math.min(right - x, innerWidth);
        const key = [number, ...each.outer.filter((one) => !isRoot(one)).map(({ one }) => [left(one), top(one)])].join();
        if (walked.has(key)) return false;
        if (isWhole) walked.add(key);
        return true;
      };
      return [...boxes.keys()].filter((at) => boxes[at].outer.length === depth
        && (isRoot(boxes[at]) || (isInView(boxes[at].one) && domsieve.isHit(boxes[at].one) && isFresh(boxes[at], at))));
    },

    scrollBoxes(numbers, axis, share) {
      let isThere = false;
      for (const number of numbers) {
        const { one, axes } = boxes[number];
        if (!axes[axis] || (share > 0 && !isRoot(boxes[number]) && !domsieve.isHit(one))) continue; // what is in it may lie over it
        const before = axis ? top(one) : left(one);
        run(one, Element, "scrollTo", { [axis ? "top" : "left"]: share * sizes(one)[axis], behavior: "instant" });
        isThere ||= (axis ? top(one) : left(one)) !== before;
      }
      return isThere;
    },

    holdYoung(ms) {
      young = allTrees().flatMap(animationsOf).filter((one) => isYoung(one, ms));
      young.forEach(hold);
      return young.length > 0;
    },

    isMoving() {
      const all = allTrees(), held = new Set(young);
      const goesOn = (one) => !isOwn(one) && one.playState !== "finished" && !held.has(one);
      const plays = (one) => !one.paused && !one.ended;
      return all.flatMap(animationsOf).some(goesOn) || all.flatMap(clocksOf).some(hasOwn)
        || all.some((tree) => [...tree.querySelectorAll("video")].some(plays));
    },

    findFixed(share) {
      // What a box of the page holds is a part of it; drawings do not tell.
      const isFixed = (one) => one instanceof HTMLElement && isLaidOut(one) && getComputedStyle(one).position === "fixed"
        && part(one, HTMLElement, "offsetParent") === null;
      const all = [...trees(document)].flatMap((tree) => [...tree.querySelectorAll("*")]).filter(isFixed);
      const known = new Set(all);
      const isOuter = (one) => {
        for (let node = around(one); node; node = around(node)) if (known.has(node)) return false;
        return true;
      };
      fixed = all.filter(isOuter).slice(0, MOST_FIXED);
      const isOnTop = (one) => {
        const box = one.getBoundingClientRect();
        const [x, right] = [Math.max(box.left, 0), Math.min(box.right, innerWidth)];
        const [y, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
        if (bottom - y <= share * innerHeight) return false;
        let node = own("elementFromPoint").call(document, (x + right) / 2, (y + bottom) / 2);
        while (node && node !== one) node = around(node);
        return node === one;
      };
      return [fixed.length, fixed.some((one) => isVisible(one) && isOnTop(one))];
    },

    showFixed(which) {
      walked.clear();
      for (const one of hidden.splice(0)) one.cancel();
      const others = [...document.adoptedStyleSheets].filter((one) => one !== unbacked);
      document.adoptedStyleSheets = which === null ? others : [...others, unbacked];
      const gone = which === null ? [] : fixed.filter((_, at) => at !== which);
      hidden = gone.map((one) => animated(one, { opacity: "0", clipPath: "inset(50%)" }));
    },

    corner() {
      return [scrollX, scrollY];
    },

    state() {
      const isLate = (one) => (part(one, Element, "localName") === "img" ? !one.complete : domsieve.isAwaited(one));
      const late = lazy().filter((one) => isLaidOut(one) && isLate(one) && isInView(one));
      return [boxes.map(({ one }) => [left(one), top(one), ...reachOf(one)]), late.map(reachOf)];
    },

    lazyAddresses() {
      // Addresses may have commas in them, or at their ends.
      const chosen = (one) => [one, ...(one.closest("picture")?.querySelectorAll("source") ?? [])]
        .flatMap((each) => (each.getAttribute("srcset") ?? "").split(/\s/))
        .flatMap((word) => [word, word.slice(0, -1), ...word.split(",")]);
      const whole = (address, base) => (URL.canParse(address, base) ? new URL(address, base).href : "");
      return lazy().flatMap((one) => [one.currentSrc, one.src, ...chosen(one)]
        .filter((address) => address).map((address) => whole(address, one.baseURI).split("#")[0]));
    },

    leaveBoxes() {
      for (const { one, begin: [x, y] } of boxes.splice(0)) run(one, Element, "scrollTo", { left: x, top: y, behavior: "instant" });
      young.splice(0).forEach(letGo);
      for (const [tree, lit] of lights.splice(0)) tree.adoptedStyleSheets = [...tree.adoptedStyleSheets].filter((one) => one !== lit);
    },
  };
})());
