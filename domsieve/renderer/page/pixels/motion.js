// Evaluated after page.js: adds what holds the page still for the pictures, and lays things out.
// still(heldAt, ...roots): pauses animations, and those of SVG where they were when the former were held, in ms since 1970,
// or 0 if they were not; returns how many of the former there were, how many of them go on, since they follow what is
// scrolled, how many wait, maybe until a reader scrolls to something, and how many were too many to know whether they throw
// texts about.
// resume(): lets all go on.
// cover(...elements), uncover(...elements): make fixed boxes transparent, with what is behind those in the top layer, and
// show some of them again.
// hasDriven(...roots): whether any follow what is scrolled.
// advance(ms): brings all that was paused, and is where it was, to another time.
// isMoving(): whether any animation goes on that does not follow what is scrolled, as others have let it.
// loosen(), settle(endsMs): let transitions begin, and bring them, and all that began or waited until now, to where they
// are after some time; returns whether any of these follow what is scrolled.
// isUnlike(): whether the browser shows pictures of what was there before.
// animated(...roots), known(properties, selectors, rules): see below.
// hasSizes(...roots): whether styles may ask for the height of boxes.
// oddities(withScripts, ...roots): what hardly any page has. events: animations of drawings wait for events that may come by themselves, or
// change anything beside what they are in: by its address, or by classes, which style sheets follow. sizes: animations may
// change the size of boxes that styles ask for. number: a number field has the focus, so that a wheel changes it.
// noscript: what is for browsers without scripts is shown, although they are on, or may be off in this document. late, turns:
// animations or transitions end later than they are awaited, and others go on for ever, or change more than how boxes are
// painted until then: together they may show what no reader ever has at once. shows: animations change which elements are
// shown at all.
// reveal(...roots): shows the content of boxes that have none far from the window.
// hasCanvas(...roots), canvasStyles(...roots): whether there is any canvas, and how they are laid out.
// relay(endsMs, ...roots): lays canvases out anew, and does the latter.
// isDriven(), areDriven(...elements): see below.
Object.assign(domsievePixels, (() => {
  const {
    part, run, own, isLaidOut, isSkipping, unskip, animationsOf, clocksOf, hasOwn, ANIMATING, isSent, isHeld, lasts, SOON_MS,
    ENDLESS_MS,
  } = dom;
  const { sheet, strong, adopt, drop, treesOf, put, undo, above, isIn, rectOf, hideThrown } = domsievePixels;

  // What snaps does not stay where it is scrolled to.
  const stilled = sheet("* { scroll-snap-type: none !important }");
  const caretless = sheet("* { caret-color: transparent !important }");
  const lit = sheet("* { caret-animation: manual !important }");
  const unbacked = sheet("::backdrop { background: none !important; backdrop-filter: none !important }");
  // Transitions that have begun go on, but none begins.
  const SUDDEN = "transition-duration: 0s !important; transition-delay: 0s !important;";
  const PARTS = ["", "::before", "::after", "::details-content", "::placeholder"];
  const sudden = sheet(PARTS.map((name) => `${strong("*")}${name} { ${SUDDEN} }`).join(""));
  const unlaid = sheet(`${strong("canvas")} { display: none !important }`);

  const paused = [];
  const revealed = [];
  const driven = [];
  const begun = new Set();
  const waiting = [];
  const stopped = [];
  let known = [];
  let [backed, isUnbacked] = [[], false];

  // Of key frames, what only changes how boxes are painted. All else may change their size, or what other styles say.
  const PAINTING = new RegExp(`^(computedOffset|easing|composite|offset.*|transform.*|translate|rotate|scale|opacity|${[
    "visibility", "(backdropF|f)ilter", "clipPath", "color", ".*Color", ".*Shadow", "background.*", "mask.*", "stroke.*", "fill.*", "zIndex",
  ].join("|")})$`);
  const MOST_ENDLESS = 2_000; // a bound of the work
  // Nobody reads what is thrown about for ever. Returns how many animations are left out.
  const hideEndless = () => {
    const all = paused.map(([animation]) => animation).filter(({ effect }) =>
      effect?.target && effect.getComputedTiming().endTime > SOON_MS);
    const endless = all.length > MOST_ENDLESS ? all.sort(() => Math.random() - 0.5).slice(0, MOST_ENDLESS) : all;
    const clocks = stopped.filter(([drawing]) => hasOwn(drawing));
    if (endless.length || clocks.length) hideThrown(known, endless, clocks);
    return all.length - endless.length;
  };
  // Animations are as readers find them now: what ends soon had time for it.
  const hold = (animation) => {
    const { target, pseudoElement } = animation.effect ?? {};
    begun.add(animation);
    if (isHeld(animation)) {
      paused.push([animation, animation.currentTime]);
      return;
    }
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
    }
  };

  const allAnimations = (roots) => roots.flatMap(animationsOf);
  const isDriven = ({ timeline }) => timeline instanceof ScrollTimeline;
  // Brings animations to where they are after some time: those that end within `endsMs` end.
  const bringOn = (animations, endsMs) => {
    for (const animation of animations) {
      if (isDriven(animation) || animation.playState !== "running") continue;
      begun.add(animation);
      if (animation.effect.getComputedTiming().endTime <= lasts(animation.effect, endsMs)) animation.finish();
      else {
        animation.currentTime = endsMs * (1 + Math.random()); // no page can know when
        animation.pause();
      }
    }
  };
  // Does so for those that have just begun; returns whether any is driven.
  const bringFresh = (endsMs) => {
    const fresh = allAnimations(known).filter((one) => !begun.has(one));
    bringOn(fresh, endsMs);
    return fresh.some(isDriven);
  };

  return {
    still(heldAt, ...roots) {
      known = treesOf(roots);
      const lateS = heldAt && (performance.timeOrigin + performance.now() - heldAt) / 1000;
      const animations = allAnimations(known);
      animations.forEach(hold);
      // A caret that is more than a bar may cover text.
      const isBar = (one) => !one || /^(auto|bar|undefined)$/.test(getComputedStyle(one).caretShape);
      adopt([stilled, sudden, known.every((root) => isBar(root.activeElement)) ? caretless : lit], known);
      backed = known.flatMap((root) => [...root.querySelectorAll(":modal, :popover-open, :fullscreen")]);
      // Those that go with the page are covers of its text, and grounds of what goes with the page in front of them. In
      // frames, no fixed boxes are transparent.
      const isFixed = (one) => ["", "::backdrop"].every((name) => getComputedStyle(one, name).position === "fixed");
      isUnbacked = parent === window && backed.length > 0 && backed.every(isFixed);
      if (isUnbacked) adopt([unbacked], known);
      for (const root of known) {
        for (const drawing of clocksOf(root)) {
          run(drawing, SVGSVGElement, "pauseAnimations");
          const time = run(drawing, SVGSVGElement, "getCurrentTime") - lateS;
          if (lateS) run(drawing, SVGSVGElement, "setCurrentTime", time);
          stopped.push([drawing, time]);
        }
      }
      return [animations.length, driven.length, waiting.length, hideEndless()];
    },

    resume() {
      for (const animation of revealed) animation.cancel();
      for (const [animation, time] of paused) {
        animation.currentTime = time;
        if (!isHeld(animation)) animation.play();
      }
      for (const [animation, time] of waiting) {
        animation.currentTime = time;
        animation.pause();
      }
      for (const [drawing] of stopped) run(drawing, SVGSVGElement, "unpauseAnimations");
      drop([stilled, caretless, lit, unbacked, sudden], known);
    },

    cover(...elements) {
      // Either property may be fixed by the page as important.
      for (const one of elements) put(one, { opacity: "0", clipPath: "inset(50%)" });
      if (isUnbacked && !document.adoptedStyleSheets.includes(unbacked)) adopt([unbacked], known);
    },

    uncover(...elements) {
      elements.forEach(undo);
      const isOut = (one) => backed.some((dialog) => isIn(one, dialog));
      if (isUnbacked && elements.some(isOut)) drop([unbacked], known);
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

    isMoving() {
      return allAnimations(known).some((one) => one.playState === "running" && !isDriven(one));
    },

    hasDriven(...roots) {
      return allAnimations(treesOf(roots)).some(isDriven);
    },

    loosen() {
      drop([sudden], known);
    },

    settle(endsMs) {
      adopt([sudden], known);
      // Triggers look at what is laid out.
      for (const [{ effect }] of waiting) if (effect?.target) rectOf(effect.target);
      bringOn(waiting.map(([animation]) => animation), endsMs);
      return bringFresh(endsMs);
    },

    isUnlike() {
      return Boolean(document.activeViewTransition);
    },

    hasSizes(...roots) {
      const isSized = (one) => /(?<!-)size/.test(getComputedStyle(one).containerType);
      return treesOf(roots).some((root) => [...root.querySelectorAll("*")].some(isSized));
    },

    oddities(withScripts, ...roots) {
      const isShown = (one) => getComputedStyle(one).display !== "none";
      // No scripts may run in some frames, also for readers.
      const mayRun = frameElement?.getAttribute("sandbox")?.toLowerCase().split(/\s+/).includes("allow-scripts");
      const isApart = globalThis.origin === "null" || mayRun === false;
      const isFar = (one) => part(one, Element, "localName") !== "mpath"
        && (one.getAttribute("attributeName") === "class" || one.hasAttribute("href") || one.hasAttribute("xlink:href"));
      const waits = (one) => ["begin", "end"].some((name) => isSent(one.getAttribute(name)));
      const laysOut = ({ effect, timeline }) => timeline instanceof DocumentTimeline
        && effect?.getKeyframes().some((key) => Object.keys(key).some((name) => !PAINTING.test(name)));
      const endOf = ({ effect, timeline }) => (timeline instanceof DocumentTimeline ? effect?.getComputedTiming().endTime ?? 0 : 0);
      const isLate = (one) => endOf(one) > SOON_MS && endOf(one) < ENDLESS_MS;
      // A transition that has not begun yet; those of hours keep browsers from colouring fields.
      const waitsLong = (one) => {
        const style = getComputedStyle(one);
        const [delays, lengths] = [style.transitionDelay, style.transitionDuration]
          .map((list) => list.split(",").map((time) => 1000 * parseFloat(time)));
        return delays.map((delay, at) => delay + lengths[at % lengths.length]).some((end) => end > SOON_MS && end < ENDLESS_MS);
      };
      const isOdd = {
        late: (root) => animationsOf(root).some(isLate) || [...root.querySelectorAll("*")].some(waitsLong),
        shows: (root) => animationsOf(root).some(({ effect }) =>
          effect?.getKeyframes().some((key) => "display" in key || "contentVisibility" in key)),
        turns: (root) => animationsOf(root).some((one) => endOf(one) >= ENDLESS_MS || (isLate(one) && laysOut(one))),
        events: (root) => [...root.querySelectorAll(ANIMATING)].some((one) => isFar(one) || waits(one)),
        sizes: (root) => animationsOf(root).some(laysOut)
          && [...root.querySelectorAll("*")].some((one) => getComputedStyle(one).containerType.includes("size")),
        number: ({ activeElement }) => activeElement instanceof HTMLInputElement && activeElement.type === "number",
        noscript: (root) => withScripts && [...root.querySelectorAll("noscript")].some((one) => isApart || isShown(one)),
      };
      const all = treesOf(roots);
      return Object.keys(isOdd).filter((name) => all.some(isOdd[name]));
    },

    // The properties that animations change, as CSS.
    animated(...roots) {
      const names = treesOf(roots).flatMap(animationsOf)
        .flatMap(({ effect }) => effect?.getKeyframes().flatMap((key) => Object.keys(key)) ?? []);
      const dashed = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      return [...new Set(names)].map((name) => `${dashed(name)}: `);
    },

    // Which properties, pseudo-classes and at-rules the browser knows.
    known(properties, selectors, rules) {
      const isSelector = (name) => ["", "(a)", "(1)", "(left)"].some((rest) => CSS.supports(`selector(${name}${rest})`));
      const isRule = (name) => ["{}", "a {}", "--a {}", "--a() {}", "(a) {}", "--a (width);"].some((rest) => {
        const rule = new CSSStyleSheet();
        rule.replaceSync(`@${name} ${rest}`);
        return rule.cssRules.length;
      });
      return [
        ...properties.filter((name) => CSS.supports(name, "inherit") || CSS.supports(`-webkit-${name}`, "inherit")),
        ...selectors.filter(isSelector), ...rules.filter(isRule).map((name) => `@${name}`),
      ];
    },

    // Boxes with `content-visibility: auto` have content only near the window, which a picture of the page is not.
    reveal(...roots) {
      const known = new Set();
      const isFresh = (one) => !known.has(one) && isLaidOut(one) && isSkipping(one, getComputedStyle(one));
      const find = () => treesOf(roots).flatMap((root) => [...root.querySelectorAll("*")]).filter(isFresh);
      // Boxes may have others in them.
      for (let all = find(); all.length; all = find()) {
        all.forEach((one) => known.add(one));
        revealed.push(...unskip(all));
      }
    },

    // A canvas that is laid out while scripts are off has no picture.
    relay(endsMs, ...roots) {
      const all = treesOf(roots);
      // Their animations begin anew, also those that a script has paused.
      const old = new Set(allAnimations(all));
      const goesOn = (one) => isDriven(one) && one.playState === "running";
      const canvases = new Set([...old].filter((one) => !goesOn(one)).map(({ effect }) => effect?.target)
        .filter((one) => one instanceof HTMLCanvasElement));
      const looks = () => [...canvases].map((one) => {
        const style = getComputedStyle(one);
        return [...style].map((name) => style[name]).join();
      }).join();
      const before = looks();
      adopt([unlaid], all);
      const isLaid = all.some((root) => [...root.querySelectorAll("canvas")].some((one) => getComputedStyle(one).display !== "none"));
      drop([unlaid], all);
      bringOn(allAnimations(all).filter((one) => !old.has(one)), endsMs);
      if (bringFresh(endsMs)) allAnimations(known).filter(isDriven).forEach((one) => begun.add(one)); // they begin anew
      if (isLaid || looks() !== before) throw new Error("A canvas cannot be laid out anew.");
    },

    hasCanvas(...roots) {
      return treesOf(roots).some((root) => root.querySelector("canvas"));
    },

    // How canvases and all around them are laid out: they are laid out anew if this changes.
    canvasStyles(...roots) {
      const canvases = treesOf(roots).flatMap((root) => [...root.querySelectorAll("canvas")]);
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

    // Whether an animation follows the scrolling of the page, or of what is outside of this frame.
    isDriven() {
      const root = window.parent === window ? own("scrollingElement") : null;
      return driven.some(({ timeline: { source } }) => source && (source === root || source.ownerDocument !== document));
    },

    // Which elements an animation changes, or something in them, that follows the scrolling of what is around them.
    areDriven(...elements) {
      return elements.map((one) => driven.some(({ timeline: { source }, effect }) =>
        isIn(one, effect?.target) && !isIn(one, source)));
    },
  };
})());
