// Evaluated after pixels.js: adds what tells which boxes a reader can scroll.
// isReached(element, isBehind): how a reader can scroll a box, by keys or by a pointer; empty if not at all.
Object.assign(domsievePixels, (() => {
  const { part, run, own, scrolls } = dom;
  const { isPut, above, rectOf, isWindow, scrolledTo, scrollOn, scrollBack } = domsievePixels;

  // Whether what is at a place is an element or in it, or is no obstacle: fixed boxes that are hidden here go away.
  const isFor = (hit, element, root) => {
    if (!hit) return true;
    const isSlotted = run(hit, Node, "getRootNode") !== root;
    for (let node = hit; node; node = above(node)) {
      if (node === element || (isSlotted && node === root.host)) return true;
      if (isPut(node) && getComputedStyle(node).position === "fixed") return true;
      if (node instanceof Element && keepsWheel(getComputedStyle(node))) return false;
    }
    return false;
  };
  // A box that keeps the wheel for itself, so that nothing around it is scrolled.
  const keepsWheel = ({ overflowX, overflowY, overscrollBehaviorX, overscrollBehaviorY }) =>
    /auto|scroll|hidden/.test(overflowX + overflowY) && [overscrollBehaviorX, overscrollBehaviorY].some((one) => one !== "auto");
  const isInert = (element) => getComputedStyle(element).interactivity === "inert";

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
      const isBox = node instanceof Element && node !== own("scrollingElement") && scrolls(getComputedStyle(node)).some(Boolean);
      if (!isWindow(node) && !isBox) continue;
      const [x, y] = scrolledTo(node);
      moved.push([node, [x, y]]);
      const { left, top, right, bottom } = rectOf(element);
      const port = isWindow(node) ? { left: 0, top: 0, right: innerWidth, bottom: innerHeight } : rectOf(node);
      scrollOn(node, x + (left + right - port.left - port.right) / 2, y + (top + bottom - port.top - port.bottom) / 2);
    }
    const { left, top, right, bottom } = rectOf(element);
    const [x, y] = [Math.max(left, 0), Math.max(top, 0)];
    const [wide, high] = [Math.min(right, innerWidth) - x, Math.min(bottom, innerHeight) - y];
    const root = run(element, Node, "getRootNode");
    const hit = (across, down) => run(root, root instanceof ShadowRoot ? ShadowRoot : Document, "elementFromPoint",
      x + across * wide, y + down * high);
    const found = places().some((across) => places().some((down) => isFor(hit(across, down), element, root)));
    moved.forEach(scrollBack);
    return found ? "by a pointer" : "";
  };

  return {
    // Whether a reader can scroll a box: a pointer reaches it somewhere, or keys do, for something in it takes these.
    // `isBehind` says that there are fixed boxes, of which one may be a dialog.
    isReached,
  };
})());
