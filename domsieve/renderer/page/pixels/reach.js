// Evaluated after page.js: adds what tells which boxes a reader can scroll.
// isReached(element, isBehind, count, ...handles): how a reader can scroll a box, by keys or by a pointer; empty if not at
// all. If only frames in it are in the way: their numbers, and at which places.
// passes(document, place, count, ...handles): the same of a frame that is in the way of what is around it, at a place.
// The handles are these frames (`count`) and the closed shadow trees of the document.
// hold(element, share), grips(element, count, ...handles), turned(number), holdAgain(), letGo(): brings a box into the window, or a
// place in it, and returns where the place is, as a share of the window; the same, and
// returns along which axes a wheel should scroll it, and some places, as shares of the window, where it should scroll it or
// boxes in it, none if a reader has another way; along which axes it has moved since, and where all
// boxes at a place are, null if that is not known; undoes what a wheel has scrolled; and undoes all.
// focus(element, number, ...closed), unfocus(): gives one of the elements in a box that may take keys the focus, and
// returns whether it has it; undoes that. noteFocus(), hasMovedFocus(): whether styles can tell that from what was before.
// bringOn(element, share, px), bringBack(): scrolls to a box, and the box by a share of its way and some px, and back.
// openAxes(): along which axes the page can be scrolled by its styles.
// isScroller(element): along which axes a box, or the page itself, can be scrolled by its style.
Object.assign(domsievePixels, (() => {
  const { part, run, own, scrolls, openAxes, animated } = dom;
  const { isPut, above, outer, holds, rectOf, waysOf, isWindow, scrolledTo, scrollOn, scrollBack } = domsievePixels;

  const rootOf = (node) => run(node, Node, "getRootNode");
  // Browsers round places, and find nothing beyond the window.
  const hitIn = (root, x, y) => run(root, root instanceof ShadowRoot ? ShadowRoot : Document, "elementFromPoint",
    Math.min(x, innerWidth - 1), Math.min(y, innerHeight - 1));

  // Whether a box keeps the wheel for itself, so that nothing around it is scrolled along one of these axes: always, or
  // because nobody comes to its end. What cannot be scrolled itself (`hidden`) keeps it, too.
  const MOST_PX = 100_000;
  const keepsWheel = (element, style, axes) => ["X", "Y"].some((axis, at) => {
    const [overflow, size] = [style[`overflow${axis}`], at ? "Height" : "Width"];
    const isScroller = isWindow(element) || /auto|scroll|hidden/.test(style.overflowX + style.overflowY);
    const isEndless = () => !/hidden|clip/.test(overflow) && part(element, Element, `scroll${size}`) > MOST_PX;
    return axes[at] && isScroller && (style[`overscrollBehavior${axis}`] !== "auto" || isEndless());
  });
  const isInert = (element) => getComputedStyle(element).interactivity === "inert";

  const PLACED = /absolute|fixed/;
  // How a pseudo-element is placed that may be in place of an element where a pointer finds that.
  const placedIn = (element) => {
    const styles = ["::before", "::after"].map((name) => getComputedStyle(element, name));
    const isThere = ({ content, display, visibility, pointerEvents }) => !/^(none|normal)$/.test(content) && display !== "none"
      && visibility === "visible" && pointerEvents !== "none";
    const found = styles.filter((style) => PLACED.test(style.position) && isThere(style)).map(({ position }) => position);
    return found.find((one) => one === "fixed") ?? found[0] ?? "";
  };

  // Asks what a wheel at a place does to an element: `true` if it comes to it, or nothing is there but fixed boxes, which are
  // hidden here and go away; [frame, place] if a frame decides.
  const wheelOver = (element, axes, frames, closed) => {
    const trees = new Map(closed.map((tree) => [tree.host, tree]));
    const slots = new Map(closed.flatMap((tree) => [...tree.querySelectorAll("slot")]
      .flatMap((slot) => run(slot, HTMLSlotElement, "assignedNodes").map((node) => [node, slot]))));
    const comesFrom = (hit, turning) => {
      let placed = placedIn(hit); // out of the boxes that do not hold it
      for (let node = hit; node; node = slots.get(node) ?? outer(node)) {
        if (!(node instanceof Element)) continue;
        const style = getComputedStyle(node);
        if (placed && holds(node, style, placed)) placed = "";
        if (!placed) turning.push(node);
        if (node === element) return !placed;
        if (isPut(node) && style.position === "fixed") return true;
        if (!placed && keepsWheel(node, style, axes)) return false;
        placed ||= PLACED.test(style.position) ? style.position : "";
      }
      return false;
    };
    // Trees of shadows show only their own elements.
    const deepest = (x, y) => {
      let hit = hitIn(rootOf(element), x, y);
      for (let tree; (tree = hit && (part(hit, Element, "shadowRoot") ?? trees.get(hit)));) {
        const inner = hitIn(tree, x, y);
        if (!inner || rootOf(inner) !== tree) break;
        hit = inner;
      }
      return hit;
    };
    // A host stands for the texts in its slots, but also for what it paints itself.
    const hosts = new Set();
    for (let root = rootOf(element); root instanceof ShadowRoot; root = rootOf(root.host)) hosts.add(root.host);
    const beneath = (x, y) => {
      const inside = [...run(element, Element, "querySelectorAll", "slot")];
      const looks = inside.map((one) => animated(one, { pointerEvents: "none" }));
      const hit = deepest(x, y);
      looks.forEach((one) => one.cancel());
      return hit;
    };
    return (x, y, turning = []) => {
      const first = deepest(x, y);
      const hit = hosts.has(first) ? beneath(x, y) : first;
      if (!hit) return true;
      if (!comesFrom(hit, turning)) return false;
      const frame = frames.findIndex((one) => hitIn(rootOf(one), x, y) === one);
      return frame < 0 || [frame, [...shareOf(frames[frame], x, y), axes]];
    };
  };
  // Where a place is in a frame, as shares of its window, which may be drawn in another size.
  const shareOf = (frame, x, y) => {
    const { left, top, width, height } = rectOf(frame);
    const style = getComputedStyle(frame);
    const share = (far, whole, size, edges) => {
      const sum = (edge) => parseFloat(style[`padding${edge}`]) + parseFloat(style[`border${edge}Width`]);
      const [before, after] = edges.map(sum);
      return (far / whole * size - before) / (size - before - after);
    };
    return [
      share(x - left, width, frame.offsetWidth, ["Left", "Right"]),
      share(y - top, height, frame.offsetHeight, ["Top", "Bottom"]),
    ];
  };

  // Brings an element near the middle of the window, no page can know where, or only the place in it that is so far from its
  // corner, as a share of its size, but leaves the windows around frames as they are. Returns what was scrolled, and where
  // the place is in the window, as a share of it.
  const bring = (element, share) => {
    const [across, down] = share ?? [];
    const moved = [];
    const rect = () => {
      const { left, top, right, bottom } = rectOf(element);
      const [x, y] = [left + across * (right - left), top + down * (bottom - top)];
      return share ? { left: x, top: y, right: x, bottom: y } : { left, top, right, bottom };
    };
    for (let node = outer(element); node; node = outer(node)) {
      // A reader cannot scroll others, nor these along other axes.
      const isBox = node instanceof Element && node !== own("scrollingElement");
      const style = isBox && getComputedStyle(node);
      const open = isWindow(node) ? openAxes() : style && style.pointerEvents !== "none" ? scrolls(style) : [];
      if (!open.some(Boolean)) continue;
      const [x, y] = scrolledTo(node);
      moved.push([node, [x, y]]);
      const { left, top, right, bottom } = rect();
      const port = isWindow(node) ? { left: 0, top: 0, right: innerWidth, bottom: innerHeight } : rectOf(node);
      // Not even if the element fills the window.
      const aside = (size, own) => Math.max(size - own, 0.2 * size) * 0.8 * (Math.random() - 0.5);
      const to = [x + (left + right - port.left - port.right) / 2 + aside(port.right - port.left, right - left),
        y + (top + bottom - port.top - port.bottom) / 2 + aside(port.bottom - port.top, bottom - top)];
      scrollOn(node, ...[x, y].map((place, axis) => (open[axis] ? to[axis] : place)));
    }
    const { left, top } = rect();
    return [moved, [left / innerWidth, top / innerHeight]];
  };
  let scrolledOn = [];

  // No page can know where exactly.
  const places = () => [0.08, 0.29, 0.5, 0.71, 0.92].map((place) => place + 0.03 * (Math.random() - 0.5));
  // The page behind a dialog is inert as long as that is open.
  const inertAround = (element) => {
    let node = element;
    while (node && node.inert !== true && (node !== element || !isInert(node))) node = above(node);
    return node;
  };
  // Elements in a box that may take keys, but not those that need them for themselves, or hand them to other pages.
  const TAKERS = "select, option, optgroup, input[type=range i], input[type=radio i], audio, video, iframe, object, embed";
  // The key Tab leaves out what is in a host or a frame that it leaves out.
  const isTabbed = (one) => {
    if (!one) return true;
    const root = rootOf(one);
    return one.tabIndex >= 0 || !one.hasAttribute("tabindex") ? isTabbed(root instanceof ShadowRoot ? root.host : root.defaultView?.frameElement) : false;
  };
  const keyed = (element) => [element, ...run(element, Element, "querySelectorAll", "*")]
    .filter((one) => one.tabIndex >= 0 && !run(one, Element, "matches", TAKERS) && isTabbed(one));
  const kindOf = (element) => [SVGElement, MathMLElement].find((kind) => element instanceof kind) ?? HTMLElement;
  const focusOn = (element) => run(element, kindOf(element), "focus", { preventScroll: true });
  // The element that has the focus, in the innermost shadow tree, also if it is a closed one of these.
  const focusedIn = (closed = []) => {
    let found = own("activeElement");
    const treeOf = (host) => part(host, Element, "shadowRoot") ?? closed.find((tree) => tree.host === host);
    for (let root; found && (root = treeOf(found)) && root.activeElement;) found = root.activeElement;
    return found;
  };
  const isWithin = () => run(own("documentElement"), Element, "matches", ":focus-within");
  const longAxes = (element) => waysOf(element).map((way) => way > 1);
  // Places in the window of a box that was brought there, and what a wheel does to it there.
  const spotsOf = (element, count, handles) => {
    const { left, top, right, bottom } = rectOf(element);
    const [x, y] = [Math.max(left, 0), Math.max(top, 0)];
    const [wide, high] = [Math.min(right, innerWidth) - x, Math.min(bottom, innerHeight) - y];
    const axes = longAxes(element);
    // Without a doctype, only the body knows.
    const known = axes.some(Boolean) ? axes : [true, true];
    const wheel = wheelOver(element, known, handles.slice(0, count), handles.slice(count));
    const spots = places().flatMap((across) => places().map((down) => [x + across * wide, y + down * high]));
    return { spots, wheel };
  };
  const isReached = (element, isBehind, count, ...handles) => {
    if (inertAround(element)) return isBehind || own("querySelector").call(document, ":modal") ? "by a pointer" : "";
    if (keyed(element).length) return "by keys";
    const [moved] = bring(element);
    const { spots, wheel } = spotsOf(element, count, handles);
    const inFrames = [];
    const found = spots.some(([x, y]) => {
      const answer = wheel(x, y);
      if (Array.isArray(answer)) inFrames.push(answer);
      return answer === true;
    });
    moved.forEach(scrollBack);
    return found ? "by a pointer" : inFrames;
  };

  const MOST_GRIPS = 3;
  const held = [];
  let [gripped, brought] = [[], []];
  let [focused, stateBefore] = [null, []];
  // What styles can tell of the focus, and what is selected, unless that is nothing.
  const focusState = () => {
    const { isCollapsed, anchorNode, anchorOffset, focusNode, focusOffset } = getSelection();
    const found = focusedIn();
    return [found, isWithin(), found && run(found, Element, "matches", ":focus-visible"),
      ...(isCollapsed ? [null] : [anchorNode, anchorOffset, focusNode, focusOffset])];
  };

  return {
    // Whether a reader can scroll a box: a pointer reaches it somewhere, or keys do, for something in it takes these.
    // `isBehind` says that there are fixed boxes, of which one may be a dialog.
    isReached,
    openAxes,

    hold(element, share) {
      const [moved, place] = bring(element, share);
      held.push(...moved);
      brought = held.map(([node]) => [node, scrolledTo(node)]);
      return place;
    },

    grips(element, count, ...handles) {
      gripped = [];
      const [open, long] = [isWindow(element) ? openAxes() : scrolls(getComputedStyle(element)), longAxes(element)];
      const axes = open.map((one, axis) => one && long[axis]);
      if (inertAround(element) || !axes.some(Boolean)) return { axes, places: [], keys: 0 };
      this.hold(element);
      const { spots, wheel } = spotsOf(element, count, handles);
      spots.sort(() => Math.random() - 0.5);
      for (const [x, y] of spots) {
        const turning = [];
        const answer = wheel(x, y, turning);
        if (!answer || !turning.includes(element)) continue;
        const before = turning.map((node) => [node, scrolledTo(node)]);
        gripped.push({ place: [x / innerWidth, y / innerHeight], before, isClear: answer === true });
        if (gripped.length === MOST_GRIPS) break;
      }
      return { axes, places: gripped.map(({ place }) => place), keys: keyed(element).length };
    },

    focus(element, number, ...closed) {
      const one = keyed(element)[number];
      focused = focusedIn();
      focusOn(one);
      gripped = [{ before: [[element, scrolledTo(element)]] }];
      // A host may hand it to what is in its tree.
      const taker = focusedIn(closed);
      return run(one, Element, "matches", ":focus") && !run(taker, Element, "matches", TAKERS);
    },

    unfocus() {
      const active = focusedIn();
      if (active) run(active, kindOf(active), "blur");
      if (focused) focusOn(focused);
      focused = null;
    },

    noteFocus() {
      stateBefore = focusState();
    },

    hasMovedFocus() {
      return focusState().some((one, at) => one !== stateBefore[at]);
    },

    turned(number) {
      const { before, isClear } = gripped[number];
      const [element, first] = before.at(-1);
      const now = scrolledTo(element);
      return {
        moved: now.map((place, axis) => place !== first[axis]),
        places: isClear ? `${before.map(([node]) => scrolledTo(node))}` : null,
      };
    },

    holdAgain() {
      [...gripped.flatMap(({ before }) => before), ...brought].forEach(scrollBack);
    },

    letGo() {
      gripped.flatMap(({ before }) => before).forEach(scrollBack);
      held.splice(0).forEach(scrollBack);
      [gripped, brought] = [[], []];
    },

    bringOn(element, share, px) {
      scrolledOn = [...bring(element)[0], [element, scrolledTo(element)]];
      const [ways, own] = [waysOf(element), scrolls(getComputedStyle(element))];
      scrollOn(element, ...scrolledTo(element).map((place, axis) => place + own[axis] * (share * ways[axis] + px)));
    },

    bringBack() {
      scrolledOn.splice(0).forEach(scrollBack);
    },

    isScroller(element) {
      const isPage = isWindow(element) || element === own("scrollingElement");
      return isPage ? openAxes() : scrolls(getComputedStyle(element));
    },

    passes(inner, [across, down, axes], count, ...handles) {
      const root = own("documentElement");
      if (!root || keepsWheel(root, getComputedStyle(root), axes)) return [];
      const wheel = wheelOver(root, axes, handles.slice(0, count), handles.slice(count));
      const answer = wheel(across * innerWidth, down * innerHeight);
      return Array.isArray(answer) ? [answer] : answer ? "by a pointer" : [];
    },
  };
})());
