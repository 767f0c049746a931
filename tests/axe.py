"""What axe-core finds on a page: failures of WCAG 2.2 at level AA, and of what is good practice.

axe-core is of npm, and no part of the project: ``npm install --prefix build/npm axe-core``.
"""

from pathlib import Path

AXE = Path(__file__).parents[1] / "build/npm/node_modules/axe-core/axe.min.js"
WITHOUT_AXE = "npm install --prefix build/npm axe-core"
# The size of targets is a rule of WCAG 2.2 that axe-core does not apply by itself.
FIND = """async () => (await axe.run({
    iframes: false,
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    rules: { 'target-size': { enabled: true } },
})).violations.map((one) => [one.id, one.nodes[0].html])"""
"""An expression for the page: the name of each broken rule and the first element that breaks it."""
