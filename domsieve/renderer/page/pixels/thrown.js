// Evaluated after page.js: adds what hides the texts and frames that animations throw about, so that nobody can read them.
// hideThrown(trees, animations, drawings): of endless animations, which are paused, and of drawings with a clock, each with
// its time. Returns whether it has also hidden what may cover others.
Object.assign(domsievePixels, (() => {
  const { part, run, own, isLaidOut } = dom;
  const { put, outer } = domsievePixels;

  // What moves by so many px, or by so many sizes of its letters if these are small, or turns by so many degrees, in so
  // short a time, in so many of the looks at it. What does so in none of the first ones is left alone.
  const [THROWN_PX, THROWN_SIZES, TURNED, SOON_MS, MOST_MS, LEAST_OFTEN, LOOKS, FIRST_LOOKS] = [16, 0.8, 40, 30, 10_000, 0.2, 18, 10];
  const MOST_GROWN = 0.1; // in the same time, as a share of the size
  const MOST_LETTERS = 2; // of each text are looked at
  // Texts in one place, of which the eye sees all at once: each appears and goes in so short a time, in so many of the looks.
  const [FLASH_MS, MOMENTS, LEAST_FLASHES, LEAST_SHARED] = [100, 12, 0.8, 0.5];
  // A text is gone if less of it is left than this share, or of its colour, of 255, so much has changed.
  const [LEAST_LEFT, OTHER_COLOUR] = [0.5, 100];
  const [MOST_TEXTS, MOST_FLASHING] = [3_000, 1_000]; // bounds of the work: of more texts, only those that change are asked
  // Of more elements in those that are animated, only those are asked that have changed at one of so many glances.
  const [MOST_INSIDE, GLANCES] = [500, 6];

  const spread = (count) => Array.from({ length: count }, (_, at) => (at + Math.random()) / count);

  const textsIn = (trees) => trees.flatMap((root) => {
    const [found, walker] = [[], own("createTreeWalker").call(document, root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_CDATA_SECTION)];
    while (walker.nextNode()) {
      const [text, above] = [walker.currentNode, part(walker.currentNode, Node, "parentElement")];
      if (part(text, CharacterData, "data").trim() && above && isLaidOut(above)) found.push(text);
    }
    return found;
  });
  const FRAMES = "iframe, frame, object, embed";
  const framesIn = (trees) => trees.flatMap((root) => [...root.querySelectorAll(FRAMES)]).filter(isLaidOut);
  const elementOf = (node) => (node instanceof Element ? node : part(node, Node, "parentElement"));
  const rangeOf = (node) => {
    const range = new Range();
    if (node instanceof Element) range.selectNode(node);
    else range.selectNodeContents(node);
    return range;
  };
  const boxOf = (range) => {
    const { left, top, right, bottom } = range.getBoundingClientRect();
    return [left, top, right, bottom];
  };
  const placeOf = (node) => boxOf(rangeOf(node));
  // Where a node is, and if it is a text, some of its letters, that may move while all of it stays.
  const someOf = (node) => {
    const all = rangeOf(node);
    const letters = node instanceof Element ? [] : [...part(node, CharacterData, "data").matchAll(/\S/gu)].map(({ index }) => index);
    return [all, ...spread(letters.length > 1 ? MOST_LETTERS : 0).map((share) => {
      const range = new Range(), at = letters[Math.floor(share * letters.length)];
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      return range;
    })];
  };

  // Whether a node is one of some elements, or in one of them.
  const insideOf = (targets) => {
    const known = new Map([[null, false]]);
    const isInside = (node) => {
      if (!known.has(node)) known.set(node, targets.has(node) || isInside(outer(node)));
      return known.get(node);
    };
    return isInside;
  };

  // What animations change in the elements that they are of; properties of a page may change the same of others in those.
  const styleOf = (element) => {
    const { rotate, scale, transform, opacity, clipPath } = getComputedStyle(element);
    return [rotate, scale, transform, opacity, clipPath].join();
  };
  const allAround = (nodes, isAnimated) => {
    const found = new Set();
    for (const one of nodes) {
      for (let node = elementOf(one); node && isAnimated(node) && !found.has(node); node = outer(node)) found.add(node);
    }
    return [...found].filter((node) => node instanceof Element);
  };

  // How nodes are turned now, by what is animated. What is in a line is not, but for frames.
  const turns = (isAnimated, isChanged) => {
    const known = new Map();
    const planeOf = (node) => {
      if (!isAnimated(node)) return new DOMMatrix();
      if (!known.has(node)) known.set(node, isChanged(node) ? ownPlane(node) : planeOf(outer(node)));
      return known.get(node);
    };
    const ownPlane = (element) => {
      if (element instanceof SVGGraphicsElement && part(element, SVGElement, "ownerSVGElement")) {
        const { a, b, c, d } = run(element, SVGGraphicsElement, "getScreenCTM") ?? new DOMMatrix();
        return new DOMMatrix([a, b, c, d, 0, 0]);
      }
      const { display, rotate, scale, transform } = getComputedStyle(element);
      const plane = DOMMatrix.fromMatrix(planeOf(outer(element)));
      if (display === "inline" && !(element instanceof SVGElement || run(element, Element, "matches", FRAMES))) return plane;
      const sizes = scale.split(" ");
      const steps = [
        rotate === "none" ? "" : `rotate${/^[xyz] /.test(rotate) ? rotate[0].toUpperCase() : rotate.includes(" ") ? "3d" : ""}`
          + `(${rotate.replace(/^[xyz] /, "").replace(/ (?=.)/g, ", ")})`,
        scale === "none" ? "" : `scale(${sizes[0]}, ${sizes[1] ?? sizes[0]})`,
        transform === "none" ? "" : transform,
      ];
      return plane.multiply(new DOMMatrix(steps.join(" ").trim() || "none"));
    };
    return planeOf;
  };
  const angle = (first, second) => {
    const [a, b] = [Math.hypot(...first), Math.hypot(...second)];
    const cosine = (first[0] * second[0] + first[1] * second[1]) / (a * b);
    return a * b < 1e-4 ? 0 : (Math.acos(Math.min(Math.max(cosine, -1), 1)) * 180) / Math.PI;
  };
  const isTurned = (planes) => planes.some((one, at) => planes.slice(at + 1).some((other) =>
    angle([one.a, one.b], [other.a, other.b]) > TURNED || angle([one.c, one.d], [other.c, other.d]) > TURNED));

  // Whether boxes are moved by more than so many px, or grow by so much and much. Letters of whole px grow all at once, so a
  // long line does by some px.
  const isMoved = (boxes, far) => [0, 1].some((axis) => {
    const [first, last, size] = [(one) => one[axis], (one) => one[axis + 2], (one) => one[axis + 2] - one[axis]].map((of) => boxes.map(of));
    const ways = [first, last].map((all) => Math.max(...all) - Math.min(...all));
    return Math.min(...ways) > far || Math.max(...ways) > Math.max(far, MOST_GROWN * Math.min(...size));
  });

  // How much shows of nodes now, and in which colour: what opacity and cuts leave.
  const shares = (isAnimated, isChanged) => {
    const known = new Map();
    const shareOf = (node) => {
      if (!isAnimated(node)) return 1;
      if (!known.has(node)) known.set(node, shareOf(outer(node)) * (isChanged(node) ? ownShare(node) : 1));
      return known.get(node);
    };
    const ownShare = (element) => {
      const { opacity, clipPath } = getComputedStyle(element);
      return Number(opacity) * leftOf(clipPath, element);
    };
    return shareOf;
  };
  const leftOf = (shape, element) => {
    if (/^(circle|ellipse)\(0(px|%)?\b/.test(shape)) return 0;
    const sides = shape.match(/^inset\(([^()]*?)( round .*)?\)/)?.[1].split(" ");
    if (!sides) return 1;
    const { width, height } = run(element, Element, "getBoundingClientRect");
    const [top, right = top, bottom = top, left = right] = sides;
    const share = (side, size) => (side.endsWith("%") ? parseFloat(side) / 100 : parseFloat(side) / (size || 1)) || 0;
    const [wide, high] = [[left, right, width], [top, bottom, height]].map(([first, second, size]) =>
      Math.min(Math.max(1 - share(first, size) - share(second, size), 0), 1));
    return wide * high;
  };
  const lookOf = (text, shareOf) => {
    const element = elementOf(text);
    const { visibility, webkitTextFillColor, fill } = getComputedStyle(element);
    const ink = element instanceof SVGElement ? fill : webkitTextFillColor;
    const [red = 0, green = 0, blue = 0, alpha = 1] = ink.match(/[\d.]+/g)?.map(Number) ?? [];
    return [visibility === "visible" ? alpha * shareOf(element) : 0, red, green, blue];
  };
  const flashes = (looks) => {
    const [least, most] = [Math.min, Math.max].map((of) => [0, 1, 2, 3].map((at) => of(...looks.map((look) => look[at]))));
    return least[0] < LEAST_LEFT * most[0] || [1, 2, 3].some((at) => most[at] - least[at] > OTHER_COLOUR);
  };
  const area = ([left, top, right, bottom]) => Math.max(right - left, 0) * Math.max(bottom - top, 0);
  const sharesPlace = ([one, place], [other, second]) => {
    const both = [0, 1].map((at) => Math.max(place[at], second[at])).concat([2, 3].map((at) => Math.min(place[at], second[at])));
    return area(both) > LEAST_SHARED * Math.min(area(place), area(second))
      && part(one, CharacterData, "data").trim() !== part(other, CharacterData, "data").trim();
  };
  const withOthers = (texts) => texts.filter((one) => texts.some((other) => other !== one && sharesPlace(one, other)));

  return {
    hideThrown(trees, animations, drawings) {
      const times = animations.map(({ currentTime }) => currentTime);
      const goOn = (ms) => {
        animations.forEach((one, at) => { one.currentTime = times[at] + ms * one.playbackRate; });
        for (const [drawing, time] of drawings) run(drawing, SVGSVGElement, "setCurrentTime", time + ms / 1000);
      };
      let isCovering = false;
      // What else is in the element goes with the text.
      const hide = (node) => {
        const element = elementOf(node);
        const { backgroundColor, backgroundImage } = getComputedStyle(element);
        isCovering ||= node === element || element.childElementCount > 0 || backgroundImage !== "none" || !/, 0\)$/.test(backgroundColor);
        put(element, { opacity: "0", clipPath: "inset(50%)" });
      };
      // Style sheets may follow the classes of a drawing, and change anything.
      const leading = drawings.some(([one]) => one.querySelector("[attributeName=class]")) ? [own("documentElement")] : [];
      const targets = new Set([...animations.map(({ effect }) => effect.target), ...drawings.map(([one]) => one), ...leading]);
      const isAnimated = insideOf(targets);
      const lookAt = (shares, see) => {
        const from = Math.random() * MOST_MS;
        return shares.map((ms) => {
          goOn(from + ms);
          return see();
        });
      };

      const someChanging = (nodes, most, see, changes) => {
        if (nodes.length <= most) return nodes;
        const glances = spread(GLANCES).map(() => lookAt([0, SOON_MS / 2, SOON_MS], () => nodes.map(see())));
        return nodes.filter((_, at) => glances.some((seen) => changes(seen.map((all) => all[at])))).slice(0, most);
      };

      const everything = textsIn(trees);
      const texts = someChanging(everything, MOST_TEXTS, () => placeOf, (places) => isMoved(places, 0));
      const all = [...texts, ...framesIn(trees).slice(0, MOST_TEXTS)];
      const inside = allAround(all, isAnimated).filter((one) => !targets.has(one));
      const glances = inside.length > MOST_INSIDE ? spread(GLANCES).map((share) => share * MOST_MS) : [];
      const styles = lookAt(glances, () => inside.map(styleOf));
      const changing = new Set([...targets, ...inside.filter((one, at) =>
        one instanceof SVGElement || !styles.length || styles.some((all) => all[at] !== styles[0][at]))]);
      const isChanged = (node) => changing.has(node);

      const farOf = (node) => Math.min(THROWN_PX, THROWN_SIZES * parseFloat(getComputedStyle(elementOf(node)).fontSize));
      let left = all.map((node) => [node, 0, farOf(node)]);
      for (let look = 1; left.length && look <= LOOKS; look++) {
        const ranges = left.map(([node]) => someOf(node));
        const seen = lookAt([0, SOON_MS * Math.random(), SOON_MS * Math.random(), SOON_MS], () => {
          const planeOf = turns(isAnimated, isChanged);
          return left.map(([node], at) => [ranges[at].map(boxOf), planeOf(elementOf(node))]);
        });
        left.forEach((one, at) => {
          const [places, planes] = [0, 1].map((which) => seen.map((all) => all[at][which]));
          one[1] += isTurned(planes) || ranges[at].some((_, which) => isMoved(places.map((boxes) => boxes[which]), one[2]));
        });
        if (look === FIRST_LOOKS) left = left.filter(([, count]) => count);
      }
      goOn(0);

      const lookOfAny = () => {
        const shareOf = shares(isAnimated, isChanged);
        return (text) => lookOf(text, shareOf);
      };
      const flashing = someChanging(everything.filter((text) => isAnimated(elementOf(text))), MOST_FLASHING, lookOfAny, flashes);
      goOn(0);
      const inOnePlace = withOthers(flashing.map((text) => [text, placeOf(text), 0]));
      for (let look = 1; inOnePlace.length && look <= LOOKS; look++) {
        const seen = lookAt(spread(MOMENTS).map((share) => share * FLASH_MS), () =>
          inOnePlace.map(([text]) => text).map(lookOfAny()));
        inOnePlace.forEach((one, at) => { one[2] += flashes(seen.map((all) => all[at])); });
      }
      goOn(0);
      for (const [node, count] of left) if (count > LEAST_OFTEN * LOOKS) hide(node);
      for (const [text] of withOthers(inOnePlace.filter(([, , count]) => count >= LEAST_FLASHES * LOOKS))) hide(text);
      return isCovering;
    },
  };
})());
