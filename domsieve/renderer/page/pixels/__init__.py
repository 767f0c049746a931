"""What readers can see of an open page, judged by pictures of it.

`look` is the way in. The classes behind it build on each other, each adding one skill: `OpenPage` (_page.py) talks to
the documents, `Camera` takes pictures, `Reader` scrolls, `Viewer` counts what changes in a picture of some texts, and
`Searcher` looks for all texts.

- The texts: their parts (_parts, _cases), boxes (_scene, _places, _boxes, _shapes, _turns) and tree (_tree, _rests).
- One picture: what differs without letters (_pictures, _images, _count), and whether the letters that it shows are
  those of the text (_letters, _likeness, _fonts) and can be read (_reading, _struck, _grounds, _heaps, _crowds).
- The page around them: what stays in the window (_window, _free), what its style sheets, filters and pictures could
  do (_sheets, _filters, _patterns, _css_text), and what it shows only with scripts, or once it changes (_scripts,
  changes).

The scripts (``*.js``) run in a world of their own in each document; page.js is the first, the others add to it.
"""
